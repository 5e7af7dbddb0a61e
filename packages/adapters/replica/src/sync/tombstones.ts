import { isWorkspaceError } from '@ws/core'
import { type MountPath, type SignalOption, signals } from '@ws/core/adapter'
import type { InnerAdapter } from '@ws/core/inner'

import { failure } from '../errors.ts'
import { isChanged, isGone } from './remote.ts'

const mark = '\0@ws/adapter-replica is deleting this file: '
/** Milliseconds from the claim within which the deletion must end. */
const claimTime = 20_000
/** Milliseconds after which a claim is surely abandoned, because the last request of its machine has arrived or never will. */
const abandonedAfter = 60_000
/** The limit for comparing clocks of two machines. Servers accept a clock error of 15 minutes for each machine. */
const abandonedByClock = 3_600_000

interface Claim {
  readonly version: string
  /** The time of the claim, by its machine's clock. */
  readonly time: number
  /** When this process first saw the claim, by its own clock. */
  readonly since: number
}

/**
 * Deletions in a store that ignores conditions on deletions. A conditional write first replaces the file with a tombstone.
 * Other replicas treat a tombstone as a missing file and never overwrite it, so the deletion cannot remove a file of theirs.
 */
export class Tombstones {
  readonly #id: string
  readonly #foreign = new Map<string, Claim>()
  /** By path: the latest time, on this process's clock, when another machine's last request can arrive. */
  readonly #late = new Map<string, number>()
  readonly #unfinished = new Set<string>()

  /** @param id the identity of this replica */
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

  /** Ignores another machine's tombstone until that machine has surely vanished. Then this method finishes the deletion. */
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

  /** Whether a new file at the path must wait until another machine's deletion has ended. */
  waitsFor(path: string): boolean {
    return this.#foreign.has(path)
  }

  /** The write condition for a new file at a path where the store has no entry, or only a tombstone. */
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

  /** True if a missing file may be the late deletion of a vanished machine. */
  mayBeLate(path: string): boolean {
    return (this.#late.get(path) ?? 0) > performance.now()
  }

  /** Whether this machine began a deletion at the path, and failed. */
  isUnfinished(path: string): boolean {
    return this.#unfinished.has(path)
  }

  /** @throws WorkspaceError `ECONFLICT` if the file has another version */
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

/** The replica that wrote a tombstone, and the time by its clock (ms since the epoch). */
function claimIn(text: string): { readonly id: string | undefined; readonly time: number } {
  const [id, time] = text.slice(mark.length).trimEnd().split(' ')
  return { id, time: Number(time ?? Infinity) }
}

/** Whether the claim's machine has ended, or can send no further request. */
function isAbandoned({ since, time }: Claim, { isSole = false }: InnerAdapter): boolean {
  const age = Date.now() - time
  return performance.now() - since > abandonedAfter || age > (isSole ? claimTime : abandonedByClock)
}
