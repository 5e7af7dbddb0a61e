import { access, constants, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'

import { paths } from '@ws/core'
import { type MountPath, type Owner } from '@ws/core/adapter'
import { shortages } from '@ws/core/executor'
import { confineArgv, Landlock, type RunningProcess, startProcess } from '@ws/sandbox'

import { release } from '../confine/handle.ts'
import { openDirectory } from '../confine/open.ts'
import { type Task, targetOf } from '../confine/task.ts'
import { calls } from '../host/blocking.ts'
import { decodeName } from '../host/name.ts'
import { ownUser } from '../root/owner.ts'
import type { Held } from '../resources.ts'
import { requiredLiteral } from './required-literal.ts'
import type { Search, SearchParts } from './search.ts'

/** Files that may match. Each file is read and matched again in this process. */
export interface Candidates {
  readonly paths: AsyncIterable<MountPath>
  /** True after the end of `paths` if no file was left out. */
  readonly complete: () => boolean
}

const directoryFd = 3
/** ripgrep starts in this directory and searches `./`. With a `/proc` path as argument, ripgrep would take 50 % longer. */
const workingDirectory = `/proc/self/fd/${directoryFd}`
const start = './'

/** Asks ripgrep which files may contain a match. `undefined` if it cannot run confined by the kernel, or could misread the query. */
export async function findCandidates(
  task: Task,
  { owner, resources }: SearchParts,
  search: Search,
): Promise<Candidates | undefined> {
  const text = literalHint(search)
  if (!task.tree.verified || text === undefined) return undefined
  const program = await usableProgram(owner)
  if (program === undefined) return undefined
  const run = new Run()
  const directory = await openDirectory(task, targetOf(task, task.path))
  try {
    const confined = confineArgv({
      argv: [program, ...argumentsFor(search, text)],
      ...rightsOf(owner),
      dieWithParent: true,
      landlock: {
        rules: [
          { source: { fd: directory.fd }, access: ['read'] },
          { source: program, access: ['read', 'execute'] },
        ],
      },
      extraFds: new Map([[directoryFd, directory.fd]]),
    })
    const running = startProcess({
      ...confined,
      cwd: workingDirectory,
      output: 'stream',
      signal: task.signal,
      operation: 'search',
    })
    run.started(running)
    resources.hold(run)
  } catch (error) {
    // The matcher in this process needs no other process.
    if (shortages.of(error) !== undefined) return undefined
    throw error
  } finally {
    await release(task, directory)
  }
  return {
    paths: run.paths(task.path, () => resources.release(run)),
    complete: () => run.complete,
  }
}

/** ripgrep runs with the rights of the tree's owner. For a tree that root owns, it runs as root without capabilities. */
function rightsOf(owner: Owner | undefined): Pick<Parameters<typeof confineArgv>[0], 'owner' | 'dropCapabilities'> {
  if (ownUser().uid !== 0) return {}
  return owner === undefined ? { dropCapabilities: true } : { owner }
}

/** Text that each matching line contains, and that ripgrep reads as the matcher does. Letters beyond ASCII may be folded differently. */
function literalHint({ query }: Search): string | undefined {
  const { pattern, regex, caseSensitive } = query
  const text = regex === true ? requiredLiteral(pattern) : pattern
  if (text === undefined || text === '') return undefined
  // eslint-disable-next-line no-control-regex -- ASCII is what is meant
  if (!caseSensitive && !/^[\u0000-\u007f]*$/.test(text)) return undefined
  // U+FFFD stands for invalid bytes; no line contains a line break
  return /[\r\n\0\uFFFD\uFEFF]/.test(text) ? undefined : text
}

/** An excluding glob that ripgrep reads as this package does. It saves the walk through directories such as `node_modules`. */
const excludedAnywhere = /^!\*\*\/[\w.-]+\/\*\*$/

function argumentsFor({ query, maxFileBytes }: Search, text: string): string[] {
  const { glob = [], caseSensitive } = query
  return [
    '--no-config',
    '--no-messages',
    '--no-follow',
    '--hidden',
    '--no-ignore',
    '--text', // the matcher decides which files are binary
    '--encoding=auto', // files that begin with a mark of UTF-16 are searched too
    '--fixed-strings',
    caseSensitive === false ? '--ignore-case' : '--case-sensitive',
    `--max-filesize=${maxFileBytes}`,
    '--files-with-matches',
    '--null',
    '--color=never',
    ...glob.filter((one) => excludedAnywhere.test(one)).map((one) => `--glob=${one}`),
    `--regexp=${text}`,
    '--',
    start,
  ]
}

/** Milliseconds between checks whether ripgrep waits for a lease. */
const leaseLookMs = 250

/** Ends ripgrep if it waits for a lease (45 s each). The matcher then skips the file. Never rejects. */
async function killIfHeld(running: RunningProcess): Promise<void> {
  const locks = await readFile('/proc/locks', 'latin1').catch(() => '') // not on Linux
  if (new RegExp(`LEASE +BREAKER +\\w+ +${running.pid} `).test(locks)) running.kill('SIGKILL')
}

class Run implements Held {
  #running: RunningProcess | undefined
  #reason: Error | undefined
  #watch: NodeJS.Timeout | undefined
  complete = false

  started(running: RunningProcess): void {
    this.#running = running
    // After a process has ended, Node discards output without a listener, so the listener is set at the start.
    running.stdout?.on('readable', () => undefined)
    this.#watch = setInterval(() => void killIfHeld(running), leaseLookMs).unref() // @defence `(running)` a file under another process's lease: left out of a search
    // If ripgrep cannot start a thread, it reports that and waits forever. The files named until then are still used as hints.
    running.stderr?.on('data', (said: Buffer) => {
      const text = said.toString('latin1')
      if (text.includes('panicked') || shortages.inText(text) !== undefined) running.kill('SIGKILL')
    })
  }

  async abandon(reason: Error): Promise<void> {
    this.#reason = reason
    this.#running?.kill('SIGKILL')
    this.#running?.stdout?.destroy()
    await this.#running?.wait().catch(() => undefined) // the caller reports the reason of the abandonment
  }

  async *paths(directory: MountPath, onEnd: () => void): AsyncGenerator<MountPath, void, undefined> {
    const running = this.#running
    if (running?.stdout === undefined) return
    let ended = false
    try {
      for await (const name of splitAtNul(running.stdout)) {
        const path = pathOf(directory, name)
        if (path !== undefined) yield path
      }
      // 0: found, 1: nothing found; other codes: a file could not be read
      const { exitCode } = await running.wait()
      ended = true
      this.complete = exitCode === 0 || exitCode === 1
    } catch (error) {
      if (this.#reason !== undefined) throw this.#reason
      if (shortages.of(error) === undefined) throw error
      ended = true // ripgrep never started
    } finally {
      clearInterval(this.#watch)
      if (!ended) await this.abandon(new Error('left'))
      onEnd()
    }
  }
}

const longestName = 65_536

async function* splitAtNul(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0)) {
      yield bytes.subarray(0, end)
      bytes = bytes.subarray(end + 1)
    }
    if (bytes.length > longestName) return
    rest = bytes
  }
}

