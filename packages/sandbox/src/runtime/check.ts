import { WorkspaceError } from '@ws/core'
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { invalid } from '../errors.ts'

export interface CheckRuntimeOptions {
  /** Its name, in messages and on PATH: `srt`, `firecracker`. */
  readonly name: string
  /** The variable that may hold its path: `SRT_PATH`. Looked up in `environment`; blank counts as absent. */
  readonly variable?: string | undefined
  /** Its path, when it is configured in another way. It wins. */
  readonly path?: string | undefined
  /** Default: `process.env`. Its PATH is searched when nothing is configured. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
  /** Files that must not be taken for it. Default: this process's executable and its main script. */
  readonly own?: readonly string[] | undefined
}

export interface CheckedRuntime {
  /** Canonical host path. */
  readonly path: string
  readonly source: 'path' | 'variable' | 'PATH'
}

const operation = 'probe'

/**
 * Finds a sandbox runtime, and makes sure that it is not this very program under another name, which would start itself
 * without end [LS8]: by canonical path, then by device and inode (hard links, bind mounts).
 *
 * @returns `undefined` when it is neither configured nor on PATH
 * @throws WorkspaceError `EINVAL` when it is our own executable, or configured by a relative path; `ENOEXEC` when it is
 * configured and missing, or no program
 */
export function checkRuntime(options: CheckRuntimeOptions): CheckedRuntime | undefined {
  const { name, variable, environment = process.env, own = ownExecutables() } = options
  if (name === '' || /[/\0]/.test(name)) throw invalid(operation, 'a runtime is named by a bare name')
  const configured = configuredPath(options)
  if (configured === undefined) {
    const found = searchPath(name, environment['PATH'] ?? '')
    if (found !== undefined) refuseOwn(found, own, name, `take it off PATH, or set ${variable ?? 'its path'}`)
    return found === undefined ? undefined : { path: found, source: 'PATH' }
  }
  const { path, source } = configured
  const what = source === 'variable' ? `\`${variable}\`` : 'the path'
  if (!path.startsWith('/') || path.includes('\0')) {
    throw invalid(operation, `${what} of ${name} is not an absolute path`, 'give an absolute path')
  }
  const found = executable(path)
  if (found === undefined) {
    const reason = `${what} of ${name} is missing, or is not an executable program`
    throw new WorkspaceError({ code: 'ENOEXEC', operation, reason, remedy: `install ${name}, or correct ${what}` })
  }
  refuseOwn(found, own, name, `let ${what} lead to ${name} itself`)
  return { path: found, source }
}

function configuredPath({ path, variable, environment = process.env }: CheckRuntimeOptions) {
  if (path !== undefined && path.trim() !== '') return { path, source: 'path' as const }
  const value = variable === undefined ? '' : (environment[variable] ?? '')
  return value.trim() === '' ? undefined : { path: value, source: 'variable' as const }
}

/** Relative entries are left out: their meaning depends on the working directory. */
function searchPath(name: string, path: string): string | undefined {
  for (const directory of path.split(':')) {
    const found = directory.startsWith('/') ? executable(`${directory}/${name}`) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

function refuseOwn(path: string, own: readonly string[], name: string, remedy: string): void {
  const same = own.some((other) => {
    try {
      if (realpathSync(other) === path) return true
      const [left, right] = [statSync(other, { bigint: true }), statSync(path, { bigint: true })]
      return left.dev === right.dev && left.ino === right.ino
    } catch {
      return false // not there any more: nothing can be it
    }
  })
  if (same)
    throw invalid(operation, `the program configured as ${name} is this very program, which would start itself`, remedy)
}

function ownExecutables(): string[] {
  const script = process.argv[1]
  return ['/proc/self/exe', process.execPath, ...(script === undefined ? [] : [script])]
}

/** The canonical path of a program, or `undefined`. */
function executable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile() ? realpathSync(path) : undefined
  } catch {
    return undefined
  }
}
