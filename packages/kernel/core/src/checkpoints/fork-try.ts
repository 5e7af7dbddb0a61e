import type { Attempt } from '../calls/context.ts'
import type { Change, RestoreResult } from '../contract/checkpoints.ts'
import type { MergeResult } from '../contract/forks.ts'
import type { Try } from '../contract/tries.ts'
import type { Workspace } from '../contract/workspace.ts'
import { OneTry, type OneTryOptions, type TryView } from './one-try.ts'

/** A temporary fork for a try. */
export interface TryFork {
  readonly fork: Workspace
  readonly viewOf: (attempt: Attempt) => TryView
  /** Merges the fork into the workspace. */
  readonly merge: (paths: readonly string[] | undefined) => Promise<MergeResult>
}

export interface ForkTryOptions extends TryFork, OneTryOptions {
  /** The open tries of the workspace, which drops them when it closes. */
  readonly tries: Set<Pick<Attempt, 'close'>>
}

/** A try in a fork, beside other work. */
export class ForkTry<Result> extends OneTry<Result> {
  readonly #options: ForkTryOptions
  #changes: readonly Change[] = []

  constructor(options: ForkTryOptions) {
    super(options)
    this.#options = options
    options.tries.add(this)
  }

  async run(work: (workspace: Workspace) => Promise<Result>): Promise<Try<Result>> {
    try {
      const result = await this.perform(work)
      const { fork, merge } = this.#options
      const { leftOut = [] } = await fork.checkpoint({ label: 'after trying' })
      const changes = await fork.changes()
      this.#changes = changes
      const diff: Try<Result>['diff'] = (options) => fork.diff(options)
      return this.show({ id: fork.forkedFrom ?? '', result, changes, leftOut, diff }, async (paths) => {
        const { merged, conflicts, kept, undo } = await merge(paths)
        const left = [...conflicts, ...kept]
        const known = new Set([...merged, ...left].map(({ path }) => path))
        await this.#end()
        return { restored: changes.filter(({ path }) => !known.has(path)), kept: left, undo }
      })
    } catch (error) {
      await this.fail()
      throw error
    }
  }

  protected async drop(): Promise<RestoreResult> {
    await this.#end()
    return { restored: this.#changes, kept: [] }
  }

  async #end(): Promise<void> {
    await this.#options.fork.close()
    this.release()
    this.#options.tries.delete(this)
  }
}
