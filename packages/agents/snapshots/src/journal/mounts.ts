import { paths, WorkspaceError } from '@ws/core'
import { type Checkpoints, concurrency, type MountPath } from '@ws/core/adapter'

import type { CheckedOptions } from '../options.ts'
import type { Journal } from './journal.ts'
import { compareJournals } from './merge.ts'
import { atOnce, isSameBytes, isSameKept, type Kept, load, steady } from './kept.ts'
import { MemoryLayers } from './layers.ts'
import { LookedJournal } from './looked.ts'
import { restoreByCalls } from './restore.ts'
import { SavedLayers } from './saved-layers.ts'

type Limits = Pick<CheckedOptions, 'maxBytes' | 'maxFileBytes' | 'maxAge'>

const mostLeftOut = 1_000

/** Checkpoints of mounts that are not on this machine. States of stores in this process stay in memory. */
export class JournalMounts {
  readonly trees: readonly number[]
  readonly #journals: ReadonlyMap<number, Journal>
  readonly #memory: readonly MemoryLayers[]
  readonly #saved: readonly SavedLayers[]
  readonly #looked: readonly LookedJournal[]
  readonly #options: Limits
  #checkpoints: Checkpoints.Saved[] = []
  #contents = new Map<string, () => Promise<Uint8Array>>()
  /** Its checkpoints are not deleted to make room. */
  held: Checkpoints.Held | undefined
  /** Checkpoints that forks share. They are not deleted to make room. */
  readonly shared = new Set<string>()
  #seen = new Map<number, ReadonlyMap<MountPath, Kept | undefined>>()

  constructor(journals: ReadonlyMap<number, Journal>, options: Limits) {
    this.#journals = journals
    this.#options = options
    const layers = [...journals.values()].map((journal) => journal.layers)
    this.#memory = layers.filter((one) => one instanceof MemoryLayers)
    const saved = new Set(layers.filter((one) => one instanceof SavedLayers))
    // two workspaces must wait for shared journals in the same order
    this.#saved = [...saved].sort((one, other) => one.tree - other.tree)
    this.#looked = [...journals.values()].filter((journal) => journal instanceof LookedJournal)
    this.trees = this.#saved.map(({ tree }) => tree)
  }

  get isEmpty(): boolean {
    return this.#journals.size === 0
  }

