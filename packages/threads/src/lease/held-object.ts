import { randomUUID } from 'node:crypto'

import { isWorkspaceError, type Version } from '@ws/core'
import type { MountPath, SignalOption, StorageAdapter } from '@ws/core/adapter'

import { elapsed, type Clock, type Moment } from './clock.ts'
import { lostError } from './errors.ts'
import { decodeRecord, encodeRecord, type LeaseRecord } from './record.ts'
import type { Lease, LeaseHolder } from './types.ts'

/** Milliseconds, all counted from the sending of the last successful renewal. */
export interface LeaseTimes {
  /** A challenger waits so long. */
  readonly ttl: number
  readonly renewAfter: number
  /** The holder stops here, well before a challenger may begin. */
  readonly stopAfter: number
}

export interface HeldObjectOptions {
  readonly name: string
  readonly path: MountPath
  readonly adapter: StorageAdapter
  readonly times: LeaseTimes
  readonly clock: Clock
  readonly record: LeaseRecord
  readonly version: Version
  readonly sent: Moment
  readonly onEnd: () => void
}

/** A lease that is an object of a store, and that is renewed until it is released or lost. */
export class HeldObject implements Lease {
  readonly lost: AbortSignal
  readonly #lost = new AbortController()
  readonly #options: HeldObjectOptions
  #record: LeaseRecord
  #version: Version
  #sent: Moment
  #released = false
  #timer: NodeJS.Timeout | undefined
  /** Changes of the object, one after the other. */
  #work: Promise<unknown> = Promise.resolve()

  constructor(options: HeldObjectOptions) {
    this.#options = options
    this.#record = options.record
    this.#version = options.version
    this.#sent = options.sent
    this.lost = this.#lost.signal
    this.#schedule()
  }

  get name(): string {
    return this.#options.name
  }

  get holder(): LeaseHolder {
    return this.#record.holder
  }

  get notes(): Readonly<Record<string, string>> {
    return this.#record.notes
  }

  isHeld(): boolean {
    if (this.#released || this.lost.aborted) return false
    const { clock, times } = this.#options
    if (elapsed(clock, this.#sent) < times.stopAfter) return true
    this.#lose()
    return false
  }

  async writeNotes(notes: Readonly<Record<string, string>>, { signal }: SignalOption = {}): Promise<void> {
    await this.#change({ notes: { ...notes } }, signal)
  }

  async release(): Promise<void> {
    if (this.#released) return
    const held = this.isHeld()
    this.#end()
    // a lease that cannot be given back now is free after its TTL
    if (held) await this.#write({ state: 'free' }).catch(() => undefined)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }

  #schedule(): void {
    const { clock, times } = this.#options
    const next = Math.max(times.renewAfter - elapsed(clock, this.#sent), times.renewAfter / 10)
    this.#timer = setTimeout(() => void this.#renew(), next)
    this.#timer.unref()
  }

  async #renew(): Promise<void> {
    try {
      await this.#change({})
    } catch {
      // tried again until it is too late; `isHeld` then finds that it is lost
    }
    if (this.isHeld()) this.#schedule()
  }

  #change(changes: Partial<LeaseRecord>, signal?: AbortSignal): Promise<void> {
    if (!this.isHeld()) return Promise.reject(lostError(this.#options.name))
    return this.#write(changes, signal)
  }

  #write(changes: Partial<LeaseRecord>, signal?: AbortSignal): Promise<void> {
    const done = this.#work.then(() => this.#replace(changes, signal))
    this.#work = done.catch(() => undefined)
    return done
  }

  async #replace(changes: Partial<LeaseRecord>, signal: AbortSignal | undefined): Promise<void> {
    const { adapter, path, clock, name, times } = this.#options
    const record = { ...this.#record, ...changes, counter: this.#record.counter + 1, nonce: randomUUID() }
    const sent = clock.now()
    // an answer that comes later than this is of no use any more
    const limit = AbortSignal.timeout(times.stopAfter)
    const either = signal === undefined ? limit : AbortSignal.any([limit, signal])
    try {
      const written = await adapter.write(path, encodeRecord(record), { ifVersion: this.#version, signal: either })
      this.#take(record, written.version, sent)
    } catch (error) {
      const now = await adapter.read(path, { signal: either, maxBytes: 64 * 1024 })
      // the write has happened, and its answer was lost
      const { nonce } = decodeRecord(path, now.bytes)
      if (nonce === record.nonce) return this.#take(record, now.stat.version, sent)
      if (isWorkspaceError(error, 'ECONFLICT') || nonce !== this.#record.nonce) {
        this.#lose()
        throw lostError(name)
      }
      throw error
    }
  }

  #take(record: LeaseRecord, version: Version, sent: Moment): void {
    this.#record = record
    this.#version = version
    this.#sent = sent
  }

  #lose(): void {
    if (this.lost.aborted) return
    this.#end()
    this.#lost.abort(lostError(this.#options.name))
  }

  #end(): void {
    this.#released = true
    clearTimeout(this.#timer)
    this.#options.onEnd()
  }
}
