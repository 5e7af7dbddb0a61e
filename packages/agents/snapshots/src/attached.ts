import { randomBytes, randomUUID } from 'node:crypto'

import { type CheckpointEngine, WorkspaceError } from '@ws/core'
import { type Checkpoints, type MountPath, type SignalOption, signals, type StorageAdapter } from '@ws/core/adapter'
import type { Thread } from '@ws/tree'
import type { Facts } from '@ws/tree/disk'

import type { DiskMount } from './disk-mount.ts'
import type { Conflict } from './disk/restore/restore.ts'
import type { JournalMounts } from './journal/mounts.ts'
import type { DiffSide, LeftOutAt, Methods, PairAt } from './worker/protocol.ts'

export interface AttachedOptions {
  readonly thread: Thread<Methods>
  readonly adapters: readonly StorageAdapter[]
  readonly disks: ReadonlyMap<number, DiskMount>
  readonly journals: JournalMounts
  readonly held: Checkpoints.Held | undefined
  readonly onClose: () => Promise<void>
  /** For a fork. */
  readonly forkedFrom?: string | undefined
  readonly fork?: ForkOf | undefined
  readonly open: OpenAttached
}

export interface ForkOf {
  readonly origin: Attached
  readonly checkpoint: string
  readonly isTemporary: boolean
}

export type OpenAttached = (...given: [...Parameters<CheckpointEngine['attach']>, fork?: ForkOf]) => Promise<Attached>

export class Attached implements Checkpoints.Attached {
  readonly adapters: readonly StorageAdapter[]
  readonly held: Checkpoints.Held | undefined
  readonly forkedFrom: string | undefined
  readonly #thread: Thread<Methods>
  readonly #disks: ReadonlyMap<number, DiskMount>
  readonly #mounts: ReadonlyMap<number, number>
  readonly #trees: readonly number[]
  readonly #stored: readonly number[]
  readonly #journals: JournalMounts
  readonly #onClose: () => Promise<void>
  readonly #open: OpenAttached
  readonly #fork: ForkOf | undefined
  /** The turns of the trees in the latest comparison with the origin. */
  #turns: ReadonlyMap<number, number> = new Map()
  /** The scan that began at the end of a command, and the number of changes by calls before that scan. */
  #settling: { readonly look: string; readonly end: Promise<unknown>; readonly changes: number } | undefined

  constructor({ thread, adapters, disks, journals, held, onClose, forkedFrom, fork, open }: AttachedOptions) {
    this.adapters = adapters
    this.held = held
    this.#thread = thread
    this.#disks = disks
    this.#trees = [...disks.values()].map(({ tree }) => tree)
    this.#mounts = new Map([...disks].map(([mount, { tree }]) => [tree, mount]))
    this.#journals = journals
    this.#stored = [...this.#trees, ...journals.trees]
    this.#onClose = onClose
    this.forkedFrom = fork?.checkpoint ?? forkedFrom
    this.#fork = fork
    this.#open = open
  }

