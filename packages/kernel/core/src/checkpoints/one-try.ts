import type { Attempt } from '../calls/context.ts'
import { closedError } from '../calls/context.ts'
import { virtualError } from '../mount/errors.ts'
import type { RestoreResult } from '../contract/checkpoints.ts'
import type { ConnectionReport } from '../contract/executor.ts'
import type { HostsRule } from '../contract/policy.ts'
import type { Try } from '../contract/tries.ts'
import type { Workspace } from '../contract/workspace.ts'

/** The workspace of a try's function. */
export interface TryView {
  readonly workspace: Workspace
  /** Ends its commands and sessions. @param waits whether to wait for calls of the function too */
  end(waits: boolean): Promise<void>
}

export interface OneTryOptions {
  readonly line: string | undefined
  readonly hostRules: readonly HostsRule[]
  readonly decideWithin: number
  readonly viewOf: (attempt: Attempt) => TryView
}

/** The run of a try, its single end, and the time to decide. */
export abstract class OneTry<Result> implements Attempt {
  readonly line: string | undefined
  readonly hostRules: readonly HostsRule[]
  readonly connections: ConnectionReport[] = []
  isRunning = true
  protected isClosing = false
  readonly #view: TryView
  readonly #decideWithin: number
  readonly #closed = Promise.withResolvers<never>()
  #timer: NodeJS.Timeout | undefined
  /** How the try ends, or has ended. */
  #end: { readonly how: string; readonly work: Promise<RestoreResult> } | undefined

  constructor({ line, hostRules, decideWithin, viewOf }: OneTryOptions) {
    this.line = line
    this.hostRules = hostRules
    this.#decideWithin = decideWithin
    this.#view = viewOf(this)
    this.#closed.promise.catch(() => undefined) // for a function that runs at the close
  }

  protected abstract drop(): Promise<RestoreResult>

  protected async perform(work: (workspace: Workspace) => Promise<Result>): Promise<Result> {
    try {
      return await Promise.race([work(this.#view.workspace), this.#closed.promise])
    } finally {
      this.isRunning = false
      await this.#view.end(!this.isClosing)
    }
  }

  protected show(
    shown: Pick<Try<Result>, 'id' | 'result' | 'changes' | 'leftOut' | 'diff'>,
    keep: (paths: readonly string[] | undefined) => Promise<RestoreResult>,
  ): Try<Result> {
    const drop = (how: string) => this.finish('drop', how, () => this.drop())
    this.#timer = setTimeout(() => {
      // a failed drop leaves the try open, and is tried again: the next call of its caller reports the failure
      drop(`was dropped, because ${this.#decideWithin} ms had passed`).catch(() => this.#timer?.refresh())
    }, this.#decideWithin)
    this.#timer.unref?.()
    return {
      ...shown,
      connections: this.connections,
      keep: (paths) => this.finish('keep', 'was kept', () => keep(paths)),
      drop: () => drop('was dropped'),
      [Symbol.asyncDispose]: async () => {
        if (this.#end === undefined) await drop('was dropped')
        else await this.#end.work
      },
    }
  }

  protected async finish(operation: string, how: string, work: () => Promise<RestoreResult>): Promise<RestoreResult> {
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

  protected async fail(): Promise<void> {
    if (this.#end === undefined) await this.finish('drop', 'was dropped, because it failed', () => this.drop())
  }

  protected release(): void {
    clearTimeout(this.#timer)
  }

  /** Drops the try, because the workspace closes. Its commands have been killed. */
  async close(): Promise<void> {
    this.isClosing = true
    this.#closed.reject(closedError('try'))
    this.isRunning = false
    await this.#view.end(false)
    await this.#end?.work.catch(() => undefined) // tried again below
    if (this.#end === undefined)
      await this.finish('drop', 'was dropped, because the workspace was closed', () => this.drop())
  }
}

function over(operation: string, how: string): Error {
  return virtualError({
    code: 'ECLOSED',
    operation,
    reason: `the try ${how}`,
    remedy: 'look at `checkpoints()`: one was taken before the try',
  })
}
