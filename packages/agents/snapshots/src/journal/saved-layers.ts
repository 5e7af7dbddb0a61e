import type { MountPath } from '@ws/core/adapter'
import { type Thread, Turnstile } from '@ws/tree'

import type { KeptState, Methods } from '../worker/protocol.ts'
import type { Kept } from './kept.ts'
import type { Layers } from './layers.ts'

/** The layers of a store that outlives this process, kept in the state directory. All workspaces of the store share the layers. */
export class SavedLayers implements Layers {
  readonly turnstile = new Turnstile()
  readonly tree: number
  /** False for a store that does not name itself. */
  readonly isFoundAgain: boolean
  restoring: string | undefined
  readonly #thread: Thread<Methods>
  #types: Map<string, Kept['type'] | 'nothing'>
  #isOpen: boolean

  private constructor(
    thread: Thread<Methods>,
    { tree, isOpen, types }: ReturnType<Methods['openJournal']>,
    isFoundAgain: boolean,
  ) {
    this.isFoundAgain = isFoundAgain
    this.#thread = thread
    this.tree = tree
    this.#isOpen = isOpen
    this.#types = new Map(types)
  }

  /** @param key names the store, so that later processes find its checkpoints */
  static async open(thread: Thread<Methods>, key: string, isFoundAgain: boolean): Promise<SavedLayers> {
    return new SavedLayers(thread, await thread.ask('openJournal', key), isFoundAgain)
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  get isTouched(): boolean {
    return this.#types.size > 0
  }

  typeAt(path: MountPath): Kept['type'] | 'nothing' | undefined {
    return this.#types.get(path)
  }

  async add(path: MountPath, kept: Kept | undefined): Promise<void> {
    const state = kept && { ...stateOf(kept), bytes: await kept.bytes?.() }
    await this.#thread.ask('keep', { tree: this.tree, path, state, keep: this.restoring })
    if (!this.#types.has(path)) this.#types.set(path, kept?.type ?? 'nothing')
  }

  /** Records a scanned state, and saves the previous state for the checkpoints. */
  async note(path: MountPath, kept: Kept | undefined, keep: string | undefined): Promise<void> {
    const state = kept && { ...stateOf(kept), bytes: await kept.bytes?.() }
    const isOther = await this.#thread.ask('note', { tree: this.tree, path, state, keep })
    if (isOther) this.#types.set(path, kept?.type ?? 'nothing')
  }

  async since(id: string): Promise<ReadonlyMap<MountPath, Kept | undefined>> {
    const rows = await this.#thread.ask('kept', this.tree, id)
    return new Map(rows.map(({ path, state }) => [path as MountPath, state && this.#keptOf(state)]))
  }

  begin(): void {
    this.#types = new Map()
    this.#isOpen = true
  }

  #keptOf({ content, ...facts }: KeptState): Kept {
    if (content === undefined) return facts
    return { ...facts, bytes: () => this.#thread.ask('bytes', content) }
  }
}

function stateOf({ type, size, mode, modifiedAt, version, target }: Kept): KeptState {
  return { type, size, mode, modifiedAt, version, target }
}
