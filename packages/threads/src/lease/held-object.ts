import { randomUUID } from 'node:crypto'

import { isWorkspaceError, type Version } from '@ws/core'
import type { MountPath, SignalOption } from '@ws/core/adapter'

import { elapsed, type Clock, type Moment } from './clock.ts'
import { lostError } from './errors.ts'
import { ownHolds } from './holder.ts'
import type { LeaseRecord } from './record.ts'
import type { Register } from './register.ts'
import type { Lease, LeaseHolder } from './types.ts'

/** Milliseconds, all counted from the sending of the last successful renewal. */
export interface LeaseTimes {
  /** A challenger waits so long. */
  readonly ttl: number
  readonly renewAfter: number
  /** The holder stops here, well before a challenger may begin. */
  readonly stopAfter: number
  /** The limit of one attempt to renew it: two fit between `renewAfter` and `stopAfter`. */
  readonly attempt: number
}

export function timesOf(ttl: number): LeaseTimes {
  const part = (count: number): number => Math.floor((ttl * count) / 6)
  return { ttl, renewAfter: part(2), stopAfter: part(4), attempt: part(1) }
}

export interface HeldObjectOptions {
  readonly name: string
  readonly path: MountPath
  readonly register: Register
  readonly times: LeaseTimes
  readonly clock: Clock
  readonly record: LeaseRecord & { readonly hold: string }
  readonly version: Version
  readonly sent: Moment
  readonly onEnd: () => void
}

/** A lease that is a record in a store, and that is renewed until it is released or lost. */
export class HeldObject implements Lease {
  readonly lost: AbortSignal
  readonly #lost = new AbortController()
  readonly #options: HeldObjectOptions
  #record: LeaseRecord
  #version: Version
  #sent: Moment
  #released = false
  #timer: NodeJS.Timeout | undefined
  #deadline: NodeJS.Timeout | undefined
  /** Changes of the record, one after the other. */
  #work: Promise<unknown> = Promise.resolve()

  constructor(options: HeldObjectOptions) {
    this.#options = options
    this.#record = options.record
    this.#version = options.version
    this.#sent = options.sent
    this.lost = this.#lost.signal
    this.#schedule()
    this.#watch()
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
    if (this.#left > 0) return true
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
    // a lease that cannot be given back now is free when this process ends, or after its TTL
    if (held) await this.#write({ state: 'free' }).catch(() => undefined)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }

  /** Milliseconds until it is lost. */
  get #left(): number {
    const { clock, times } = this.#options
    return times.stopAfter - elapsed(clock, this.#sent)
  }

  #schedule(): void {
    const { clock, times } = this.#options
    const next = Math.max(times.renewAfter - elapsed(clock, this.#sent), times.ttl / 100)
    this.#timer = setTimeout(() => void this.#renew(), next)
    this.#timer.unref()
  }

  /** Aborts the signal on the loss, for callers that wait for an answer. */
  #watch(): void {
    if (!this.isHeld()) return
    this.#deadline = setTimeout(() => this.#watch(), Math.max(this.#left, 1))
    this.#deadline.unref()
  }

  /** Never rejects: a lease that cannot be renewed is lost in time. */
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
    const { register, path, clock, name, times } = this.#options
    for (let again = false; ; again = true) {
      const record = { ...this.#record, ...changes, counter: this.#record.counter + 1, nonce: randomUUID() }
      const sent = clock.now()
      // an answer that comes later than the loss is of no use any more
      const limit = AbortSignal.timeout(Math.max(1, Math.ceil(Math.min(times.attempt, this.#left))))
      const options = {
        ifVersion: this.#version,
        signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
      }
      try {
        this.#take(record, await register.replace(path, record, options), sent)
        return
      } catch (error) {
        if (isFull(error) && register.touch !== undefined && Object.keys(changes).length === 0) {
          this.#take(this.#record, await register.touch(path, options), sent)
          return
        }
        if (limit.aborted) throw error // there is no time to look, and the next attempt meets its effect
        const now = await register.read(path, options)
        if (now?.record.nonce === record.nonce) return this.#take(record, now.version, sent) // its answer was lost
        if (now?.record.hold !== this.#options.record.hold) {
          this.#lose()
          throw lostError(name)
        }
        // an earlier attempt has had its effect late: it is still this holder's
        this.#version = now.version
        if (again || !isWorkspaceError(error, 'ECONFLICT')) throw error
      }
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
    clearTimeout(this.#deadline)
    ownHolds.delete(this.#options.record.hold)
    this.#options.onEnd()
  }
}

function isFull(error: unknown): boolean {
  return isWorkspaceError(error, 'ENOSPC') || isWorkspaceError(error, 'EDQUOT')
}
