import type { Attempt, Context } from '../calls/context.ts'
import { closedError } from '../calls/context.ts'
import { virtualError } from '../mount/errors.ts'
import type { HeldCheckpoints, LeftOut, SaveOptions } from '../contract/checkpoint-engine.ts'
import type { RestoreResult } from '../contract/checkpoints.ts'
import type { ConnectionReport } from '../contract/executor.ts'
import type { HostsRule } from '../contract/policy.ts'
import type { Try } from '../contract/tries.ts'
import type { Workspace } from '../contract/workspace.ts'
import { parsePaths, translated } from './calls.ts'
import { changesOf } from './changes.ts'
import { diffText } from './diff-text.ts'
import type { CheckpointParts } from './door.ts'
import { isOneOf } from './kept-paths.ts'
import { longestLabel, within } from './select.ts'
import { takeBack } from './take-back.ts'
import { Sights } from './visible.ts'
import type { VisibleDifference } from './visible.ts'

/** The workspace of a try's function. */
export interface TryView {
  readonly workspace: Workspace
  /** Ends its commands and sessions. @param waits whether to wait for calls of the function too */
  end(waits: boolean): Promise<void>
}

export interface OpenTryOptions {
  readonly context: Context
  readonly parts: CheckpointParts
  readonly line: string | undefined
  readonly hostRules: readonly HostsRule[]
  readonly decideWithin: number
  readonly viewOf: (attempt: Attempt) => TryView
}

interface Both {
  readonly since: string
  readonly until: string
}

export class OpenTry<Result> implements Attempt {
  readonly line: string | undefined
  readonly hostRules: readonly HostsRule[]
  readonly connections: ConnectionReport[] = []
  isRunning = true
  readonly #options: OpenTryOptions
  readonly #view: TryView
  #held: HeldCheckpoints | undefined
  #leftOut: Try<Result>['leftOut'] = []
  #isClosing = false
  readonly #closed = Promise.withResolvers<never>()
  #timer: NodeJS.Timeout | undefined
  /** How the try ends, or has ended. */
  #end: { readonly how: string; readonly work: Promise<RestoreResult> } | undefined

  constructor(options: OpenTryOptions) {
    this.line = options.line
    this.hostRules = options.hostRules
    this.#options = options
    this.#view = options.viewOf(this)
    options.context.state.attempt = this
    this.#closed.promise.catch(() => undefined) // for a function that runs at the close
  }

  async run(work: (workspace: Workspace) => Promise<Result>, signal: AbortSignal | undefined): Promise<Try<Result>> {
    try {
      const before = await this.#save('before trying', { signal })
      const held = { since: before.checkpoint.id }
      this.#refuseClosed('try')
      await this.#step(({ attached }) => attached.hold(held))
      this.#held = held
      const result = await this.#perform(work)
      this.#refuseClosed('try')
      const after = await this.#save('after trying', { keep: held.since })
      const both = { ...held, until: after.checkpoint.id }
      await this.#step(({ attached }) => attached.hold(both))
      this.#held = both
      const found = await this.#compare(both)
      this.#refuseClosed('try')
      this.#leftOut = this.#named([...before.leftOut, ...after.leftOut])
      return this.#show(result, both, found)
    } catch (error) {
      // `close` takes the try back
      if (!this.#options.context.state.isClosed) await this.#fail()
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

  #compare({ since, until }: Both, signal?: AbortSignal): Promise<readonly VisibleDifference[]> {
    return this.#step(async ({ attached, mounts }) => {
      const found = await attached.compare(since, until, { signal })
      return new Sights(this.#options.context, mounts).visible(found)
    })
  }

  #named(leftOut: readonly LeftOut[]): Try<Result>['leftOut'] {
    const { context, parts } = this.#options
    const sights = new Sights(context, parts.mounts)
    const named = leftOut.flatMap(({ reason, ...place }) => {
      const path = sights.pathOf(place)
      return path === undefined ? [] : [[path, { path, reason }] as const]
    })
    return [...new Map(named).values()]
  }

