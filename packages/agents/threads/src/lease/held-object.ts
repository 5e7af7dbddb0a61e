import { randomUUID } from 'node:crypto'

import { isWorkspaceError, type Version } from '@ws/core'
import { type MountPath, type SignalOption, signals } from '@ws/core/adapter'

import { elapsed, type Clock, type Moment } from './clock.ts'
import { lostError, unansweredError } from './errors.ts'
import { ownHolds } from './holder.ts'
import type { LeaseRecord } from './record.ts'
import type { Register } from './register.ts'
import { renewals } from './renewals.ts'
import type { Lease, LeaseHolder } from './types.ts'

/** Milliseconds, all counted from the sending of the last successful renewal. */
export interface LeaseTimes {
  readonly ttl: number
  readonly renewAfter: number
  /** After this time, the holder queries the store before each step. A challenger may take the lease only much later. */
  readonly stopAfter: number
  /** Limit of the first attempt to renew. Each further attempt gets more time; two attempts fit before `stopAfter`. */
  readonly attempt: number
}

export function timesOf(ttl: number): LeaseTimes {
  const part = (count: number): number => Math.floor((ttl * count) / 6)
  return { ttl, renewAfter: part(2), stopAfter: part(5), attempt: part(1) }
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
  readonly isPatient: boolean
  readonly onEnd: () => void
}

interface Trying extends SignalOption {
  readonly tries?: number
}

/** A lease as a record in a store, renewed until the lease is released or the store shows another holder. */
export class HeldObject implements Lease {
  readonly lost: AbortSignal
  readonly #lost = new AbortController()
  readonly #options: HeldObjectOptions
  #record: LeaseRecord
  #version: Version
  #sent: Moment
  #released = false
  #renewing: Promise<void> | undefined
  #failed: { readonly count: number; readonly at: Moment; readonly error: unknown } | undefined
  #work: Promise<unknown> = Promise.resolve()

  constructor(options: HeldObjectOptions) {
    this.#options = options
    this.#record = options.record
    this.#version = options.version
    this.#sent = options.sent
    this.lost = this.#lost.signal
    renewals.add(this)
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
    return !this.#released && this.#age < this.#options.times.stopAfter
  }

  async confirm({ signal }: SignalOption = {}): Promise<void> {
    if (this.isHeld()) return
    if (!this.#released) await (signal === undefined ? this.renew() : signals.orAbort(this.renew(), signal))
    if (this.isHeld()) return
    throw this.#released ? lostError(this.name) : unansweredError(this.name, this.#failed?.error)
  }

  async writeNotes(notes: Readonly<Record<string, string>>, { signal }: SignalOption = {}): Promise<void> {
    if (this.#released) throw lostError(this.name)
    const changes = { notes: { ...notes } }
    const again = (error: unknown): Promise<void> => {
      if (signal?.aborted === true || !isWorkspaceError(error, 'EBACKEND')) throw error
      return this.#write(changes, { signal, tries: 2 })
    }
    await this.#write(changes, { signal }).catch(again)
  }

  async release(): Promise<void> {
    if (this.#released) return
    this.#end()
    // ignored, because an unreleased lease becomes free when this process ends, or after its TTL
    await this.#write({ state: 'free' }).catch(() => undefined)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }

  get dueIn(): number {
    if (this.#renewing !== undefined) return Number.POSITIVE_INFINITY
    const { clock, times } = this.#options
    const pause = this.#failed === undefined ? 0 : times.ttl / 100 - elapsed(clock, this.#failed.at)
    return Math.max(times.renewAfter - this.#age, pause)
  }

  renew(): Promise<void> {
    this.#renewing ??= this.#renew().finally(() => (this.#renewing = undefined))
    return this.#renewing
  }

  async #renew(): Promise<void> {
    const { clock, times, isPatient } = this.#options
    const isLast = !isPatient && this.#age >= times.ttl
    const tries = (this.#failed?.count ?? 0) + 1
    try {
      await this.#write({}, { tries })
      this.#failed = undefined
    } catch (error) {
      this.#failed = { count: tries, at: clock.now(), error }
      if (isLast) this.#lose()
    }
  }

  get #age(): number {
    return elapsed(this.#options.clock, this.#sent)
  }

  #write(changes: Partial<LeaseRecord>, trying: Trying = {}): Promise<void> {
    const done = this.#work.then(() => this.#replace(changes, trying))
    this.#work = done.catch(() => undefined) // the caller of `done` receives the error
    return done
  }

  async #replace(changes: Partial<LeaseRecord>, { signal, tries = 1 }: Trying): Promise<void> {
    const { register, path, clock, name, times } = this.#options
    for (let again = false; ; again = true) {
      const record = { ...this.#record, ...changes, counter: this.#record.counter + 1, nonce: randomUUID() }
      const sent = clock.now()
      const limit = AbortSignal.timeout(Math.min(times.attempt * tries, times.ttl))
      const either = signal === undefined ? limit : AbortSignal.any([limit, signal])
      signals.urgent.add(either)
      const options = { ifVersion: this.#version, signal: either }
      try {
        this.#take(record, await register.replace(path, record, options), sent)
        return
      } catch (error) {
        if (isFull(error) && register.touch !== undefined && Object.keys(changes).length === 0) {
          this.#take(this.#record, await register.touch(path, options), sent)
          return
        }
        // no time remains to check this write; the next attempt sees whether the write succeeded
        if (limit.aborted) throw unansweredError(name, error)
        const now = await register.read(path, options)
        if (now?.record.nonce === record.nonce) return this.#take(record, now.version, sent) // the write succeeded, but its answer was lost
        if (now?.record.hold !== this.#options.record.hold) {
          this.#lose()
          throw lostError(name)
        }
        // an earlier, delayed write of this holder has arrived, so the lease is still held here
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
    if (this.#released) return
    this.#end()
    this.#lost.abort(lostError(this.#options.name))
  }

  #end(): void {
    this.#released = true
    renewals.delete(this)
    ownHolds.delete(this.#options.record.hold)
    this.#options.onEnd()
  }
}

function isFull(error: unknown): boolean {
  return isWorkspaceError(error, 'ENOSPC') || isWorkspaceError(error, 'EDQUOT')
}
