import type { WorkspaceError } from '@ws/core'
import { concurrency, type MountPath } from '@ws/core/adapter'

import { typed } from '../errors.ts'
import { awayCodes } from './alone.ts'
import { unitOf } from './paths.ts'
import type { Step } from './site.ts'

/** Limit of files in transfer at once. */
const parallel = 32

/** The work of a pass on single paths, and its outcome. */
export class Steps {
  readonly failures = new Map<MountPath, WorkspaceError>()
  /** Paths where the disk differs from its last scan. */
  changed = new Set<MountPath>()
  /** True if the store differs from its listing. */
  differs = false
  /** The error of a store that cannot be reached. */
  away: WorkspaceError | undefined
  readonly #signal: AbortSignal | undefined
  #failed = new Set<string>()

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal
  }

  begin(): void {
    this.changed = new Set()
    this.differs = false
    this.#failed = new Set()
  }

  /** True if the store has changed or is away: this round must do no further step. */
  get isHalted(): boolean {
    return this.away !== undefined || this.differs
  }

  /** True if an entry on which this path may depend has failed in this round. */
  isStuck(path: string): boolean {
    return this.#failed.has(unitOf(path))
  }

  async each(paths: readonly MountPath[], work: (path: MountPath) => Promise<Step>): Promise<void> {
    const steps = concurrency.mapInOrder(paths, parallel, (path) => this.one(path, () => work(path)))
    for await (const _ of steps) void _
  }

  async inTurn(paths: readonly MountPath[], work: (path: MountPath) => Promise<Step>): Promise<void> {
    for (const path of paths) await this.one(path, () => work(path))
  }

  async one(path: MountPath, work: () => Promise<Step>): Promise<void> {
    this.#signal?.throwIfAborted()
    // stop here: requests for thousands of entries to an unreachable store would all fail
    if (this.away !== undefined) return
    try {
      const step = await work()
      if (step === 'changed') this.changed.add(path)
      if (step !== 'done') this.#failed.add(unitOf(path))
      if (step === 'differs') this.differs = true
      if (step === 'done') this.failures.delete(path)
    } catch (error) {
      if (this.#signal?.aborted === true && error === this.#signal.reason) throw error
      const known = typed(error, path)
      this.failures.set(path, known)
      this.#failed.add(unitOf(path))
      if (awayCodes.has(known.code)) this.away ??= known
    }
  }
}
