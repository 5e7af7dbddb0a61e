import { setTimeout as delay } from 'node:timers/promises'

import { isWorkspaceError, paths } from '@ws/core'

import { failure } from '../errors.ts'
import type { CheckedOptions } from '../options.ts'
import { type Features, featuresOf } from '../program/features.ts'
import { type FoundRclone, findRclone } from '../program/find.ts'
import { type MountDirectories, clearDirectories, directoriesFor } from '../state/directories.ts'
import { type Task, Pending, type TrackOptions, closedError, hungError } from './pending.ts'
import { uploadLeftovers } from './leftovers.ts'
import { type RunningMount, endMount, startMount, storeAnswers, stuckError } from './start.ts'
import { unmount } from './unmount.ts'

export type MountState = 'ready' | 'hung' | 'restoring' | 'lost' | 'closed'

/** A holder of descriptors below the mount. */
export interface MountUser {
  /** Called when the mount is gone. Releases everything, without waiting for the mount. */
  detach(): void
  /** Called when the mount is back. */
  attach(): Promise<void>
}

/** Milliseconds before each attempt to bring a mount back. */
const restoreAfterMs = [0, 500, 2_000, 5_000]
/** Milliseconds between two checks whether the mount is alive. */
const healthEveryMs = 5_000
const healthAnswerMs = 5_000

/** Starts one mount, watches it, restores it after a failure, and ends it. */
export class Mount {
  readonly options: CheckedOptions
  readonly place: MountDirectories
  readonly program: FoundRclone
  readonly features: Features
  readonly #users = new Set<MountUser>()
  readonly #pending: Pending
  #state: MountState = 'lost'
  #running: RunningMount | undefined
  #restoring: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #recovering: Promise<void> | undefined
  /** Aborts the attempt to restore the mount when the mount is closed, or when a caller starts another attempt. */
  #attempt: AbortController | undefined
  #timer: NodeJS.Timeout | undefined
  #hungSince: number | undefined

  private constructor(options: CheckedOptions, program: FoundRclone) {
    this.options = options
    this.program = program
    this.features = featuresOf(program.version)
    this.place = directoriesFor(options)
    this.#pending = new Pending({ limit: options.timeouts.operation, ask: (ms) => storeAnswers(this.#running, ms) })
  }

  static async open(options: CheckedOptions, signal: AbortSignal | undefined): Promise<Mount> {
    const mount = new Mount(options, await findRclone(options.program, signal))
    await mount.#start(signal)
    return mount
  }

  get state(): MountState {
    return this.#state
  }

  get pid(): number | undefined {
    return this.#running?.process.pid
  }

  addUser(user: MountUser): void {
    this.#users.add(user)
  }

  removeUser(user: MountUser): void {
    this.#users.delete(user)
  }

