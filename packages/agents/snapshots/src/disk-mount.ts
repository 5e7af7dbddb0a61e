import { operations, wrapAdapter } from '@ws/core/adapter'
import type { StorageAdapter } from '@ws/core/adapter'

import { Reserve } from '@ws/sandbox'
import { Turnstile } from '@ws/tree'

export class DiskMount {
  readonly adapter: StorageAdapter
  readonly tree: number
  readonly turnstile = new Turnstile()
  #changes = 0
  readonly #inner: StorageAdapter
  readonly #root: string

  constructor(inner: StorageAdapter, tree: number, root: string) {
    this.tree = tree
    this.#inner = inner
    this.#root = root === '/' ? '' : root
    this.adapter = wrapAdapter(inner, {
      name: inner.name,
      capabilities: inner.capabilities,
      fork: (copy) => copy,
      call: async ({ operation }, run) => {
        if (operation === 'createFork') return this.turnstile.alone(run)
        if (!operations[operation].changes) return run()
        const count = (): void => {
          this.#changes += 1
        }
        return this.turnstile.pass(count, () => run().finally(count))
      },
    })
  }

  async change<Result>(work: () => Promise<Result>): Promise<Result> {
    const end = await this.#inner.beginCommand?.()
    try {
      return await this.turnstile.alone(work)
    } finally {
      await end?.()
    }
  }

  /** The number of changes. It grows at the beginning and at the end of each changing call. */
  get changes(): number {
    return this.#changes
  }

  reserved(): readonly string[] {
    if (Reserve.reservedNames.empty) return []
    return Reserve.reservedNames.within(this.#root || '/').map((path) => path.slice(this.#root.length))
  }
}
