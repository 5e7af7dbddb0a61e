import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

import { Processes } from '@ws/sandbox'

import { diagnosed, failure } from '../errors.ts'
import { MountLog, type MountLogListener } from './log.ts'
import { guardScript, supervisorExit, supervisorScript } from './supervisor.ts'
import { mountAt } from '../state/mount-table.ts'
import { force } from './unmount.ts'
import { systemPath } from '../program/find.ts'

const operation = 'createRcloneAdapter'
/** Milliseconds for the keeper (the supervisor script) to end all processes. */
const keeperMs = 5_000
/** Milliseconds for processes to end after they were killed. */
const killedMs = 2_000
/** Milliseconds between two readings of the mount table, which does not report its changes. */
const lookEveryMs = 5

/** Variables for a store with a proxy or a private authority. No other variable is passed on. */
const handedOn = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
]

export interface MountProcessOptions {
  readonly program: string
  readonly args: readonly string[]
  readonly lock: string
  readonly mountPoint: string
  readonly home: string
  readonly listener: MountLogListener
}

const endAtExit = new Set<MountProcess>()

function endAll(): void {
  for (const one of endAtExit) one.leave()
}

function threadsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/task`).length
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ESRCH' ? 0 : Number.POSITIVE_INFINITY
  }
}

export class MountProcess {
  readonly log: MountLog
  /** Resolves when rclone has ended in any way. */
  readonly ended: Promise<void>
  readonly #child: ChildProcess
  readonly #mountPoint: string
  #pid: number | undefined
  #exitCode: number | undefined
  #forcing: Promise<void> | undefined

  constructor({ program, args, lock, mountPoint, home, listener }: MountProcessOptions) {
    const stale = mountAt(mountPoint) === undefined ? 'keep' : 'clear'
    const env: Record<string, string> = { PATH: systemPath, HOME: home, LC_ALL: 'C.UTF-8' }
    for (const name of handedOn) {
      const value = process.env[name]
      if (value !== undefined) env[name] = value
    }
    const supervisor = [supervisorScript, 'ws-rclone', lock, mountPoint, stale, program, ...args]
    const child = spawn('/bin/sh', ['-c', guardScript, 'sh', ...supervisor], {
      cwd: '/',
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: true, // a terminal's interrupt is for us, who flush first
    })
    this.#child = child
    this.#mountPoint = mountPoint
    this.log = new MountLog(child.stderr as Readable, listener)
    createInterface({ input: child.stdout as Readable }).once('line', (line) => (this.#pid = Number(line)))
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    const finish = (code: number | null): void => {
      this.#exitCode ??= code ?? -1
      endAtExit.delete(this)
      if (endAtExit.size === 0) process.off('exit', endAll)
      // The promise resolves only after a forced unmount, which could otherwise break the next mount here.
      void (this.#forcing ?? Promise.resolve()).then(resolve)
    }
    child.once('exit', finish)
    child.once('error', () => finish(-1))
    for (const stream of child.stdio) {
      stream?.on('error', () => undefined) // ignored, because the exit of the process reports every failure that matters
      // an adapter that was never closed must not keep the process alive; its mount ends with the process
      if (stream && 'unref' in stream && typeof stream.unref === 'function') stream.unref()
    }
    child.unref()
    endAtExit.add(this)
    if (endAtExit.size === 1) process.once('exit', endAll)
  }

  get hasEnded(): boolean {
    return this.#exitCode !== undefined
  }

  /** rclone's process id. */
  get pid(): number | undefined {
    return this.#pid
  }

  /** Waits until the mount is in the mount table. @throws WorkspaceError with the reason why the mount failed */
  async untilMounted(signal: AbortSignal): Promise<void> {
    while (!this.#isMounted()) {
      if (this.hasEnded) throw await this.failure()
      await this.#wait(lookEveryMs, signal)
    }
  }

  async untilAddressed(signal: AbortSignal): Promise<string> {
    let address: string | undefined
    void this.log.address.then((found) => (address = found))
    while (address === undefined) {
      if (this.hasEnded) throw await this.failure()
      await this.#wait(lookEveryMs, signal)
    }
    return address
  }

  /** Why rclone ended. */
  async failure(): Promise<Error> {
    await delay(20) // its last words may still be in the pipe
    const code = this.#exitCode
    if (code === supervisorExit.locked) {
      return failure('EBUSY', 'another process has mounted the same part of the store with this cache', {
        operation,
        remedy: 'use that mount, or name another `directory`',
      })
    }
    if (code === supervisorExit.noFlock) {
      const remedy = 'install util-linux'
      return failure('ENOTSUP', 'flock is missing, which keeps two mounts off one cache', { operation, remedy })
    }
    return diagnosed(`exit ${code}\n${this.log.text}`, operation)
  }

  /** True if rclone was killed and cannot end, because one of its threads waits in the kernel. */
  get isStuck(): boolean {
    return !this.hasEnded && this.#pid !== undefined && Processes.readProcessStat(this.#pid)?.zombie === true
  }

  /** Sends SIGKILL to rclone. Operations that wait for the mount fail; the cache remains. */
  kill(): void {
    if (this.hasEnded || this.#pid === undefined) return
    try {
      process.kill(this.#pid, 'SIGKILL')
    } catch {
      return // it has just ended
    }
    this.#forcing ??= force(this.#mountPoint).finally(() => (this.#forcing = undefined))
  }

  /** Makes the keeper end the mount. Call this when the process exits: its threads that wait for the mount would block the exit. */
  leave(): void {
    this.#child.kill('SIGTERM')
  }

  /**
   * Ends the mount: the keeper detaches it and kills remaining processes. A keeper that takes too long is killed, with rclone.
   * True if all processes have ended. Otherwise a thread of rclone waits in the kernel, and nothing can end it.
   */
  async end(): Promise<boolean> {
    this.#child.stdio[3]?.destroy()
    if (await this.untilEnded(keeperMs)) {
      await this.#forcing // the helper that breaks the mount may outlive rclone, and is to leave with it
      return true
    }
    this.kill()
    this.#killGroup()
    await this.untilEnded(killedMs)
    await this.#forcing
    const deadline = performance.now() + killedMs
    while (this.#isLeft && performance.now() < deadline) await delay(lookEveryMs)
    return this.hasEnded && !this.#isLeft
  }

  /** Kills the keeper, its helpers and rclone. */
  #killGroup(): void {
    if (this.hasEnded || this.#child.pid === undefined) return
    try {
      process.kill(-this.#child.pid, 'SIGKILL')
    } catch {
      // the group has just ended
    }
  }

  /** True if a process of rclone remains, though its keeper was killed. */
  get #isLeft(): boolean {
    if (this.#pid === undefined) return false
    const now = Processes.readProcessStat(this.#pid)
    if (now === undefined || now.group !== this.#child.pid) return false
    // A zombie with one thread has ended, and only waits for its parent to collect the exit status.
    return !now.zombie || threadsOf(this.#pid) > 1
  }

  /** Waits at most the given milliseconds until rclone ends. */
  async untilEnded(ms: number): Promise<boolean> {
    const deadline = performance.now() + ms
    while (!this.hasEnded && performance.now() < deadline) await delay(lookEveryMs)
    return this.hasEnded
  }

  #isMounted(): boolean {
    return mountAt(this.#mountPoint)?.fileSystem === 'fuse.rclone' && this.#pid !== undefined && !this.hasEnded
  }

  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    await delay(ms)
    signal.throwIfAborted()
  }
}
