import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { requireDescriptors } from './room.ts'
import { invalid } from '../errors.ts'

export interface FoundProgram {
  /** The absolute host path, with links resolved. */
  readonly path: string
  /** The first line that `--version` printed. `undefined` if the program failed or printed no text. */
  readonly version?: string
}

export interface FindProgramOptions {
  /** Absolute directories. Default: directories of the system, never this process's PATH or a workspace. */
  readonly path?: readonly string[] | undefined
  /** Arguments that make the program print its version. `null`: do not run the program. Default `['--version']`. */
  readonly versionArguments?: readonly string[] | null | undefined
  /** Milliseconds for printing the version. Default 2,000. */
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Number of descriptors that a start with three streams needs. */
const descriptorsOfStart = 12

export const systemDirectories: readonly string[] = ['/usr/bin', '/bin', '/usr/local/bin', '/usr/sbin', '/sbin']

/**
 * Finds a program in fixed system directories; `undefined` if missing. Refuses this program itself, which would start endlessly [LS8].
 * @throws WorkspaceError `EINVAL` for a slash, NUL, a relative directory or this program; `signal.reason`; a lack of descriptors
 */
export async function findProgram(name: string, options: FindProgramOptions = {}): Promise<FoundProgram | undefined> {
  const { path = systemDirectories, versionArguments = ['--version'], signal } = options
  if (name === '' || /[/\0]/.test(name)) throw invalid('probe', 'a program is looked up by a bare name')
  if (path.some((directory) => !directory.startsWith('/') || directory.includes('\0')))
    throw invalid('probe', 'programs are looked up in absolute directories only')
  for (const directory of path) {
    signal?.throwIfAborted()
    const found = await executableAt(`${directory}/${name}`)
    if (found === undefined) continue
    if (await isOwnExecutable(found)) {
      throw invalid('probe', `the program found as ${name} is this very program`, `install ${name}`)
    }
    const version = versionArguments === null ? undefined : await askVersion(found, versionArguments, options)
    return version === undefined ? { path: found } : { path: found, version }
  }
  return undefined
}

async function executableAt(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile() ? await realpath(path) : undefined
  } catch {
    return undefined
  }
}

/** Returns whether a path leads to this program itself. Also compares device and inode, because of hard links and bind mounts. */
async function isOwnExecutable(path: string): Promise<boolean> {
  const script = process.argv[1]
  for (const own of ['/proc/self/exe', process.execPath, ...(script === undefined ? [] : [script])]) {
    try {
      if ((await realpath(own)) === path) return true
      const [left, right] = await Promise.all([stat(own, { bigint: true }), stat(path, { bigint: true })])
      if (left.dev === right.dev && left.ino === right.ino) return true
    } catch {
      // this program's file was deleted, so no path leads to it
    }
  }
  return false
}

async function askVersion(path: string, parameters: readonly string[], options: FindProgramOptions) {
  const { timeout = 2_000, signal } = options
  requireDescriptors(descriptorsOfStart)
  // Loaded on demand: loading execa takes longer than loading this package.
  const { execa } = await import('execa')
  const { all } = await execa(path, parameters, {
    timeout,
    ...(signal === undefined ? {} : { cancelSignal: signal }),
    forceKillAfterDelay: 200,
    reject: false,
    all: true,
    stdin: 'ignore',
    cwd: '/',
    env: { LC_ALL: 'C' },
    extendEnv: false,
    maxBuffer: 65_536,
  })
  signal?.throwIfAborted()
  return all?.split('\n').find((line) => line.trim() !== '')
}
