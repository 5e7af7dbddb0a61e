import type { StorageAdapter } from '../adapter/contract.ts'
import type { Owner } from '../adapter/types.ts'
import type { Executor } from '../executor/contract.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { virtualError } from './errors.ts'
import type { WorkspaceMount } from './mounts.ts'

/** The workspace's `/tmp`: made on first use, removed at the end. */
export class Scratch {
  #executor: Executor | undefined
  #made: Promise<StorageAdapter> | undefined
  #closed = false

  /** The executor whose scratch directory commands can see. */
  use(executor: Executor): void {
    this.#executor = executor
  }

  mount(at: VirtualPath): WorkspaceMount {
    return { at, adapter: undefined, access: 'read-write', caseSensitive: true, owned: false, scratch: true }
  }

  async open(
    mount: WorkspaceMount,
    root: StorageAdapter | undefined,
    owner: Owner | undefined,
  ): Promise<StorageAdapter> {
    if (this.#closed) throw virtualError({ code: 'ECLOSED', operation: 'open', path: mount.at, reason: 'is closed' })
    this.#made ??= this.#make(root, owner)
    try {
      const adapter = await this.#made
      mount.adapter = adapter
      return adapter
    } catch (error) {
      this.#made = undefined
      throw error
    }
  }

  async #make(root: StorageAdapter | undefined, owner: Owner | undefined): Promise<StorageAdapter> {
    const made = (await this.#executor?.createScratch?.({ owner })) ?? (await root?.createScratch?.())
    if (made !== undefined) return made
    throw virtualError({
      code: 'ENOTSUP',
      operation: 'open',
      path: '/tmp',
      reason: 'cannot be made: neither the storage nor the executor has temporary space',
      remedy: 'use a directory of the workspace',
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    const made = await this.#made?.catch(() => undefined)
    await made?.close()
  }
}
