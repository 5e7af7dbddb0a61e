import { type CheckpointEngine, WorkspaceError } from '@ws/core'
import type { Checkpoints, SignalOption } from '@ws/core/adapter'

import { abortable, AttachedStates, type AttachedOptions } from './attached.ts'
import { movesIn } from './three-way.ts'

export interface ForkOf {
  readonly origin: Attached
  readonly checkpoint: string
  readonly isTemporary: boolean
}

export type OpenAttached = (...given: [...Parameters<CheckpointEngine['attach']>, fork?: ForkOf]) => Promise<Attached>

export interface ForkableOptions extends AttachedOptions {
  /** The shared checkpoint of a fork that was found by its directories. */
  readonly forkedFrom: string | undefined
  readonly fork: ForkOf | undefined
  readonly open: OpenAttached
}

export class Attached extends AttachedStates implements Checkpoints.Attached {
  readonly forkedFrom: string | undefined
  readonly #open: OpenAttached
  readonly #fork: ForkOf | undefined
  /** The turns of the trees in the latest comparison with the origin. */
  #turns: ReadonlyMap<number, number> = new Map()

  constructor({ forkedFrom, fork, open, ...options }: ForkableOptions) {
    super(options)
    this.forkedFrom = fork?.checkpoint ?? forkedFrom
    this.#fork = fork
    this.#open = open
  }

  async fork(
    checkpoint: string,
    mounts: readonly Checkpoints.Mount[],
    directories: Parameters<CheckpointEngine['attach']>[1],
    { isTemporary }: { readonly isTemporary: boolean },
  ): Promise<Attached> {
    const fork = await this.#open(mounts, directories, { origin: this, checkpoint, isTemporary })
    try {
      const [trees, origins] = [fork.trees, this.trees]
      const reserved = { ...this.reserved(), ...fork.reserved() }
      if (trees.length > 0) await this.thread.ask('beginForks', { trees, origins, since: checkpoint, reserved })
      await fork.saveAs(checkpoint, { label: 'forked' })
      for (const journals of [this.journals, fork.journals]) journals.shared.add(checkpoint)
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
    const trees = this.trees.map((origin, index) => ({ origin, fork: copy.trees[index] ?? -1 }))
    const asked = { trees, since, until, reserved: { ...this.reserved(), ...copy.reserved() } }
    const found = trees.length === 0 ? [] : await abortable(this.thread.ask('compareFork', asked), signal)
    copy.#turns = new Map(found.map((one) => [one.fork, one.turn]))
    const disks = found.flatMap(({ origin: tree, changes }) =>
      changes.map(({ ours, ...pair }) => ({ ...this.differenceOf({ tree, ...pair }), ours })),
    )
    return [...disks, ...(await this.journals.compareFork(copy.journals, since, until))]
  }

  async merge(
    fork: Checkpoints.Attached,
    until: string,
    differences: readonly Checkpoints.Difference[],
  ): Promise<readonly Checkpoints.Conflict[]> {
    const copy = this.#forkOf(fork)
    const conflicts = await this.changeDisks(differences, (origin, mount, paths) => {
      const tree = copy.disks.get(mount)?.tree ?? -1
      const turn = copy.#turns.get(tree) ?? -1
      const moves = movesIn(differences.filter((one) => one.mount === mount))
      return this.thread.ask('merge', { origin, fork: tree, until, turn, paths, moves })
    })
    return [...conflicts, ...(await this.journals.merge(copy.journals, differences))]
  }

  override async close(): Promise<void> {
    this.#fork?.origin.journals.shared.delete(this.#fork.checkpoint)
    await super.close()
  }

  protected override async shut(): Promise<void> {
    await super.shut()
    if (this.#fork?.isTemporary === true) await this.thread.ask('forget', this.trees)
  }

  #forkOf(fork: Checkpoints.Attached): Attached {
    const isOurs =
      fork instanceof Attached &&
      fork.thread === this.thread &&
      fork.trees.length === this.trees.length &&
      // a fork that was found by its directories is known to the thread alone
      (fork.#fork?.origin ?? this) === this &&
      (fork.#fork !== undefined || this.journals.isEmpty)
    if (isOurs) return fork
    throw new WorkspaceError({
      code: 'EINVAL',
      operation: 'merge',
      reason: 'the other workspace is not a fork of this one',
      remedy: 'merge it into the workspace that it was made from',
    })
  }
}
