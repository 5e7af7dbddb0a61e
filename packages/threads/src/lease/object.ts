import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'

import { isWorkspaceError, type Version } from '@ws/core'
import { parseMountPath, type MountPath, type SignalOption, type StorageAdapter } from '@ws/core/adapter'

import { systemClock, type Clock } from './clock.ts'
import { heldError } from './errors.ts'
import { HeldObject, type LeaseTimes } from './held-object.ts'
import { holderName } from './holder.ts'
import { decodeRecord, encodeRecord, type LeaseRecord } from './record.ts'
import type { AcquireOptions, Lease, LeaseHolder, LeaseStore } from './types.ts'

export interface ObjectLeaseOptions {
  /** Its capability `conditionalWrite` must be `server`, for the leases to hold between machines. */
  readonly adapter: StorageAdapter
  /** The directory of all leases: that of `a/b` is `{directory}/a/b/lease`. */
  readonly directory: string
  /** Milliseconds after which a lease that did not change is free. Default 30,000. */
  readonly ttl?: number | undefined
  /** For people. Default: host name and process id. */
  readonly holder?: string | undefined
  /** For tests. */
  readonly clock?: Clock | undefined
}

/** A version of a lease, and the moment by the own monotonic clock at which it was seen. */
interface Sighting {
  readonly version: Version
  readonly at: number
}

interface Found {
  readonly record: LeaseRecord
  readonly version: Version
}

/**
 * Leases as objects of a store that checks conditions. An object is created by `ifVersion: 'absent'`, then only replaced
 * by its version, and never deleted: a delete is unconditional on some servers, and two challengers would both win.
 *
 * A challenger compares no clocks of machines. It takes over a lease whose version it saw unchanged for the whole TTL.
 */
export function createObjectLeases(options: ObjectLeaseOptions): LeaseStore {
  return new ObjectLeases(options)
}

class ObjectLeases implements LeaseStore {
  readonly scope = 'server'
  readonly #adapter: StorageAdapter
  readonly #directory: string
  readonly #times: LeaseTimes
  readonly #holder: string
  readonly #clock: Clock
  readonly #sightings = new Map<string, Sighting>()
  readonly #held = new Set<HeldObject>()

  constructor({ adapter, directory, ttl = 30_000, holder = holderName(), clock = systemClock }: ObjectLeaseOptions) {
    this.#adapter = adapter
    this.#directory = directory
    this.#times = { ttl, renewAfter: Math.floor(ttl / 3), stopAfter: Math.floor((ttl * 2) / 3) }
    this.#holder = holder
    this.#clock = clock
  }

  async acquire(name: string, { wait = 0, signal }: AcquireOptions = {}): Promise<Lease> {
    const path = this.#path(name)
    const deadline = this.#clock.now().monotonic + wait
    for (;;) {
      const found = await this.#read(path, signal)
      const free = found === undefined || found.record.state === 'free' || this.#isAbandoned(name, found)
      const taken = free ? await this.#take(name, path, found, signal) : undefined
      if (taken !== undefined) return taken
      if (free) continue // another challenger was faster: look who
      const left = deadline - this.#clock.now().monotonic
      if (left <= 0) throw heldError(name, found.record.holder)
      await delay(Math.min(left, this.#times.ttl / 20), undefined, { signal })
    }
  }

  async holder(name: string, { signal }: SignalOption = {}): Promise<LeaseHolder | undefined> {
    const found = await this.#read(this.#path(name), signal)
    return found?.record.state === 'held' ? found.record.holder : undefined
  }

  async close(): Promise<void> {
    await Promise.all([...this.#held].map((lease) => lease.release()))
  }

  #path(name: string): MountPath {
    return parseMountPath(`/${this.#directory}/${name}/lease`, 'lease')
  }

  async #read(path: MountPath, signal: AbortSignal | undefined): Promise<Found | undefined> {
    try {
      const { bytes, stat } = await this.#adapter.read(path, { signal, maxBytes: 64 * 1024 })
      return { record: decodeRecord(path, bytes), version: stat.version }
    } catch (error) {
      if (isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')) return undefined
      throw error
    }
  }

  /** Whether the lease was seen in this very state for the whole TTL. */
  #isAbandoned(name: string, { version }: Found): boolean {
    const now = this.#clock.now().monotonic
    const seen = this.#sightings.get(name)
    if (seen?.version === version) return now - seen.at >= this.#times.ttl
    this.#sightings.set(name, { version, at: now })
    return false
  }

  /** `undefined` when somebody else was faster. */
  async #take(
    name: string,
    path: MountPath,
    found: Found | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Lease | undefined> {
    const record: LeaseRecord = {
      version: 1,
      state: 'held',
      holder: { name: this.#holder, since: this.#clock.now().wall },
      counter: (found?.record.counter ?? 0) + 1,
      nonce: randomUUID(),
      notes: found?.record.notes ?? {},
    }
    const sent = this.#clock.now()
    const ifVersion = found?.version ?? 'absent'
    let version: Version
    try {
      const written = await this.#adapter.write(path, encodeRecord(record), { ifVersion, parents: true, signal })
      version = written.version
    } catch (error) {
      if (!isWorkspaceError(error, 'ECONFLICT') && !isWorkspaceError(error, 'EIO')) throw error
      // the answer may have been lost, and the write may have happened
      const now = await this.#read(path, signal)
      if (now?.record.nonce !== record.nonce) {
        if (isWorkspaceError(error, 'ECONFLICT')) return undefined
        throw error
      }
      version = now.version
    }
    this.#sightings.delete(name)
    const lease = new HeldObject({
      name,
      path,
      adapter: this.#adapter,
      times: this.#times,
      clock: this.#clock,
      record,
      version,
      sent,
      onEnd: () => this.#held.delete(lease),
    })
    this.#held.add(lease)
    return lease
  }
}