  #show(result: Result, both: Both, found: readonly VisibleDifference[]): Try<Result> {
    const { context, decideWithin } = this.#options
    const changes = changesOf(found)
    const drop = (how: string) => this.#finish('drop', how, () => this.#takeBack())
    this.#timer = setTimeout(() => {
      // a failed drop leaves the try open, and is tried again: the next call of its caller reports the failure
      drop(`was dropped, because ${decideWithin} ms had passed`).catch(() => this.#timer?.refresh())
    }, decideWithin)
    this.#timer.unref?.()
    return {
      ...{ id: both.since, result, changes, leftOut: this.#leftOut },
      connections: this.connections,
      diff: async ({ path, signal } = {}) => {
        const paths = path === undefined ? undefined : parsePaths(context, 'diff', [path])
        // an engine knows the contents of its latest comparison
        const compared = await this.#compare(both, signal)
        return this.#step(({ attached }) => diffText(attached, within(paths, compared), signal))
      },
      keep: (paths) =>
        this.#finish('keep', 'was kept', async () => {
          if (paths === undefined) return this.#keepAll()
          return this.#takeBack(isOneOf(parsePaths(context, 'keep', paths), changes, found, 'keep'))
        }),
      drop: () => drop('was dropped'),
      [Symbol.asyncDispose]: async () => {
        if (this.#end === undefined) await drop('was dropped')
        else await this.#end.work
      },
    }
  }

  async #finish(operation: string, how: string, work: () => Promise<RestoreResult>): Promise<RestoreResult> {
    if (!this.#isClosing) this.#refuseClosed(operation)
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

  async #keepAll(): Promise<RestoreResult> {
    await this.#step(({ attached }) => attached.hold(undefined))
    this.#release()
    return { restored: [], kept: [] }
  }

  async #takeBack(keeps?: (path: VisibleDifference['virtual']) => boolean): Promise<RestoreResult> {
    const held = this.#held
    if (held === undefined) {
      this.#release()
      return { restored: [], kept: [] }
    }
    const { context } = this.#options
    try {
      const taken = await this.#step((parts) => takeBack(context, parts, { held, leftOut: this.#leftOut, keeps }))
      this.#release()
      return taken
    } catch (error) {
      this.#held = { since: held.since }
      throw error
    }
  }

  async #fail(): Promise<void> {
    await this.#finish('drop', 'was dropped, because it failed', () => this.#takeBack())
  }

  /** Takes the try back, because the workspace closes. Its commands have been killed. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#closed.reject(closedError('try'))
    this.isRunning = false
    await this.#view.end(false)
    await this.#end?.work.catch(() => undefined) // tried again below
    if (this.#end === undefined)
      await this.#finish('drop', 'was dropped, because the workspace was closed', () => this.#takeBack())
  }

  #refuseClosed(operation: string): void {
    if (this.#options.context.state.isClosed) throw closedError(operation)
  }

  #release(): void {
    clearTimeout(this.#timer)
    this.#held = undefined
    this.#options.context.state.attempt = undefined
  }

  async #save(label: string, options: Pick<SaveOptions, 'signal' | 'keep'>) {
    const text = `${label} ${this.line === undefined ? 'a function' : `\`${this.line}\``}`.slice(0, longestLabel)
    const saved = await this.#step(({ attached }) => attached.save({ ...options, label: text }))
    if (saved === undefined) throw new Error('only automatic checkpoints may be left out')
    return saved
  }

  #step<Value>(work: (parts: CheckpointParts) => Promise<Value>): Promise<Value> {
    return translated(this.#options.context, 'try', undefined, () => work(this.#options.parts))
  }
}

export function over(operation: string, how: string): Error {
  return virtualError({
    code: 'ECLOSED',
    operation,
    reason: `the try ${how}`,
    remedy: 'look at `checkpoints()`: a checkpoint was taken before and after it',
  })
}
