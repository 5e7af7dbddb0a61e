import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

import { paths, type Version } from '@ws/core'
import type { MountPath, SignalOption, StorageAdapter } from '@ws/core/adapter'

import { systemClock, type Clock } from './clock.ts'
import { heldError } from './errors.ts'
import { HeldObject, timesOf, type LeaseTimes } from './held-object.ts'
import { hasEnded, holderName, ownHolds, ownProcess } from './holder.ts'
import type { LeaseRecord } from './record.ts'
import { fileRegister, objectRegister, type VersionedRecord, type Register } from './register.ts'
import type { AcquireOptions, Lease, LeaseHolder, LeaseScope, LeaseStore } from './types.ts'

export interface ObjectLeaseOptions {
  /** With `conditionalWrite: 'server'`, leases apply to all machines. On a disk, they apply to all processes of this machine. */
  readonly adapter: StorageAdapter
  /** The directory of all leases. The lease `a/b` is in `{directory}/a/b/lease`. */
  readonly directory: string
  /** Milliseconds after which an unchanged lease is free. Default 30,000. */
  readonly ttl?: number | undefined
  /** The holder's name, for people. Default: host name and process id. */
  readonly holder?: string | undefined
  readonly clock?: Clock | undefined
}

interface Taking extends SignalOption {
  readonly found: VersionedRecord | undefined
  readonly isPatient: boolean
}

interface Sighting {
  readonly version: Version
  readonly at: number
}

/**
 * Leases as objects of a store that checks conditions. `ifVersion: 'absent'` creates an object; each later write replaces a known version.
 * An object is never deleted: some servers delete without conditions, and then two challengers would both win.
 * A challenger takes over a lease after a whole TTL without a new version, or when the holder, a process here, has ended.
 */
export function createObjectLeases(options: ObjectLeaseOptions): LeaseStore {
  return new ObjectLeases(options)
}

class ObjectLeases implements LeaseStore {
  readonly scope: LeaseScope
  readonly #register: Register
  readonly #directory: string
  readonly #times: LeaseTimes
  readonly #holder: string
  readonly #clock: Clock
  readonly #sightings = new Map<string, Sighting>()
  readonly #held = new Set<HeldObject>()

  constructor({ adapter, directory, ttl = 30_000, holder = holderName(), clock = systemClock }: ObjectLeaseOptions) {
    const { conditionalWrite, hostPath, inProcess } = adapter.capabilities
    const isDisk = hostPath && conditionalWrite === 'process'
    this.scope = isDisk ? 'machine' : conditionalWrite !== 'server' || inProcess === true ? 'process' : 'server'
    this.#register = isDisk ? fileRegister(adapter) : objectRegister(adapter)
    this.#directory = directory
    this.#times = timesOf(ttl)
    this.#holder = holder
    this.#clock = clock
  }

  async acquire(name: string, { wait = 0, patient = false, signal }: AcquireOptions = {}): Promise<Lease> {
    const path = this.#path(name)
    const deadline = this.#clock.now().monotonic + wait
    for (;;) {
      const found = await this.#register.read(path, { signal })
      const free = found === undefined || found.record.state === 'free' || this.#isAbandoned(name, found)
      const taken = free ? await this.#take(name, path, { found, isPatient: patient, signal }) : undefined
      if (taken !== undefined) return taken
      if (free) continue // another challenger was faster: read the name of the new holder
      const left = deadline - this.#clock.now().monotonic
      if (left <= 0) throw heldError(name, found.record.holder)
      await delay(Math.min(left, this.#times.ttl / 20), undefined, { signal })
    }
  }

  async holder(name: string, { signal }: SignalOption = {}): Promise<LeaseHolder | undefined> {
    const found = await this.#register.read(this.#path(name), { signal })
    if (found?.record.state !== 'held' || hasEnded(found.record.process, found.record.hold)) return undefined
    return found.record.holder
  }

  async close(): Promise<void> {
    await Promise.all([...this.#held].map((lease) => lease.release()))
  }

  #path(name: string): MountPath {
    return paths.parseMount(`/${this.#directory}/${name}/lease`, 'lease')
  }

  #isAbandoned(name: string, { record, version }: VersionedRecord): boolean {
    if (hasEnded(record.process, record.hold)) return true
    const now = this.#clock.now().monotonic
    const seen = this.#sightings.get(name)
    if (seen?.version === version) return now - seen.at >= this.#times.ttl
    this.#sightings.set(name, { version, at: now })
    return false
  }

  async #take(name: string, path: MountPath, { found, isPatient, signal }: Taking): Promise<Lease | undefined> {
    const record = {
      version: 1,
      state: 'held',
      holder: { name: this.#holder, since: this.#clock.time() },
      hold: randomUUID(),
      process: ownProcess,
      counter: (found?.record.counter ?? 0) + 1,
      nonce: randomUUID(),
      notes: found?.record.notes ?? {},
    } satisfies LeaseRecord
    const sent = this.#clock.now()
    let version: Version
    ownHolds.add(record.hold)
    try {
      version = await this.#register.replace(path, record, { ifVersion: found?.version, signal })
    } catch (error) {
      const now = await this.#afterFailure(error as Error, path, record, signal)
      if (now === undefined) return undefined
      version = now.version
    }
    this.#sightings.delete(name)
    const lease = new HeldObject({
      name,
      path,
      register: this.#register,
      times: this.#times,
      clock: this.#clock,
      record,
      version,
      sent,
      isPatient,
      onEnd: () => this.#held.delete(lease),
    })
    this.#held.add(lease)
    return lease
  }

  /** Checks whether a write happened although its answer was lost. `undefined` when another process was faster. */
  async #afterFailure(
    error: Error,
    path: MountPath,
    { nonce, hold }: LeaseRecord & { readonly hold: string },
    signal: AbortSignal | undefined,
  ): Promise<VersionedRecord | undefined> {
    try {
      const { code } = error as Error & { readonly code?: string }
      if (code !== 'ECONFLICT' && code !== 'EIO') throw error
      const now = await this.#register.read(path, { signal })
      if (now?.record.nonce === nonce) return now
      if (code === 'EIO') throw error
    } catch (failure) {
      ownHolds.delete(hold)
      throw failure
    }
    ownHolds.delete(hold)
    return undefined
  }
}
