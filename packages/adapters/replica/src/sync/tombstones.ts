import { isWorkspaceError } from '@ws/core'
import { type MountPath, type SignalOption, signals } from '@ws/core/adapter'
import type { InnerAdapter } from '@ws/core/inner'

import { failure } from '../errors.ts'
import { isChanged, isGone } from './remote.ts'

const mark = '\0@ws/adapter-replica is deleting this file: '
/** Milliseconds from the claim within which the deletion must end. */
const claimTime = 20_000
/** Milliseconds after which the machine of a claim must have vanished: a request that was sent has arrived, or never will. */
const abandonedAfter = 60_000
/** The same limit where two clocks are compared: servers accept a clock error of 15 minutes for each machine. */
const abandonedByClock = 3_600_000

interface Claim {
  readonly version: string
  /** When it was made, on the clock of its machine. */
  readonly time: number
  /** When this process saw it first, on its own clock. */
  readonly since: number
}

/**
 * Deletions in a store that ignores conditions on them. The file is first replaced by a tombstone, on the condition that it is
 * the known version. Other replicas take a tombstone for nothing, and leave it alone, so that the deletion meets no file of theirs.
 */
export class Tombstones {
  readonly #id: string
  readonly #foreign = new Map<string, Claim>()
  /** Until when the last request of another machine can arrive at a path, on this process's clock. */
  readonly #late = new Map<string, number>()
  readonly #unfinished = new Set<string>()

  /** @param id of this replica */
  constructor(id: string) {
    this.#id = id
  }

  /** The replica that wrote a tombstone; `undefined` for every other content. */
  ownerOf(bytes: Uint8Array): 'us' | 'another' | undefined {
    if (bytes.length > 200 || bytes[0] !== 0) return undefined
    const text = Buffer.from(bytes).toString()
    if (!text.startsWith(mark)) return undefined
    return claimIn(text).id === this.#id ? 'us' : 'another'
  }

  /** Leaves a tombstone of another machine alone, until that machine must have vanished: then its deletion is finished. */
  async meetForeign(
    store: InnerAdapter,
    path: MountPath,
    { version, bytes }: { readonly version: string; readonly bytes: Uint8Array },
    options: SignalOption,
  ): Promise<void> {
    const known = this.#foreign.get(path)
    const { time } = claimIn(Buffer.from(bytes).toString())
    const claim = known?.version === version ? known : { version, time, since: performance.now() }
    this.#foreign.set(path, claim)
    if (!isAbandoned(claim, store)) return
    await this.delete(store, path, version, options)
    this.forget(path)
  }

  /** Whether a new file at the path waits for the end of another machine's deletion. */
  waitsFor(path: string): boolean {
    return this.#foreign.has(path)
  }

  /** The condition under which a file may be made where the store has nothing but, perhaps, a tombstone. */
  async conditionAt(store: InnerAdapter, path: MountPath, options: SignalOption): Promise<string> {
    const claim = this.#foreign.get(path)
    if (claim === undefined) return 'absent'
    if (await isGone(store, path, options)) {
      this.forget(path)
      return 'absent'
    }
    if (isAbandoned(claim, store)) return claim.version
    throw failure('EBUSY', {
      operation: 'flush',
      path,
      reason: 'is being deleted in the store by another machine',
      remedy: 'flush again in a moment',
    })
  }

  forget(path: string): void {
    if (this.#foreign.delete(path)) this.#late.set(path, performance.now() + abandonedAfter)
  }

  /** A file that is missing at the path can be the late deletion of a machine that has vanished. */
  mayBeLate(path: string): boolean {
    return (this.#late.get(path) ?? 0) > performance.now()
  }

  /** Whether a deletion of this machine has begun at the path, and has failed. */
  isUnfinished(path: string): boolean {
    return this.#unfinished.has(path)
  }

  /** @throws WorkspaceError `ECONFLICT` where it is another version by now */
  async delete(store: InnerAdapter, path: MountPath, version: string, { signal }: SignalOption): Promise<void> {
    const bytes = new TextEncoder().encode(`${mark}${this.#id} ${Date.now()}\n`)
    const late = AbortSignal.timeout(claimTime)
    const within = signals.either(late, signal)
    this.#unfinished.add(path)
    try {
      const { version: tombstone } = await store.write(path, bytes, {
        ifVersion: version,
        listed: true,
        signal: within,
      })
      await store.delete(path, { ifVersion: tombstone, signal: within })
      this.#unfinished.delete(path)
    } catch (error) {
      if (isChanged(error)) this.#unfinished.delete(path)
      if (isWorkspaceError(error, 'ENOENT')) return
      if (!late.aborted || signal?.aborted === true) throw error
      const reason = 'could not be deleted in the store in time'
      throw failure('EBUSY', { operation: 'flush', path, reason, remedy: 'flush again' })
    }
  }
}

/** The replica that wrote a tombstone, and when by its clock (ms since the epoch). */
function claimIn(text: string): { readonly id: string | undefined; readonly time: number } {
  const [id, time] = text.slice(mark.length).trimEnd().split(' ')
  return { id, time: Number(time ?? Infinity) }
}

/** Whether a machine has ended, or may send nothing more. */
function isAbandoned({ since, time }: Claim, { isSole = false }: InnerAdapter): boolean {
  const age = Date.now() - time
  return performance.now() - since > abandonedAfter || age > (isSole ? claimTime : abandonedByClock)
}
