import { operations, wrapAdapter } from '@ws/core/adapter'
import type { StorageAdapter } from '@ws/core/adapter'

import { reservedNames } from '@ws/sandbox'

import { Turnstile } from './turnstile.ts'

/** One mount on a disk, with the changes that callers have made since it was last looked at. */
export class DiskMount {
  readonly adapter: StorageAdapter
  readonly tree: number
  readonly turnstile = new Turnstile()
  #touched = new Set<string>()

  readonly #inner: StorageAdapter
  readonly #root: string

  /** @param root canonical */
  constructor(inner: StorageAdapter, tree: number, root: string) {
    this.tree = tree
    this.#inner = inner
    this.#root = root === '/' ? '' : root
    this.adapter = wrapAdapter(inner, {
      name: inner.name,
      capabilities: inner.capabilities,
      call: async ({ operation, path, destination }, run) => {
        if (!operations[operation].changes) return run()
        const touch = (): void => {
          this.#touched.add(path)
          if (destination !== undefined) this.#touched.add(destination)
        }
        // before and after: a scan in between may see either state
        return this.turnstile.pass(touch, () => run().finally(touch))
      },
    })
  }

  /**
   * Changes the tree itself, as a command does, while no call changes it. An adapter that keeps its files in a store has the changes
   * there when this resolves.
   */
  async change<Result>(work: () => Promise<Result>): Promise<Result> {
    const end = await this.#inner.beginCommand?.()
    try {
      return await this.turnstile.alone(work)
    } finally {
      await end?.()
    }
  }

  reserved(): readonly string[] {
    if (reservedNames.empty) return []
    return reservedNames.within(this.#root || '/').map((path) => path.slice(this.#root.length))
  }

  get isTouched(): boolean {
    return this.#touched.size > 0
  }

  /** Paths that calls have changed since this was last asked. */
  takeTouched(): readonly string[] {
    const touched = [...this.#touched]
    this.#touched = new Set()
    return touched
  }
}
