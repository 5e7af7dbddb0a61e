import type { StorageAdapter } from '../contract/adapter.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { virtualError } from './errors.ts'
import type { WorkspaceMount } from './mounts.ts'

export class Scratch {
  #made: Promise<StorageAdapter> | undefined
  #closed = false

  mount(at: VirtualPath): WorkspaceMount {
    return { at, adapter: undefined, access: 'read-write', caseSensitive: true, owned: false, scratch: true }
  }

  async open(mount: WorkspaceMount, make: StorageAdapter['createScratch']): Promise<StorageAdapter> {
    if (this.#closed) throw virtualError({ code: 'ECLOSED', operation: 'open', path: mount.at, reason: 'is closed' })
    this.#made ??= make?.()
    try {
      const adapter = await this.#made
      if (adapter === undefined) throw new Error('a workspace has no scratch where its storage makes none')
      mount.adapter = adapter
      return adapter
    } catch (error) {
      this.#made = undefined
      throw error
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    const made = await this.#made?.catch(() => undefined) // there is no scratch to close
    await made?.close()
  }
}
