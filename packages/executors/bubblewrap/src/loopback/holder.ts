import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { Readable } from 'node:stream'

import type { Owner } from '@ws/core/adapter'
import { execError } from '@ws/core/executor'
import { howToInstall, Processes } from '@ws/sandbox'

import { startError } from '../bwrap/failure.ts'
import type { HeldNetwork } from '../processes/held-network.ts'
import type { StartGuard } from '../processes/start-guard.ts'
import { afterSilence } from '../warm/supervisor-parts.ts'

export interface HoldOptions {
  readonly bwrap: string
  readonly owner: Owner
  readonly guard: StartGuard
  readonly signal?: AbortSignal | undefined
}

const script = '# Holds a network namespace until its input ends.\necho; read -r word'
/** The holder sees a shell alone: a file system elsewhere that does not answer delays no command. */
const tree = ['/usr', '/bin', '/lib', '/lib64'].flatMap((path) => ['--ro-bind-try', path, path])
/** The number of the pipe on which bubblewrap names its child. */
const infoFd = 3
/** Milliseconds for the holder to start. */
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

  /** @throws WorkspaceError `ENOEXECUTOR` without perl; `ENOEXEC` on failure; the system's error without descriptors; `signal.reason` */
  static async start({ bwrap, owner, guard, signal }: HoldOptions): Promise<NetworkHolder> {
    if (!existsSync(Processes.perl)) throw execError('ENOEXECUTOR', noPerl, { remedy: howToFix })
    const argv = ['--unshare-user', '--unshare-net', '--die-with-parent', '--cap-drop', 'ALL']
    argv.push('--info-fd', String(infoFd), ...tree, '--', '/bin/sh', '-c', script)
    const asOwner = process.getuid?.() === 0 ? owner : {}
    const child = Processes.spawnChild(bwrap, argv, {
      ...{ stdio: ['pipe', 'pipe', 'pipe', 'pipe'], env: {}, cwd: '/', detached: true },
      ...asOwner,
    })
    const started = child.pid === undefined ? () => undefined : guard.starting(child.pid)
    try {
      return new NetworkHolder(child, await placeOf(child, signal))
    } catch (error) {
      kill(child)
      throw error
    } finally {
      started()
      for (const stream of child.stdio.slice(1)) stream?.destroy()
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
    kill(this.#child)
    await exited
  }
}

/** Kills bubblewrap, and its child: until the start has finished, the child waits for a word of bubblewrap. */
function kill({ pid }: ChildProcess): void {
  if (pid !== undefined) Processes.sendSignal(-pid, 'SIGKILL')
}

/** Waits until the holder runs. Its loopback is up by then. */
function placeOf(child: ChildProcess, signal: AbortSignal | undefined): Promise<HeldNetwork> {
  const { promise, resolve, reject } = Promise.withResolvers<HeldNetwork>()
  let info = ''
  let complaint = ''
  const silence = afterSilence(patience, () => reject(startError('the holder of the network did not answer')))
  const onAbort = (): void => reject(signal?.reason)
  signal?.addEventListener('abort', onAbort, { once: true })
  child.stdin?.on('error', () => undefined) // `close` reports the end of the holder
  const infoPipe = child.stdio[infoFd] as Readable
  infoPipe.on('data', (chunk: Buffer) => (info += chunk.toString('latin1')))
  const known = once(infoPipe, 'end')
  child.stdout?.once('data', () => void known.then(() => resolve(readPlace(info))).catch(reject))
  child.stderr?.on('data', (chunk: Buffer) => {
    if (complaint.length < 4096) complaint += chunk.toString('latin1')
  })
  child.on('error', reject)
  child.on('close', () => reject(startError(complaint)))
  return promise.finally(() => {
    clearInterval(silence)
    signal?.removeEventListener('abort', onAbort)
  })
}

function readPlace(info: string): HeldNetwork {
  const pid = Number(/"child-pid": *(\d+)/.exec(info)?.[1] ?? 0)
  const [, inode] = /"net-namespace": *(\d+)/.exec(info) ?? []
  const startTime = Processes.readProcessStat(pid)?.startTime
  if (inode === undefined || startTime === undefined) throw startError(info)
  return { pid, startTime, name: `net:[${inode}]` }
}