  get isTouched(): boolean {
    return [...this.#journals.values()].some(({ layers }) => layers.isTouched)
  }

  /** @throws WorkspaceError `ENOTSUP` if the next process would not find the checkpoints of a store that outlives this process */
  refuseForgotten(): void {
    if (this.#saved.every(({ isFoundAgain }) => isFoundAgain)) return
    throw new WorkspaceError({
      code: 'ENOTSUP',
      operation: 'try',
      reason: 'the checkpoints of a mount end with this process, so a try could not be taken back after a crash',
      remedy: 'try in a replica of it (`createReplicaAdapter`)',
    })
  }

  /** Saves a checkpoint while no call changes a store. Resolves to `undefined` if `work` found nothing to save. */
  async save(
    work: () => Promise<Checkpoints.Saved | undefined>,
    keep: string | undefined,
  ): Promise<Checkpoints.Saved | undefined> {
    const save = this.#saved.reduce<() => Promise<Checkpoints.Saved | undefined>>(
      (inner, { turnstile }) =>
        () =>
          turnstile.alone(inner),
      async () => {
        for (const journal of this.#looked) await journal.look(keep)
        const checkpoint = await work()
        if (checkpoint !== undefined) for (const layers of this.#saved) layers.begin()
        return checkpoint
      },
    )
    const checkpoint = await save()
    if (checkpoint === undefined || this.#memory.length === 0) return checkpoint
    // pending changes belong to the previous checkpoint
    for (const layers of this.#memory) await layers.turnstile.alone(async () => layers.begin(checkpoint.id))
    this.#checkpoints.push(checkpoint)
    this.#makeRoom(keep)
    return checkpoint
  }

  async leftOut(): Promise<readonly Checkpoints.LeftOut[]> {
    const { maxFileBytes } = this.#options
    const found: Checkpoints.LeftOut[] = []
    for (const [mount, { inner }] of this.#journals) {
      // details would cost a request for each file of a bucket; its listing has sizes
      for await (const { path, type, size, unreachable } of inner.list(paths.mountRoot, { recursive: true })) {
        if (found.length >= mostLeftOut) continue
        if (unreachable === true) found.push({ mount, path, reason: 'no path can name it' })
        if (type !== 'file' || unreachable === true) continue
        if ((size ?? (await load(inner, path, 0))?.size ?? 0) <= maxFileBytes) continue
        found.push({ mount, path, reason: `it has more than ${maxFileBytes} bytes` })
      }
    }
    return found
  }

  list(): readonly Checkpoints.Saved[] {
    return this.#checkpoints
  }

  /** Whether a checkpoint is known. Without mounts in memory, every checkpoint is known. */
  knows(id: string): boolean {
    return this.#memory.length === 0 || this.#checkpoints.some((checkpoint) => checkpoint.id === id)
  }

  async read(content: string): Promise<Uint8Array | undefined> {
    return this.#contents.get(content)?.()
  }

  async compare(since: string, until: string | undefined): Promise<Checkpoints.Difference[]> {
    this.#contents = new Map()
    const found: Checkpoints.Difference[] = []
    if (until === undefined)
      for (const journal of this.#looked) await journal.layers.turnstile.alone(() => journal.look(since))
    for (const [mount, journal] of this.#journals) {
      const states = await journal.layers.since(since)
      const later = until === undefined ? undefined : await journal.layers.since(until)
      const seen = new Map<MountPath, Kept | undefined>()
      this.#seen.set(mount, seen)
      await concurrency.forEachOf(states, atOnce, async ([path, before]) => {
        const pair = await steady(async () => {
          const after = later?.has(path) === true ? later.get(path) : await journal.now(path)
          if (before === undefined || after === undefined)
            return before === after ? undefined : { after, isSame: false }
          return (await isSameKept(before, after)) ? undefined : { after, isSame: await isSameBytes(before, after) }
        })
        if (pair === undefined) return
        const { after, isSame } = pair
        seen.set(path, after)
        const name = (state: Kept | undefined, at: 'before' | 'after'): Checkpoints.EntryState | undefined =>
          state && this.#stateOf(state, `${mount} ${path} ${state.type === 'file' && isSame ? 'same' : at}`)
        found.push({ mount, path, before: name(before, 'before'), after: name(after, 'after') })
      })
    }
    return found
  }

  async restore(
    since: string,
    differences: readonly Checkpoints.Difference[],
    discards: boolean,
  ): Promise<Checkpoints.Conflict[]> {
    for (const layers of this.#saved) layers.restoring = since
    try {
      return await this.#apply(differences, discards, (_mount, { layers }) => layers.since(since))
    } finally {
      for (const layers of this.#saved) layers.restoring = undefined
    }
  }

  async #apply(
    differences: readonly Checkpoints.Difference[],
    discards: boolean,
    statesOf: (mount: number, journal: Journal) => Promise<ReadonlyMap<MountPath, Kept | undefined>>,
  ): Promise<Checkpoints.Conflict[]> {
    const conflicts: Checkpoints.Conflict[] = []
    for (const [mount, journal] of this.#journals) {
      const changed = differences.filter((one) => one.mount === mount).map(({ path }) => path)
      if (changed.length === 0) continue
      const states = await statesOf(mount, journal)
      const options = { paths: changed, states, discards, seen: this.#seen.get(mount) ?? new Map() }
      const found = await journal.layers.turnstile.alone(() => restoreByCalls(journal, options))
      conflicts.push(...found.map(({ path, reason }) => ({ mount, path: path as MountPath, reason })))
    }
    return conflicts
  }

  /** Compares a fork with the checkpoint `since`, which both have. */
  async compareFork(
    fork: JournalMounts,
    since: string,
    until: string | undefined,
  ): Promise<Checkpoints.ForkDifference[]> {
    const changes = await fork.compare(since, undefined)
    const found: Checkpoints.ForkDifference[] = []
    for (const [mount, origin] of this.#journals) {
      const journal = fork.#journals.get(mount)
      if (journal === undefined) continue
      const theirs = fork.#seen.get(mount) ?? new Map()
      const { ours, seen } = await compareJournals(origin, { journal, since, theirs }, until)
      this.#seen.set(mount, seen)
      for (const change of changes) {
        const standing = change.mount === mount ? ours.get(change.path) : undefined
        if (standing !== undefined) found.push({ ...change, ours: standing })
      }
    }
    return found
  }

  /** Writes the states of a fork, as of the latest comparison. */
  merge(fork: JournalMounts, differences: readonly Checkpoints.Difference[]): Promise<Checkpoints.Conflict[]> {
    return this.#apply(differences, false, async (mount) => fork.#seen.get(mount) ?? new Map())
  }

  #stateOf({ type, size, mode, modifiedAt = 0, bytes, target }: Kept, name: string): Checkpoints.EntryState {
    if (bytes !== undefined) this.#contents.set(name, bytes)
    return { type, size, mode, modifiedAt, target, content: bytes === undefined ? undefined : name }
  }

  /** Drops the oldest checkpoints above the size or age limit, but never the latest. */
  #makeRoom(keep: string | undefined): void {
    const { maxBytes, maxAge } = this.#options
    const bytes = (): number => this.#memory.reduce((sum, layers) => sum + layers.bytes, 0)
    for (const { id, createdAt } of this.#checkpoints.slice(0, -1)) {
      if (bytes() <= maxBytes && createdAt > Date.now() - maxAge) return
      if (id === keep || id === this.held?.since || id === this.held?.until || this.shared.has(id)) continue
      for (const layers of this.#memory) layers.forget(id)
      this.#checkpoints = this.#checkpoints.filter((checkpoint) => checkpoint.id !== id)
    }
  }
}
