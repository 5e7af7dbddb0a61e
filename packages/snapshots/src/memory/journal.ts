import { isWorkspaceError, WorkspaceError } from '@ws/core'
import { operations, wrapAdapter } from '@ws/core/adapter'
import type { Call, MountPath, StorageAdapter } from '@ws/core/adapter'

import { Turnstile } from '../turnstile.ts'
import { type Kept, keep } from './kept.ts'

/** The states of paths before they were first changed after a checkpoint. */
interface Layer {
  readonly id: string
  readonly before: Map<MountPath, Kept | undefined>
}

/**
 * The earlier states of a store without a place on this machine. Every change passes the file API, so the state of a path is kept
 * before its first change after a checkpoint, and a checkpoint itself costs nothing.
 */
export class Journal {
  readonly adapter: StorageAdapter
  readonly inner: StorageAdapter
  readonly turnstile = new Turnstile()
  readonly #maxFileBytes: number
  #layers: Layer[] = []
  #bytes = 0

  constructor(inner: StorageAdapter, maxFileBytes: number) {
    this.inner = inner
    this.#maxFileBytes = maxFileBytes
    this.adapter = wrapAdapter(inner, {
      name: inner.name,
      capabilities: inner.capabilities,
      call: async (call, run) => {
        if (!operations[call.operation].changes) return run()
        return this.turnstile.pass(() => this.keepBefore(call), run)
      },
    })
  }

  /** Bytes that are kept. */
  get bytes(): number {
    return this.#bytes
  }

  get isTouched(): boolean {
    return (this.#layers.at(-1)?.before.size ?? 1) > 0
  }

  /** Changes that are on their way belong to the time before. */
  async checkpoint(id: string): Promise<void> {
    await this.turnstile.alone(async () => void this.#layers.push({ id, before: new Map() }))
  }

  /** Forgets the checkpoint; what it kept is what the one before needs as well. */
  forget(id: string): void {
    const index = this.#layers.findIndex((layer) => layer.id === id)
    const [gone] = index === -1 ? [] : this.#layers.splice(index, 1)
    const earlier = this.#layers[index - 1]
    for (const [path, kept] of gone?.before ?? []) {
      if (earlier !== undefined && !earlier.before.has(path)) earlier.before.set(path, kept)
      else this.#bytes -= kept?.bytes?.length ?? 0
    }
  }

  /** The states of all paths that were changed since a checkpoint, as they were at it. */
  since(id: string): Map<MountPath, Kept | undefined> {
    const index = this.#layers.findIndex((layer) => layer.id === id)
    if (index === -1) {
      throw new WorkspaceError({
        code: 'ENOENT',
        operation: 'checkpoint',
        reason: 'there is no such checkpoint: it was never taken, or made room for others',
        remedy: 'look at `checkpoints()`',
      })
    }
    const states = new Map<MountPath, Kept | undefined>()
    for (const { before } of this.#layers.slice(index))
      for (const [path, kept] of before) if (!states.has(path)) states.set(path, kept)
    return states
  }

  now(path: MountPath): Promise<Kept | undefined> {
    return keep(this.inner, path, this.#maxFileBytes)
  }

  async keepBefore({ operation, path, destination }: Pick<Call, 'operation' | 'path' | 'destination'>): Promise<void> {
    if (this.#layers.length === 0) return
    for (const changed of [path, destination]) {
      if (changed === undefined) continue
      await this.#keepOne(changed)
      // what is moved, replaced or removed takes everything below with it
      if (operation === 'delete' || operation === 'move' || operation === 'copy') await this.#keepBelow(changed)
      if (operation === 'move' || operation === 'copy') await this.#keepArrivals(path, destination)
    }
  }

  async #keepOne(path: MountPath): Promise<void> {
    // up to the first directory that is there: those that are missing will be made, and its time changes
    for (let at = path; ; at = (at.slice(0, at.lastIndexOf('/')) || '/') as MountPath) {
      const kept = await this.#add(at)
      if (at === '/' || (kept !== undefined && at !== path)) return
    }
  }

  async #add(path: MountPath): Promise<Kept | undefined> {
    const latest = this.#layers.at(-1)
    if (latest === undefined || latest.before.has(path)) return latest?.before.get(path)
    const kept = await this.now(path)
    if (latest.before.has(path)) return latest.before.get(path)
    latest.before.set(path, kept)
    this.#bytes += kept?.bytes?.length ?? 0
    return kept
  }

  async #keepBelow(path: MountPath): Promise<void> {
    try {
      for await (const entry of this.inner.list(path, { recursive: true })) await this.#add(entry.path)
    } catch (error) {
      if (isWorkspaceError(error) && error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
    }
  }

  /** The places where entries will be that are not there yet. */
  async #keepArrivals(path: MountPath, destination: MountPath | undefined): Promise<void> {
    if (destination === undefined) return
    try {
      for await (const entry of this.inner.list(path, { recursive: true }))
        await this.#add(`${destination}${entry.path.slice(path.length)}` as MountPath)
    } catch (error) {
      if (isWorkspaceError(error) && error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
    }
  }
}
