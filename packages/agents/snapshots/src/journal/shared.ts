import { randomUUID } from 'node:crypto'

import type { StorageAdapter } from '@ws/core/adapter'
import type { Thread } from '@ws/tree'

import type { Methods } from '../worker/protocol.ts'
import { SavedLayers } from './saved-layers.ts'

interface Shared {
  readonly layers: Promise<SavedLayers>
  users: number
}

export class SharedLayers {
  readonly #open = new Map<string, Shared>()

  /** Layers of a store with an identity persist for the next process. */
  async open(thread: Thread<Methods>, { identity }: StorageAdapter): Promise<SavedLayers> {
    const key = `store ${identity ?? randomUUID()}`
    const shared = this.#open.get(key) ?? { layers: SavedLayers.open(thread, key, identity !== undefined), users: 0 }
    this.#open.set(key, shared)
    shared.users += 1
    try {
      return await shared.layers
    } catch (error) {
      this.#open.delete(key)
      throw error
    }
  }

  /** @returns the numbers of journals that no workspace uses any more */
  async close(closed: readonly SavedLayers[]): Promise<number[]> {
    const unused: number[] = []
    for (const [key, shared] of this.#open) {
      const layers = await shared.layers
      if (!closed.includes(layers)) continue
      shared.users -= 1
      if (shared.users > 0) continue
      this.#open.delete(key)
      unused.push(layers.tree)
    }
    return unused
  }
}
