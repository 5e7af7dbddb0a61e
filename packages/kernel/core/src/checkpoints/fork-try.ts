import type { Attempt } from '../calls/context.ts'
import { closedError } from '../calls/context.ts'
import type { RestoreResult } from '../contract/checkpoints.ts'
import type { ConnectionReport } from '../contract/executor.ts'
import type { MergeResult } from '../contract/forks.ts'
import type { HostsRule } from '../contract/policy.ts'
import type { Try } from '../contract/tries.ts'
import type { Workspace } from '../contract/workspace.ts'
import { over, type TryView } from './open-try.ts'

/** A temporary fork for a try. */
export interface TryFork {
  readonly fork: Workspace
  readonly viewOf: (attempt: Attempt) => TryView
  /** Merges the fork into the workspace. */
  readonly merge: (paths: readonly string[] | undefined) => Promise<MergeResult>
}

export interface ForkTryOptions extends TryFork {
  readonly line: string | undefined
  readonly hostRules: readonly HostsRule[]
  readonly decideWithin: number
  /** The open tries of the workspace, which drops them when it closes. */
  readonly tries: Set<Pick<Attempt, 'close'>>
}

/** A try in a fork, beside other work. */
export class ForkTry<Result> implements Attempt {
  readonly line: string | undefined
  readonly hostRules: readonly HostsRule[]
  readonly connections: ConnectionReport[] = []
  isRunning = true
  #isClosing = false
  readonly #options: ForkTryOptions
  readonly #view: TryView
  readonly #closed = Promise.withResolvers<never>()
  #timer: NodeJS.Timeout | undefined
  #end: { readonly how: string; readonly work: Promise<RestoreResult> } | undefined

  constructor(options: ForkTryOptions) {
    this.line = options.line
    this.hostRules = options.hostRules
    this.#options = options
    this.#view = options.viewOf(this)
    options.tries.add(this)
    this.#closed.promise.catch(() => undefined) // for a function that runs at the close
  }

  async run(work: (workspace: Workspace) => Promise<Result>): Promise<Try<Result>> {
    try {
      const result = await this.#perform(work)
      const { fork } = this.#options
      const { leftOut = [] } = await fork.checkpoint({ label: 'after trying' })
      return this.#show(result, { changes: await fork.changes(), leftOut })
    } catch (error) {
      if (this.#end === undefined) await this.#finish('drop', 'was dropped, because it failed', () => this.#drop([]))
      throw error
    }
  }

  async #perform(work: (workspace: Workspace) => Promise<Result>): Promise<Result> {
    try {
      return await Promise.race([work(this.#view.workspace), this.#closed.promise])
    } finally {
      this.isRunning = false
      await this.#view.end(!this.#isClosing)
    }
  }

  #show(result: Result, { changes, leftOut }: Pick<Try<Result>, 'changes' | 'leftOut'>): Try<Result> {
    const { fork, merge, decideWithin } = this.#options
    const drop = (how: string) => this.#finish('drop', how, () => this.#drop(changes))
    this.#timer = setTimeout(() => {
      // a failed drop leaves the try open: the next call of its caller reports the failure
      drop(`was dropped, because ${decideWithin} ms had passed`).catch(() => this.#timer?.refresh())
    }, decideWithin)
    this.#timer.unref?.()
    return {
      ...{ id: fork.forkedFrom ?? '', result, changes, leftOut, connections: this.connections },
      diff: (options) => fork.diff(options),
      keep: (paths) =>
        this.#finish('keep', 'was kept', async () => {
          const { merged, conflicts, kept, undo } = await merge(paths)
          const left = [...conflicts, ...kept]
          const known = new Set([...merged, ...left].map(({ path }) => path))
          await this.#drop([])
          return { restored: changes.filter(({ path }) => !known.has(path)), kept: left, undo }
        }),
      drop: () => drop('was dropped'),
      [Symbol.asyncDispose]: async () => {
        if (this.#end === undefined) await drop('was dropped')
        else await this.#end.work
      },
    }
  }

  async #finish(operation: string, how: string, work: () => Promise<RestoreResult>): Promise<RestoreResult> {
    if (this.#end !== undefined) throw over(operation, this.#end.how)
    const end = { how, work: work() }
    this.#end = end
    try {
      return await end.work
    } catch (error) {
      this.#end = undefined
      throw error
    }
  }

  async #drop(restored: RestoreResult['restored']): Promise<RestoreResult> {
    await this.#options.fork.close()
    clearTimeout(this.#timer)
    this.#options.tries.delete(this)
    return { restored, kept: [] }
  }

  /** Drops the try, because the workspace closes. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.isRunning = false
    this.#closed.reject(closedError('try'))
    await this.#view.end(false)
    await this.#end?.work.catch(() => undefined) // tried again below
    if (this.#end === undefined)
      await this.#finish('drop', 'was dropped, because the workspace was closed', () => this.#drop([]))
  }
}