  /** The running mount, also after it was restored. @throws WorkspaceError `EIO`, `ETIMEDOUT`, `ECLOSED` */
  async running(call: Task): Promise<RunningMount> {
    if (this.#state === 'restoring' && this.#restoring !== undefined) {
      const patience = delay(this.options.timeouts.operation, undefined, { ref: false })
      await Promise.race([this.#restoring.catch(() => undefined), patience])
    }
    return this.runningNow(call)
  }

  runningNow(call: Task): RunningMount {
    if (this.#state === 'ready' && this.#running !== undefined) return this.#running
    if (this.#state === 'hung' || this.#state === 'restoring') throw hungError(call)
    if (this.#state === 'closed') throw closedError(call)
    throw failure('EIO', 'cannot be reached: the mount is gone', {
      ...call,
      remedy: 'call `recover()`; the cache keeps the written files and uploads them then',
    })
  }

  /** Runs work through the mount. The wait ends when the mount hangs, even inside a system call. */
  async track<Result>(call: Task, work: () => Promise<Result>, options?: TrackOptions): Promise<Result> {
    return await this.#pending.track(call, work, options)
  }

  /** Resolves when the mount hangs or is gone, or after an abort. */
  async untilHung(signal: AbortSignal): Promise<void> {
    while (this.#state === 'ready' && !signal.aborted) await delay(50)
  }

  /** Checks whether the mount is alive, and acts on the answer. Never rejects. */
  async checkHealth(): Promise<boolean> {
    const running = this.#running
    if (running === undefined || (this.#state !== 'ready' && this.#state !== 'hung')) return false
    const { operation } = this.options.timeouts
    try {
      await running.control.call('rc/noop', {}, { timeout: Math.min(healthAnswerMs, operation) })
    } catch {
      // any error means that the mount does not answer
      if (running === this.#running && !running.process.hasEnded) this.#noteHung(running)
      return false
    }
    this.#hungSince = undefined
    if (this.#state === 'hung') this.#state = 'ready'
    return true
  }

  #noteHung({ process }: RunningMount): void {
    if (this.#state === 'ready') {
      this.#state = 'hung'
      this.#hungSince = performance.now()
      this.options.onEvent({ kind: 'hung', detail: 'the mount does not answer' })
    }
    this.#pending.expire() // @defence a mount that hangs: operations fail in time
    const hungMs = performance.now() - (this.#hungSince ?? 0)
    // Killing rclone wakes every thread that waits in the kernel, and loses nothing: the cache is on the disk.
    const isDue = this.options.recovery === 'auto' && hungMs > this.options.timeouts.operation
    if (isDue || process.isStuck) process.kill()
  }

  /** Ends the present mount and mounts again, with the same cache. */
  async recover(): Promise<void> {
    if (this.#closing !== undefined) throw closedError({ operation: 'recover' })
    this.#recovering ??= this.#recover().finally(() => (this.#recovering = undefined))
    await this.#recovering
  }

  async #recover(): Promise<void> {
    // An attempt that began while the store hung would wait for an answer that never comes.
    this.#attempt?.abort(hungError({ operation: 'recover', path: paths.mountRoot }, 'store'))
    await this.#restoring?.catch(() => undefined)
    const process = this.#running?.process
    process?.kill()
    if (process !== undefined && !(await process.end())) throw stuckError('recover')
    await process?.ended
    await this.#restore(1)
  }

  async #start(signal: AbortSignal | undefined): Promise<void> {
    const { options, place, program, features } = this
    const onUploadFailure = (): void => {
      options.onEvent({ kind: 'upload-failed', detail: 'an upload failed, and will be tried again' })
    }
    const start = { options, place, program, features, onUploadFailure, signal }
    await uploadLeftovers(start)
    const running = await startMount(start)
    if (signal?.aborted === true) {
      await endMount(running, place, { lazy: true })
      signal.throwIfAborted()
    }
    this.#running = running
    this.#state = 'ready'
    this.#hungSince = undefined
    void running.process.ended.then(() => this.#onEnd(running))
    const every = Math.min(healthEveryMs, options.timeouts.operation)
    clearInterval(this.#timer)
    this.#timer = setInterval(() => void this.checkHealth(), every).unref()
  }

  #onEnd(running: RunningMount): void {
    if (this.#running !== running) return
    this.#running = undefined
    clearInterval(this.#timer)
    running.control.close()
    if (this.#closing !== undefined) return
    this.#state = 'lost'
    for (const user of this.#users) user.detach()
    this.options.onEvent({ kind: 'lost', detail: 'rclone has ended; its cache is kept' })
    if (this.options.recovery === 'auto') void this.#restore(restoreAfterMs.length).catch(() => undefined) // an event reports it
  }

  #restore(attempts: number): Promise<void> {
    if (this.#restoring === undefined) {
      this.#attempt = new AbortController()
      const restored = this.#restoreNow(attempts, this.#attempt.signal)
      this.#restoring = restored.finally(() => (this.#restoring = undefined))
    }
    return this.#restoring
  }

  async #restoreNow(attempts: number, signal: AbortSignal): Promise<void> {
    if (this.#closing !== undefined) throw closedError({ operation: 'recover' })
    this.#state = 'restoring'
    let problem: unknown
    for (const ms of restoreAfterMs.slice(0, attempts)) {
      if (ms > 0) await delay(ms, undefined, { signal }).catch(() => undefined) // the next line throws
      signal.throwIfAborted()
      try {
        await this.#start(signal)
        await Promise.all([...this.#users].map((user) => user.attach()))
        this.options.onEvent({ kind: 'recovered', detail: 'the mount is back, with its cache' })
        return
      } catch (error) {
        problem = error
      }
    }
    if (this.#running === undefined) this.#state = 'lost'
    const detail = isWorkspaceError(problem) ? `${problem.code}: ${problem.reason}` : 'unknown error'
    this.options.onEvent({ kind: 'recovery-failed', detail })
    throw problem
  }

  /** Unmounts and ends rclone, without a flush. `force`: does not wait for users. @throws `EIO` if a process or the mount remains */
  close({ force = false }: { readonly force?: boolean } = {}): Promise<void> {
    this.#closing ??= this.#close(force)
    return this.#closing
  }

  async #close(force: boolean): Promise<void> {
    const restoring = this.#restoring
    const lazy = force || this.#state === 'hung' || restoring !== undefined
    this.#attempt?.abort(closedError({ operation: 'recover' }))
    if (restoring !== undefined) {
      // a mount that was made a moment ago is still being checked
      this.#running?.process.kill()
      this.#pending.expire()
      await restoring.catch(() => undefined)
    }
    clearInterval(this.#timer)
    const running = this.#running
    this.#state = 'closed'
    if (lazy) running?.process.kill()
    const hasEnded = running === undefined || (await endMount(running, this.place, { lazy }))
    this.#pending.expire()
    const isUnmounted = await unmount(this.place.mountPoint, { lazy: true })
    if (!hasEnded || !isUnmounted) throw stuckError('close')
    await clearDirectories(this.place)
  }
}
