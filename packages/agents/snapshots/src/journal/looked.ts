import { forEachOf, mountRoot } from '@ws/core/adapter'
import type { Entry, MountPath, StorageAdapter } from '@ws/core/adapter'

import { Journal } from './journal.ts'
import { atOnce, type Kept, look, steady } from './kept.ts'
import type { SavedLayers } from './saved-layers.ts'

/**
 * The earlier states of a mount on this machine that keeps less than a disk does, as one of rclone. Commands change it too, and no
 * call tells of that: so it is looked at before each checkpoint, by the operations of its adapter, and all bytes are kept.
 */
export class LookedJournal extends Journal {
  readonly #layers: SavedLayers
  readonly #maxFileBytes: number
  /** The facts that the last look has found, by path. */
  #found = new Map<MountPath, string>()

  constructor(inner: StorageAdapter, layers: SavedLayers, maxFileBytes: number) {
    super(inner, layers, maxFileBytes)
    this.#layers = layers
    this.#maxFileBytes = maxFileBytes
  }

  /** With the bytes, and the version that was read: the one that a mount tells of before can be out of date for a second. */
  override async now(path: MountPath): Promise<Kept | undefined> {
    const kept = await look(this.inner, path, this.#maxFileBytes)
    if (kept?.bytes === undefined) return kept
    const { bytes, stat } = await this.inner.read(path, { maxBytes: this.#maxFileBytes })
    return { ...kept, size: stat.size, version: stat.version, bytes: () => Promise.resolve(bytes) }
  }

  /** The next look finds what calls change. */
  override keepBefore(): Promise<void> {
    return Promise.resolve()
  }

  /** @param keep the id of a checkpoint that must not make room */
  async look(keep?: string): Promise<void> {
    // an upload gives a file another version
    await this.inner.flush?.()
    const before = this.#found
    const found = new Map<MountPath, string>()
    await forEachOf(this.inner.list(mountRoot, { recursive: true, details: true }), atOnce, async (entry) => {
      if (entry.unreachable === true) return
      const facts = factsOf(entry)
      found.set(entry.path, facts)
      if (before.get(entry.path) !== facts) await this.#note(entry.path, keep)
    })
    for (const path of before.keys()) if (!found.has(path)) await this.#note(path, keep)
    this.#found = found
  }

  async #note(path: MountPath, keep: string | undefined): Promise<void> {
    await steady(async () => this.#layers.note(path, await this.now(path), keep))
  }
}

/** Facts that tell of a change without a look at the bytes. */
function factsOf({ type, size, version, modifiedAt }: Entry): string {
  return type === 'directory' ? type : JSON.stringify([type, size, version, modifiedAt])
}