/** The path of a file that ripgrep named; `undefined` for a name that no path can express. */
function pathOf(directory: MountPath, name: Buffer): MountPath | undefined {
  const text = decodeName(name)
  if (text === undefined || !text.startsWith(start)) return undefined
  return text.slice(start.length).split('/').reduce(paths.child, directory)
}

const usable = new Map<string, Promise<string | undefined>>()

/** ripgrep's host path, if the owner can run it confined; probed once. */
async function usableProgram(owner: Owner | undefined): Promise<string | undefined> {
  const key = owner === undefined ? 'root' : `${owner.uid}:${owner.gid}`
  let answer = usable.get(key)
  if (answer === undefined) {
    answer = probe(owner)
    usable.set(key, answer)
    // After a shortage, the next call probes again.
    answer.catch(() => usable.delete(key))
  }
  try {
    return await answer
  } catch {
    return undefined
  }
}

async function probe(owner: Owner | undefined): Promise<string | undefined> {
  try {
    const { rgPath } = await import('@vscode/ripgrep') // throws where there is none for this platform
    await access(rgPath, constants.X_OK)
    if (ownUser().uid === 0 && !(await isOpenToAll(rgPath))) return undefined
    if (!(await Landlock.probeLandlock()).available) return undefined
    // a container may not let root give its capabilities up
    if (owner === undefined) await startProcess(confineArgv({ argv: [rgPath, '--version'], ...rightsOf(owner) })).wait()
    return rgPath
  } catch (error) {
    if (shortages.of(error) !== undefined) throw error
    return undefined
  }
}

/** True if another user can reach and run the program. */
async function isOpenToAll(program: string): Promise<boolean> {
  for (let at = program; ; at = dirname(at)) {
    if ((Number((await calls.lstat(at)).mode) & 1) === 0) return false
    if (at === '/') return true
  }
}
