import { readOnly } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'

import type { ThreadsOptions } from '../types.ts'

interface Copy {
  readonly adapter: Promise<StorageAdapter>
  users: number
}

export interface UsedCopy {
  readonly adapter: StorageAdapter
  readonly leave: () => Promise<void>
}

export class SharedCopies {
  readonly #make: NonNullable<ThreadsOptions['replica']>
  readonly #copies = new Map<string, Copy>()

  constructor(make: NonNullable<ThreadsOptions['replica']>) {
    this.#make = make
  }

  async use(name: string, store: () => StorageAdapter): Promise<UsedCopy> {
    const known = this.#copies.get(name)
    const copy = known ?? { adapter: this.#create(store()), users: 0 }
    if (known === undefined) this.#copies.set(name, copy)
    copy.users += 1
    let isLeft = false
    const leave = async (): Promise<void> => {
      if (isLeft) return
      isLeft = true
      copy.users -= 1
      if (copy.users > 0) return
      this.#copies.delete(name)
      await (await copy.adapter).close()
    }
    try {
      const adapter = await copy.adapter
      if (known !== undefined) await adapter.refresh?.()
      const seen = readOnly(adapter, { shared: true })
      // commands use the copy as the last opened thread refreshed it: a check for each command would be a request
      delete seen.beginCommand
      return { adapter: seen, leave }
    } catch (error) {
      await leave().catch(() => undefined) // the copy was never made, or the error of the store is thrown below
      throw error
    }
  }

  async #create(store: StorageAdapter): Promise<StorageAdapter> {
    return this.#make({ store })
  }
}