  async hold(held: Checkpoints.Held | undefined): Promise<void> {
    if (held !== undefined) this.#journals.refuseForgotten()
    this.#journals.held = held
    if (this.#stored.length > 0) await this.#thread.ask('hold', this.#stored, held)
  }

  save(options: Checkpoints.SaveOptions): ReturnType<Checkpoints.Attached['save']> {
    return this.#save(`c${randomBytes(5).toString('hex')}`, options)
  }

  async #save(
    id: string,
    { label, automatic = false, keep, withoutBytes, signal }: Checkpoints.SaveOptions,
  ): ReturnType<Checkpoints.Attached['save']> {
    signal?.throwIfAborted()
    let found: readonly LeftOutAt[] = []
    const checkpoint = await this.#journals.save(async () => {
      const forced = this.#journals.isTouched
      if (this.#stored.length === 0)
        return automatic && !forced ? undefined : { id, label, createdAt: Date.now(), automatic }
      // an automatic checkpoint reuses the scan in progress, unless a call has changed something since the scan began
      const after = automatic && this.#settling?.changes === this.#changes() ? this.#settling.look : undefined
      const request = {
        id,
        label,
        automatic,
        forced,
        keep,
        withoutBytes,
        trees: this.#stored,
        reserved: this.#reserved(),
      }
      const saving = this.#thread.ask('save', { ...request, after })
      // with journals, the wait ignores an abort, because journals must know whether the checkpoint was saved
      const saved = await (this.#journals.trees.length > 0 ? saving : abortable(saving, signal))
      found = saved?.leftOut ?? []
      return saved?.checkpoint
    }, keep)
    if (checkpoint === undefined) return undefined
    const leftOut = found.map(({ tree, path, reason }) => ({
      mount: this.#mountOf(tree),
      path: path as MountPath,
      reason,
    }))
    // automatic checkpoints and restores do not report skipped entries
    const isAsked = !automatic && keep === undefined
    return { checkpoint, leftOut: [...leftOut, ...(isAsked ? await this.#journals.leftOut() : [])] }
  }

  async list(): Promise<readonly Checkpoints.Saved[]> {
    if (this.#stored.length === 0) return this.#journals.list()
    const stored = await this.#thread.ask('list', this.#stored)
    return stored.filter(({ id }) => this.#journals.knows(id))
  }

  async compare(
    since: string,
    until: string | undefined,
    { signal }: SignalOption,
  ): Promise<readonly Checkpoints.Difference[]> {
    signal?.throwIfAborted()
    const pairs =
      this.#trees.length === 0
        ? []
        : await abortable(
            this.#thread.ask('compare', { trees: this.#trees, since, until, reserved: this.#reserved() }),
            signal,
          )
    const disks = pairs.map((pair) => this.#differenceOf(pair))
    return [...disks, ...(await this.#journals.compare(since, until))]
  }

  #differenceOf({ tree, path, before, after }: PairAt): Checkpoints.Difference {
    return {
      mount: this.#mountOf(tree),
      path: path as MountPath,
      before: before && stateOf(before),
      after: after && stateOf(after),
    }
  }

  async diff(
    difference: Checkpoints.Difference,
    names: { readonly before: string; readonly after: string },
  ): Promise<string> {
    const side = async (name: string, state: Checkpoints.EntryState | undefined): Promise<DiffSide> => ({
      name,
      facts: state && { type: state.type, size: state.size, mode: state.mode ?? 0, target: state.target },
      ...(state?.content !== undefined && (await this.#contentOf(difference.mount, state.content))),
    })
    const before = await side(names.before, difference.before)
    return this.#thread.ask('diff', before, await side(names.after, difference.after))
  }

  async #contentOf(mount: number, content: string): Promise<Pick<DiffSide, 'bytes' | 'content' | 'tree'>> {
    const disk = this.#disks.get(mount)
    return disk === undefined ? { bytes: await this.#journals.read(content) } : { content, tree: disk.tree }
  }

  async restore(
    since: string,
    until: string,
    differences: readonly Checkpoints.Difference[],
    { discards = false } = {},
  ): Promise<readonly Checkpoints.Conflict[]> {
    const conflicts = await this.#change(differences, (tree, _mount, paths) =>
      this.#thread.ask('restore', { tree, since, until, paths, discards }),
    )
    return [...conflicts, ...(await this.#journals.restore(since, differences, discards))]
  }

  /** Changes paths of the disks, while no call changes them. */
  async #change(
    differences: readonly Checkpoints.Difference[],
    work: (tree: number, mount: number, paths: readonly string[]) => Promise<readonly Conflict[]>,
  ): Promise<Checkpoints.Conflict[]> {
    const conflicts: Checkpoints.Conflict[] = []
    for (const [mount, disk] of this.#disks) {
      const paths = differences.filter((one) => one.mount === mount).map(({ path }) => path)
      if (paths.length === 0) continue
      const found = await disk.change(() => work(disk.tree, mount, paths))
      conflicts.push(...found.map(({ path, reason }) => ({ mount, path: path as MountPath, reason })))
    }
    return conflicts
  }

  async fork(
    checkpoint: string,
    mounts: readonly Checkpoints.Mount[],
    directories: Parameters<CheckpointEngine['attach']>[1],
    { isTemporary }: { readonly isTemporary: boolean },
  ): Promise<Attached> {
    const fork = await this.#open(mounts, directories, { origin: this, checkpoint, isTemporary })
    try {
      if (fork.#trees.length > 0) {
        const reserved = { ...this.#reserved(), ...fork.#reserved() }
        const [trees, origins] = [fork.#trees, this.#trees]
        await this.#thread.ask('beginForks', { trees, origins, since: checkpoint, reserved })
      }
      await fork.#save(checkpoint, { label: 'forked' })
      this.#journals.shared.add(checkpoint)
      fork.#journals.shared.add(checkpoint)
      return fork
    } catch (error) {
      await fork.close()
      throw error
    }
  }

  async compareFork(
    fork: Checkpoints.Attached,
    until: string | undefined,
    { signal }: SignalOption,
  ): Promise<readonly Checkpoints.ForkDifference[]> {
    signal?.throwIfAborted()
    const copy = this.#forkOf(fork)
    const since = copy.forkedFrom ?? ''
    const trees = this.#trees.map((origin, index) => ({ origin, fork: copy.#trees[index] ?? -1 }))
    const reserved = { ...this.#reserved(), ...copy.#reserved() }
    const asked = { trees, since, until, reserved }
    const found = trees.length === 0 ? [] : await abortable(this.#thread.ask('compareFork', asked), signal)
    copy.#turns = new Map(found.map((one) => [one.fork, one.turn]))
    const disks = found.flatMap(({ origin, changes }) =>
      changes.map(({ ours, ...pair }) => ({ ...this.#differenceOf({ tree: origin, ...pair }), ours })),
    )
    return [...disks, ...(await this.#journals.compareFork(copy.#journals, since, until))]
  }

  async merge(
    fork: Checkpoints.Attached,
    until: string,
    differences: readonly Checkpoints.Difference[],
  ): Promise<readonly Checkpoints.Conflict[]> {
    const copy = this.#forkOf(fork)
    const conflicts = await this.#change(differences, (tree, mount, paths) => {
      const copied = copy.#disks.get(mount)?.tree ?? -1
      const turn = copy.#turns.get(copied) ?? -1
      return this.#thread.ask('merge', { origin: tree, fork: copied, until, turn, paths })
    })
    return [...conflicts, ...(await this.#journals.merge(copy.#journals, differences))]
  }

  /** @throws WorkspaceError `EINVAL` for a fork of another workspace */
  #forkOf(fork: Checkpoints.Attached): Attached {
    const isOurs =
      fork instanceof Attached &&
      fork.#thread === this.#thread &&
      fork.#trees.length === this.#trees.length &&
      // without its journals, the fork was found by its directories, which the thread compares
      (fork.#fork?.origin === this || (fork.#fork === undefined && this.#journals.isEmpty))
    if (isOurs) return fork
    throw new WorkspaceError({
      code: 'EINVAL',
      operation: 'merge',
      reason: 'the other workspace is not a fork of this one',
      remedy: 'merge it into the one it was made from',
    })
  }

  settle(): void {
    if (this.#trees.length === 0) return
    const look = randomUUID()
    const end = this.#thread.ask('scan', { trees: this.#trees, reserved: this.#reserved(), look })
    const settling = {
      look,
      changes: this.#changes(),
      // the next checkpoint scans again, and reports a failure
      end: end
        .catch(() => undefined)
        .finally(() => {
          if (this.#settling === settling) this.#settling = undefined
        }),
    }
    this.#settling = settling
  }

  async close(): Promise<void> {
    await this.#settling?.end
    const isForgotten = this.#fork?.isTemporary === true
    for (const method of ['shut', ...(isForgotten ? ['forget' as const] : [])] as const)
      if (this.#trees.length > 0) await this.#thread.ask(method, this.#trees).catch(() => undefined) // a thread that has ended holds nothing
    if (this.#fork !== undefined) this.#fork.origin.#journals.shared.delete(this.#fork.checkpoint)
    await this.#onClose()
  }

  #changes(): number {
    return [...this.#disks.values()].reduce((sum, { changes }) => sum + changes, 0)
  }

  #reserved(): Record<number, readonly string[]> {
    return Object.fromEntries([...this.#disks.values()].map((disk) => [disk.tree, disk.reserved()]))
  }

  #mountOf(tree: number): number {
    return this.#mounts.get(tree) ?? -1
  }
}

function abortable<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  return signal === undefined ? work : signals.orAbort(work, signal)
}

function stateOf({ type, size, mode, mtime, content, target, ino, birth }: Facts): Checkpoints.EntryState {
  return {
    type,
    size,
    mode: mode & 0o7777,
    modifiedAt: mtime,
    content,
    target,
    // inodes are reused: birth and content identify the entry
    identity: `${ino} ${birth} ${content ?? target ?? type}`,
  }
}
