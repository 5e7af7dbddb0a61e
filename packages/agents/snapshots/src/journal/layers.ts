import { WorkspaceError } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'
import { Turnstile } from '@ws/tree'

import type { Kept } from './kept.ts'

/** The states of paths before they were first changed after each checkpoint. */
export interface Layers {
  /** Changes pass it; what must see no change half done is alone in it. */
  readonly turnstile: Turnstile
  /** A checkpoint has been taken: states are needed. */
  readonly isOpen: boolean
  /** Something was kept since the latest checkpoint. */
  readonly isTouched: boolean
  /** The type at the latest checkpoint. `undefined`: the state of the path is not kept yet. */
  typeAt(path: MountPath): Kept['type'] | 'nothing' | undefined
  /**
   * Keeps the state of a path with its bytes, where it is not kept yet. When it resolves, the path may be changed.
   *
   * @throws WorkspaceError `ECONFLICT` where its bytes are other ones by now; `EDQUOT`, `ENOSPC`
   */
  add(path: MountPath, kept: Kept | undefined): Promise<void>
  /** The states, as of a checkpoint, of all paths changed since. @throws WorkspaceError `ENOENT`, `EINVAL` */
  since(id: string): Promise<ReadonlyMap<MountPath, Kept | undefined>>
}

interface Layer {
  readonly id: string
  readonly before: Map<MountPath, Kept | undefined>
}

/** Those of a store that ends with this process: they end with it as well. */
export class MemoryLayers implements Layers {
  readonly turnstile = new Turnstile()
  #layers: Layer[] = []
  #bytes = 0

  /** Bytes that are kept. */
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

  /** Forgets the checkpoint; what it kept is what the one before needs as well. */
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
