import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'

import type { Owner } from '@ws/core/adapter'
import { execError } from '@ws/core/executor'
import { howToInstall, Processes } from '@ws/sandbox'

import { startError } from '../bwrap/failure.ts'
import type { HeldNetwork } from '../processes/held-network.ts'
import type { StartGuard } from '../processes/start-guard.ts'

export interface HoldOptions {
  readonly bwrap: string
  readonly owner: Owner
  readonly guard: StartGuard
}

const hold = readFileSync(new URL('hold.pl', import.meta.url), 'utf8')
/** Milliseconds for the holder to start, and to end. */
const patience = 10_000
const noPerl = 'commands share a loopback by perl, which is not installed'
const howToFix = `\`${howToInstall('perl-base')}\`, or set \`loopback: "command"\`, so that each command has its own`

/** The process that holds a network. It ends whenever this process ends, for any reason. Keeps no event loop alive. */
export class NetworkHolder {
  readonly place: HeldNetwork
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, place: HeldNetwork) {
    this.#child = child
    this.place = place
  }

  /** @throws WorkspaceError `ENOEXECUTOR` without perl; `ENOEXEC` on failure; the system's error without descriptors */
  static async start({ bwrap, owner, guard }: HoldOptions): Promise<NetworkHolder> {
    if (!existsSync(Processes.perl)) throw execError('ENOEXECUTOR', noPerl, { remedy: howToFix })
    const argv = ['--unshare-user', '--unshare-net', '--die-with-parent', '--cap-drop', 'ALL', '--dev-bind', '/', '/']
    const asOwner = process.getuid?.() === 0 ? owner : {}
    const child = Processes.spawnChild(bwrap, [...argv, '--', Processes.perl, '-e', hold], {
      ...{ stdio: ['pipe', 'pipe', 'pipe'], env: {}, cwd: '/', detached: true },
      ...asOwner,
    })
    const started = child.pid === undefined ? () => undefined : guard.starting(child.pid)
    try {
      const place = readPlace(await firstLine(child))
      return new NetworkHolder(child, place)
    } catch (error) {
      // the child of bubblewrap too, which waits for a word of it
      if (child.pid !== undefined) Processes.sendSignal(-child.pid, 'SIGKILL')
      throw error
    } finally {
      started()
      child.stdout?.destroy()
      child.stderr?.destroy()
      child.unref()
      const { stdin } = child
      if (stdin !== null && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref()
    }
  }

  get isLost(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** Commands that run in the network keep it. */
  async close(): Promise<void> {
    if (this.isLost) return
    const exited = once(this.#child, 'exit')
    this.#child.ref()
    this.#child.stdin?.end()
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), patience)
    await exited
    clearTimeout(timer)
  }
}

function firstLine(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let said = ''
  let complaint = ''
  const timer = setTimeout(() => reject(startError('the holder of the network did not answer')), patience)
  child.stdin?.on('error', () => undefined) // `close` reports the end of the holder
  child.stdout?.on('data', (chunk: Buffer) => {
    said += chunk.toString('latin1')
    if (said.includes('\n')) resolve(said)
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    if (complaint.length < 4096) complaint += chunk.toString('latin1')
  })
  child.on('error', reject)
  child.on('close', () => reject(startError(complaint)))
  return promise.finally(() => clearTimeout(timer))
}

function readPlace(line: string): HeldNetwork {
  const [, pid, startTime = '', name = ''] = /^(\d+) (\d+) (net:\[\d+\])\n$/.exec(line) ?? []
  if (pid === undefined) throw startError(line)
  return { pid: Number(pid), startTime, name }
}
