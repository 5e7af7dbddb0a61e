import { isWorkspaceError, paths } from '@ws/core'
import { concurrency, operations, rewriteError, wrapAdapter } from '@ws/core/adapter'
import type { Call, MountPath, StorageAdapter } from '@ws/core/adapter'

import { atOnce, isNothing, type Kept, load, steady } from './kept.ts'
import type { Layers } from './layers.ts'

type Change = Pick<Call, 'operation' | 'path' | 'destination'>

/** Saves a path's state before its first change after a checkpoint, so a checkpoint costs nothing. Every change passes the file API. */
export class Journal {
  readonly adapter: StorageAdapter
  readonly inner: StorageAdapter
  readonly layers: Layers
  readonly #maxFileBytes: number

  constructor(inner: StorageAdapter, layers: Layers, maxFileBytes: number) {
    this.inner = inner
    this.layers = layers
    this.#maxFileBytes = maxFileBytes
    this.adapter = wrapAdapter(inner, {
      name: inner.name,
      capabilities: inner.capabilities,
      fork: (copy) => copy,
      call: async (call, run) => {
        if (call.operation === 'createFork') return layers.turnstile.alone(run)
        if (!operations[call.operation].changes) return run()
        return layers.turnstile.pass(() => this.#keepFor(call), run)
      },
    })
  }

  async #keepFor(call: Call): Promise<void> {
    try {
      await this.keepBefore(call)
    } catch (error) {
      // refuse the call itself, since its change could not be undone
      throw isWorkspaceError(error) ? rewriteError(error, { operation: call.operation, path: call.path }) : error
    }
  }

  now(path: MountPath): Promise<Kept | undefined> {
    return load(this.inner, path, this.#maxFileBytes)
  }

  async keepBefore({ operation, path, destination }: Change): Promise<void> {
    if (!this.layers.isOpen) return
    const isRemoved = operation === 'delete' || operation === 'move'
    const hasMore = operation === 'copy' || (await this.#keepWay(path, isRemoved))
    // moves, replacements and deletions include everything below
    if (isRemoved && hasMore) await this.#keepBelow(path)
    if (destination === undefined) return
    if (await this.#keepWay(destination, false)) await this.#keepBelow(destination)
    if (hasMore) await this.#keepArrivals(path, destination)
  }

  /** Saves the state of a path, and of directories that appear or vanish with it. @returns whether entries can be below the path */
  async #keepWay(path: MountPath, isRemoved: boolean): Promise<boolean> {
    const { keepsEmptyDirectories } = this.inner.capabilities
    const isAsked = this.layers.typeAt(path) === undefined
    const type = await this.#keep(path)
    let at = path
    let found = type
    // Missing directories will be made, and existing ones get another time. In a store without empty directories, all of these may vanish.
    while (at !== '/' && (found === 'nothing' || (keepsEmptyDirectories ? at === path : isRemoved))) {
      at = paths.parent(at)
      found = await this.#keep(at)
    }
    return type === 'directory' || !isAsked
  }

  async #keep(path: MountPath): Promise<Kept['type'] | 'nothing'> {
    const known = this.layers.typeAt(path)
    if (known !== undefined) return known
    await steady(async () => this.layers.add(path, await this.now(path)))
    return this.layers.typeAt(path) ?? 'nothing'
  }

  #keepBelow(path: MountPath): Promise<void> {
    return this.#eachBelow(path, (at) => this.#keep(at))
  }

  async #keepArrivals(path: MountPath, destination: MountPath): Promise<void> {
    const isNew = this.layers.typeAt(destination) === 'nothing'
    await this.#eachBelow(path, async (at) => {
      const arrival = `${destination}${at.slice(path.length)}` as MountPath
      if (!isNew) await this.#keep(arrival)
      else if (this.layers.typeAt(arrival) === undefined) await this.layers.add(arrival, undefined)
    })
  }

  async #eachBelow(path: MountPath, visit: (path: MountPath) => Promise<unknown>): Promise<void> {
    try {
      await concurrency.forEachOf(this.inner.list(path, { recursive: true }), atOnce, async (entry) => {
        if (entry.unreachable !== true) await visit(entry.path)
      })
    } catch (error) {
      if (!isNothing(error)) throw error
    }
  }
}
