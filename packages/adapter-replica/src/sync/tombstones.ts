import { isWorkspaceError } from '@ws/core'
import type { MountPath, SignalOption, StorageAdapter } from '@ws/core/adapter'

import { failure } from '../errors.ts'
import { isGone } from './remote.ts'

const mark = '\0@ws/adapter-replica is deleting this file: '
/** Milliseconds from the claim within which the deletion must begin. */
const claimTime = 60_000
/** Milliseconds after which the machine of a claim must have vanished. */
const abandonedAfter = 600_000

interface Claim {
  readonly version: string
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

  /** @param id of this replica */
  constructor(id: string) {
    this.#id = id
  }

  /** The replica that wrote a tombstone; `undefined` for every other content. */
  ownerOf(bytes: Uint8Array): 'us' | 'another' | undefined {
    if (bytes.length > 200 || bytes[0] !== 0) return undefined
    const text = Buffer.from(bytes).toString()
    if (!text.startsWith(mark)) return undefined
    return text.slice(mark.length).trimEnd() === this.#id ? 'us' : 'another'
  }

  /** Leaves a tombstone of another machine alone, until that machine must have vanished: then its deletion is finished. */
  async meetForeign(store: StorageAdapter, path: MountPath, version: string, options: SignalOption): Promise<void> {
    const known = this.#foreign.get(path)
    if (known?.version !== version) this.#foreign.set(path, { version, since: performance.now() })
    else if (isAbandoned(known)) {
      await this.delete(store, path, version, options)
      this.forget(path)
    }
  }

  /** The condition under which a file may be made where the store has nothing but, perhaps, a tombstone. */
  async conditionAt(store: StorageAdapter, path: MountPath, options: SignalOption): Promise<string> {
    const claim = this.#foreign.get(path)
    if (claim === undefined) return 'absent'
    if (await isGone(store, path, options)) {
      this.forget(path)
      return 'absent'
    }
    if (isAbandoned(claim)) return claim.version
    throw failure('EBUSY', {
      operation: 'flush',
      path,
      reason: 'is being deleted in the store by another machine',
      remedy: 'flush again in a moment',
    })
  }

  forget(path: string): void {
    this.#foreign.delete(path)
  }

  /** @throws WorkspaceError `ECONFLICT` where it is another version by now */
  async delete(store: StorageAdapter, path: MountPath, version: string, { signal }: SignalOption): Promise<void> {
    const bytes = new TextEncoder().encode(`${mark}${this.#id}\n`)
    const claimed = performance.now()
    const { version: tombstone } = await store.write(path, bytes, { ifVersion: version, listed: true, signal })
    if (performance.now() - claimed > claimTime) {
      throw failure('EBUSY', {
        operation: 'flush',
        path,
        reason: 'could not be deleted in the store in time',
        remedy: 'flush again',
      })
    }
    try {
      await store.delete(path, { ifVersion: tombstone, signal })
    } catch (error) {
      if (!isWorkspaceError(error, 'ENOENT')) throw error
    }
  }
}

function isAbandoned({ since }: Claim): boolean {
  return performance.now() - since > abandonedAfter
}
