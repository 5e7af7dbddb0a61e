import { randomBytes, randomUUID } from 'node:crypto'

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
}

/** The saved states of a workspace, without its forks. */
export class AttachedStates implements Omit<Checkpoints.Attached, 'fork' | 'compareFork' | 'merge'> {
  readonly adapters: readonly StorageAdapter[]
  readonly held: Checkpoints.Held | undefined
  protected readonly thread: Thread<Methods>
  protected readonly disks: ReadonlyMap<number, DiskMount>
  readonly #mounts: ReadonlyMap<number, number>
  protected readonly trees: readonly number[]
  readonly #stored: readonly number[]
  protected readonly journals: JournalMounts
  readonly #onClose: () => Promise<void>
  /** The scan that began at the end of a command, and the number of changes by calls before that scan. */
  #settling: { readonly look: string; readonly end: Promise<unknown>; readonly changes: number } | undefined

  constructor({ thread, adapters, disks, journals, held, onClose }: AttachedOptions) {
    this.adapters = adapters
    this.held = held
    this.thread = thread
    this.disks = disks
    this.trees = [...disks.values()].map(({ tree }) => tree)
    this.#mounts = new Map([...disks].map(([mount, { tree }]) => [tree, mount]))
    this.journals = journals
    this.#stored = [...this.trees, ...journals.trees]
    this.#onClose = onClose
  }

  async hold(held: Checkpoints.Held | undefined): Promise<void> {
    if (held !== undefined) this.journals.refuseForgotten()
    this.journals.held = held
    if (this.#stored.length > 0) await this.thread.ask('hold', this.#stored, held)
  }

  save(options: Checkpoints.SaveOptions): ReturnType<Checkpoints.Attached['save']> {
    return this.saveAs(`c${randomBytes(5).toString('hex')}`, options)
  }

  protected async saveAs(
    id: string,
    { label, automatic = false, keep, withoutBytes, signal }: Checkpoints.SaveOptions,
  ): ReturnType<Checkpoints.Attached['save']> {
    signal?.throwIfAborted()
    let found: readonly LeftOutAt[] = []
    const checkpoint = await this.journals.save(async () => {
      const forced = this.journals.isTouched
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
        reserved: this.reserved(),
      }
      const saving = this.thread.ask('save', { ...request, after })
      // with journals, the wait ignores an abort, because journals must know whether the checkpoint was saved
      const saved = await (this.journals.trees.length > 0 ? saving : abortable(saving, signal))
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
    return { checkpoint, leftOut: [...leftOut, ...(isAsked ? await this.journals.leftOut() : [])] }
  }

  async list(): Promise<readonly Checkpoints.Saved[]> {
    if (this.#stored.length === 0) return this.journals.list()
    const stored = await this.thread.ask('list', this.#stored)
    return stored.filter(({ id }) => this.journals.knows(id))
  }

  async compare(
    since: string,
    until: string | undefined,
    { signal }: SignalOption,
  ): Promise<readonly Checkpoints.Difference[]> {
    signal?.throwIfAborted()
    const pairs =
      this.trees.length === 0
        ? []
        : await abortable(
            this.thread.ask('compare', { trees: this.trees, since, until, reserved: this.reserved() }),
            signal,
          )
    const disks = pairs.map((pair) => this.differenceOf(pair))
    return [...disks, ...(await this.journals.compare(since, until))]
  }

  protected differenceOf({ tree, path, before, after }: PairAt): Checkpoints.Difference {
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
    return this.thread.ask('diff', before, await side(names.after, difference.after))
  }

  async #contentOf(mount: number, content: string): Promise<Pick<DiffSide, 'bytes' | 'content' | 'tree'>> {
    const disk = this.disks.get(mount)
    return disk === undefined ? { bytes: await this.journals.read(content) } : { content, tree: disk.tree }
  }

  async restore(
    since: string,
    until: string,
    differences: readonly Checkpoints.Difference[],
    { discards = false } = {},
  ): Promise<readonly Checkpoints.Conflict[]> {
    const conflicts = await this.changeDisks(differences, (tree, _mount, paths) =>
      this.thread.ask('restore', { tree, since, until, paths, discards }),
    )
    return [...conflicts, ...(await this.journals.restore(since, differences, discards))]
  }

  /** Changes paths of the disks, while no call changes them. */
  protected async changeDisks(
    differences: readonly Checkpoints.Difference[],
    work: (tree: number, mount: number, paths: readonly string[]) => Promise<readonly Conflict[]>,
  ): Promise<Checkpoints.Conflict[]> {
    const conflicts: Checkpoints.Conflict[] = []
    for (const [mount, disk] of this.disks) {
      const paths = differences.filter((one) => one.mount === mount).map(({ path }) => path)
      if (paths.length === 0) continue
      const found = await disk.change(() => work(disk.tree, mount, paths))
      conflicts.push(...found.map(({ path, reason }) => ({ mount, path: path as MountPath, reason })))
    }
    return conflicts
  }

  settle(): void {
    if (this.trees.length === 0) return
    const look = randomUUID()
    const end = this.thread.ask('scan', { trees: this.trees, reserved: this.reserved(), look })
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
    if (this.trees.length > 0) await this.shut().catch(() => undefined) // a thread that has ended holds nothing
    await this.#onClose()
  }

  protected async shut(): Promise<void> {
    await this.thread.ask('shut', this.trees)
  }

  #changes(): number {
    return [...this.disks.values()].reduce((sum, { changes }) => sum + changes, 0)
  }

  protected reserved(): Record<number, readonly string[]> {
    return Object.fromEntries([...this.disks.values()].map((disk) => [disk.tree, disk.reserved()]))
  }

  #mountOf(tree: number): number {
    return this.#mounts.get(tree) ?? -1
  }
}

export function abortable<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
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
