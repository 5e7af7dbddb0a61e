import { WorkspaceError } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'
import { Turnstile } from '@ws/tree'

import type { Kept } from './kept.ts'

export interface Layers {
  /** Each change enters the turnstile. An operation that needs a store without changes takes the turnstile alone. */
  readonly turnstile: Turnstile
  /** True once a checkpoint exists: only then are states saved. */
  readonly isOpen: boolean
  readonly isTouched: boolean
  /** The type at the latest checkpoint; `undefined` if the path's state is not saved yet. */
  typeAt(path: MountPath): Kept['type'] | 'nothing' | undefined
  /**
   * Keeps the state of a path with its bytes, once. @throws WorkspaceError `ECONFLICT` where the bytes changed meanwhile; `EDQUOT`,
   * `ENOSPC`
   */
  add(path: MountPath, kept: Kept | undefined): Promise<void>
  /** The states at a checkpoint, for all paths that changed after it. @throws WorkspaceError `ENOENT`, `EINVAL` */
  since(id: string): Promise<ReadonlyMap<MountPath, Kept | undefined>>
}

interface Layer {
  readonly id: string
  readonly before: Map<MountPath, Kept | undefined>
}

export class MemoryLayers implements Layers {
  readonly turnstile = new Turnstile()
  #layers: Layer[] = []
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  get isOpen(): boolean {
    return this.#layers.length > 0
  }

  get isTouched(): boolean {
    return (this.#layers.at(-1)?.before.size ?? 1) > 0
  }

  typeAt(path: MountPath): Kept['type'] | 'nothing' | undefined {
    const before = this.#layers.at(-1)?.before
    return before?.has(path) === true ? (before.get(path)?.type ?? 'nothing') : undefined
  }

  async add(path: MountPath, kept: Kept | undefined): Promise<void> {
    const bytes = await kept?.bytes?.()
    const before = this.#layers.at(-1)?.before
    if (before === undefined || before.has(path)) return
    before.set(path, bytes && kept ? { ...kept, bytes: () => Promise.resolve(bytes) } : kept)
    this.#bytes += weightOf(kept)
  }

  async since(id: string): Promise<ReadonlyMap<MountPath, Kept | undefined>> {
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

  begin(id: string): void {
    this.#layers.push({ id, before: new Map() })
  }

  /** Deletes a checkpoint. Its states go to the previous checkpoint, unless that has states of the same paths. */
  forget(id: string): void {
    const index = this.#layers.findIndex((layer) => layer.id === id)
    const [gone] = index === -1 ? [] : this.#layers.splice(index, 1)
    const earlier = this.#layers[index - 1]
    for (const [path, kept] of gone?.before ?? []) {
      if (earlier !== undefined && !earlier.before.has(path)) earlier.before.set(path, kept)
      else this.#bytes -= weightOf(kept)
    }
  }
}

function weightOf(kept: Kept | undefined): number {
  return kept?.bytes === undefined ? 0 : kept.size
}
