import { paths } from '@ws/core'
import { concurrency, type Entry, type MountPath, type StorageAdapter } from '@ws/core/adapter'

import { Journal } from './journal.ts'
import { atOnce, type Kept, load, steady } from './kept.ts'
import type { SavedLayers } from './saved-layers.ts'

/**
 * The journal of a mount with fewer features than a disk, such as rclone. Commands change files of such a mount without a call.
 * So the adapter lists the mount before each checkpoint, and all bytes are saved.
 */
export class LookedJournal extends Journal {
  readonly #layers: SavedLayers
  readonly #maxFileBytes: number
  #found = new Map<MountPath, string>()

  constructor(inner: StorageAdapter, layers: SavedLayers, maxFileBytes: number) {
    super(inner, layers, maxFileBytes)
    this.#layers = layers
    this.#maxFileBytes = maxFileBytes
  }

  /** Reads the bytes together with their version, because a mount's `stat` may be outdated for a second. */
  override async now(path: MountPath): Promise<Kept | undefined> {
    const kept = await load(this.inner, path, this.#maxFileBytes)
    if (kept?.bytes === undefined) return kept
    const { bytes, stat } = await this.inner.read(path, { maxBytes: this.#maxFileBytes })
    return { ...kept, size: stat.size, version: stat.version, bytes: () => Promise.resolve(bytes) }
  }

  /** Saves nothing, because the next scan also finds the changes that calls make. */
  override keepBefore(): Promise<void> {
    return Promise.resolve()
  }

  /** @param keep the id of a checkpoint that must not be deleted to make room */
  async look(keep?: string): Promise<void> {
    // upload first, since an upload changes a file's version
    await this.inner.flush?.()
    const before = this.#found
    const found = new Map<MountPath, string>()
    const entries = this.inner.list(paths.mountRoot, { recursive: true, details: true })
    await concurrency.forEachOf(entries, atOnce, async (entry) => {
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

/** Facts that show a change without reading the bytes. */
function factsOf({ type, size, version, modifiedAt }: Entry): string {
  return type === 'directory' ? type : JSON.stringify([type, size, version, modifiedAt])
}
