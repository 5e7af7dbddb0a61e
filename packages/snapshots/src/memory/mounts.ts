import type { Difference, EntryState, LeftOut, RestoreConflict, SavedCheckpoint } from '@ws/core/adapter'

import { mountRoot } from '@ws/core/adapter'

import type { CheckedOptions } from '../options.ts'
import type { Journal } from './journal.ts'
import { isSameBytes, isSameKept, type Kept } from './kept.ts'
import { restoreMemory } from './restore.ts'

type Limits = Pick<CheckedOptions, 'maxBytes' | 'maxFileBytes' | 'maxAge'>

const mostLeftOut = 1_000

/** Checkpoints of the mounts that live in this process. They end with it. */
export class MemoryMounts {
  readonly #journals: ReadonlyMap<number, Journal>
  readonly #options: Limits
  #checkpoints: SavedCheckpoint[] = []
  /** The bytes of the last comparison, by the names that it gave them. */
  #contents = new Map<string, Uint8Array>()

  constructor(journals: ReadonlyMap<number, Journal>, options: Limits) {
    this.#journals = journals
    this.#options = options
  }

  get isTouched(): boolean {
    return [...this.#journals.values()].some((journal) => journal.isTouched)
  }

  async save(checkpoint: SavedCheckpoint, keep: string | undefined): Promise<void> {
    if (this.#journals.size === 0) return
    for (const journal of this.#journals.values()) await journal.checkpoint(checkpoint.id)
    this.#checkpoints.push(checkpoint)
    this.#makeRoom(keep)
  }

  /** Files whose bytes would not be kept if they were changed. */
  async leftOut(): Promise<readonly LeftOut[]> {
    const { maxFileBytes } = this.#options
    const found: LeftOut[] = []
    for (const [mount, { inner }] of this.#journals) {
      for await (const { path, size = 0 } of inner.list(mountRoot, { recursive: true, details: true })) {
        if (size <= maxFileBytes || found.length >= mostLeftOut) continue
        found.push({ mount, path, reason: `it has more than ${maxFileBytes} bytes` })
      }
    }
    return found
  }

  list(): readonly SavedCheckpoint[] {
    return this.#checkpoints
  }

  /** Without such mounts, all are known. */
  knows(id: string): boolean {
    return this.#journals.size === 0 || this.#checkpoints.some((checkpoint) => checkpoint.id === id)
  }

  read(content: string): Uint8Array | undefined {
    return this.#contents.get(content)
  }

  async compare(since: string, until: string | undefined): Promise<Difference[]> {
    this.#contents = new Map()
    const found: Difference[] = []
    for (const [mount, journal] of this.#journals) {
      const states = journal.since(since)
      const later = until === undefined ? undefined : journal.since(until)
      for (const [path, before] of states) {
        const after = later?.has(path) === true ? later.get(path) : await journal.now(path)
        if (before === undefined || after === undefined ? before === after : isSameKept(before, after)) continue
        const name = (state: Kept | undefined, at: 'before' | 'after'): EntryState | undefined =>
          state &&
          this.#stateOf(
            state,
            `${mount} ${path} ${state.type === 'file' && before && after && isSameBytes(before, after) ? 'same' : at}`,
          )
        found.push({ mount, path, before: name(before, 'before'), after: name(after, 'after') })
      }
    }
    return found
  }

  async restore(since: string, until: string, differences: readonly Difference[]): Promise<RestoreConflict[]> {
    const conflicts: RestoreConflict[] = []
    for (const [mount, journal] of this.#journals) {
      const paths = differences.filter((one) => one.mount === mount).map(({ path }) => path)
      if (paths.length === 0) continue
      const found = await journal.turnstile.alone(() => restoreMemory(journal, since, until, paths))
      conflicts.push(...found.map(({ path, reason }) => ({ mount, path: path as Difference['path'], reason })))
    }
    return conflicts
  }

  #stateOf({ type, size, mode, modifiedAt, bytes, target }: Kept, name: string): EntryState {
    if (bytes !== undefined) this.#contents.set(name, bytes)
    return { type, size, mode, modifiedAt, target, content: bytes === undefined ? undefined : name }
  }

  /** The oldest go where there are too many bytes, or where they are too old. The latest one stays. */
  #makeRoom(keep: string | undefined): void {
    const { maxBytes, maxAge } = this.#options
    const bytes = (): number => [...this.#journals.values()].reduce((sum, journal) => sum + journal.bytes, 0)
    for (const { id, createdAt } of this.#checkpoints.slice(0, -1)) {
      if (bytes() <= maxBytes && createdAt > Date.now() - maxAge) return
      if (id === keep) continue
      for (const journal of this.#journals.values()) journal.forget(id)
      this.#checkpoints = this.#checkpoints.filter((checkpoint) => checkpoint.id !== id)
    }
  }
}
