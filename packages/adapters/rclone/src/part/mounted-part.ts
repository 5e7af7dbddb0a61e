import { paths } from '@ws/core'
import { type MountPath, contractError } from '@ws/core/adapter'
import type { HostPath } from '@ws/core/executor'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import type { DirtyFiles } from '../cache/dirty.ts'
import { failure } from '../errors.ts'
import type { Mount, MountUser } from '../mount/mount.ts'
import type { Task, TrackOptions } from '../mount/pending.ts'
import { type Open, openFiles } from './opened.ts'

/** A part of a mount that one adapter uses. Its files are closed and reopened together with the mount. */
export class MountedPart implements MountUser {
  readonly mount: Mount
  /** `""`, or `threads/t1/`. */
  readonly below: string
  readonly #root: string
  #open: Open | undefined
  #isClosed = false
  #dirty: DirtyFiles

  constructor(mount: Mount, below: string, first: Open) {
    this.mount = mount
    this.below = below
    this.#open = first
    this.#dirty = first.dirty
    this.#root = first.files.hostPath(paths.mountRoot)
    mount.addUser(this)
  }

  /** The open parts, without waiting; `undefined` while the mount is missing, and after `leave`. */
  get now(): Open | undefined {
    return this.#open
  }

  detach(): void {
    const open = this.#open
    this.#open = undefined
    // The death of rclone wakes operations that still wait in the kernel.
    open?.files.close().catch(() => undefined)
  }

  async attach(): Promise<void> {
    this.#open ??= await openFiles(this.mount, this.below)
    this.#dirty = this.#open.dirty
  }

  /** True if the cache has content that is not in the store, or if the check takes longer than `ms` milliseconds. */
  async isDirty(ms: number): Promise<boolean> {
    const stop = new AbortController()
    const unknown = delay(ms, true, { signal: stop.signal }).catch(() => true)
    try {
      return await Promise.race([this.#dirty.first().then((path) => path !== undefined), unknown])
    } catch {
      return true // a cache that cannot be read may hold such content
    } finally {
      stop.abort()
    }
  }

  /** Makes every later operation fail with `ECLOSED`. */
  refuse(): void {
    this.#isClosed = true
  }

  /** Releases everything once, and waits at most `ms` milliseconds. True if everything was released. */
  async leave(ms: number): Promise<boolean> {
    const open = this.#open
    this.mount.removeUser(this)
    this.#open = undefined
    const released = open?.files.close().catch(() => undefined)
    if (released === undefined || this.mount.state !== 'ready') return released === undefined
    const stop = new AbortController()
    try {
      return await Promise.race([
        released.then(() => true),
        this.mount.untilHung(stop.signal).then(() => false),
        delay(ms, false, { signal: stop.signal }),
      ])
    } finally {
      stop.abort()
    }
  }

  /** @throws WorkspaceError `ECLOSED` */
  assertOpen({ operation, path }: Task): void {
    if (!this.#isClosed) return
    throw contractError('ECLOSED', operation, path)
  }

  hostPath(path: MountPath): HostPath {
    return (path === '/' ? this.#root : join(this.#root, path)) as HostPath
  }

  /** The open parts, also after a restored mount. @throws WorkspaceError `EIO`, `ETIMEDOUT`, `ECLOSED` */
  async opened(call: Task): Promise<Open> {
    this.assertOpen(call)
    if (this.#open !== undefined && this.mount.state === 'ready') return this.#open
    await this.mount.track(call, () => this.mount.running(call), { hasOwnLimit: true })
    if (this.#open === undefined)
      throw failure('EIO', 'cannot be reached: the mount is gone', { ...call, remedy: 'call `recover()`' })
    return this.#open
  }

  /** Runs work that may hang. Rejects with `ETIMEDOUT` if the mount hangs. */
  track<Result>(call: Task, work: () => Promise<Result>, options?: TrackOptions): Promise<Result> {
    return this.mount.track(call, work, options)
  }

  /** Runs an operation on a path. */
  async run<Result>(call: Task, work: (open: Open) => Promise<Result>): Promise<Result> {
    const open = await this.opened(call)
    return await this.track(call, () => work(open))
  }
}
