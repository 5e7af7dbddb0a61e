import type { Context } from '../calls/context.ts'
import { closedError } from '../calls/context.ts'
import type { HeldCheckpoints, LeftOut, SaveOptions } from '../contract/checkpoint-engine.ts'
import type { RestoreResult } from '../contract/checkpoints.ts'
import type { Try } from '../contract/tries.ts'
import type { Workspace } from '../contract/workspace.ts'
import { parsePaths, translated } from './calls.ts'
import { changesOf } from './changes.ts'
import { diffText } from './diff-text.ts'
import type { CheckpointParts } from './door.ts'
import { isOneOf } from './kept-paths.ts'
import { OneTry, type OneTryOptions } from './one-try.ts'
import { longestLabel, within } from './select.ts'
import { takeBack } from './take-back.ts'
import { Sights } from './visible.ts'
import type { VisibleDifference } from './visible.ts'

export interface OpenTryOptions extends OneTryOptions {
  readonly context: Context
  readonly parts: CheckpointParts
}

interface Both {
  readonly since: string
  readonly until: string
}

export class OpenTry<Result> extends OneTry<Result> {
  readonly #context: Context
  readonly #parts: CheckpointParts
  #held: HeldCheckpoints | undefined
  #leftOut: Try<Result>['leftOut'] = []

  constructor(options: OpenTryOptions) {
    super(options)
    this.#context = options.context
    this.#parts = options.parts
    this.#context.state.attempt = this
  }

  async run(work: (workspace: Workspace) => Promise<Result>, signal: AbortSignal | undefined): Promise<Try<Result>> {
    try {
      const before = await this.#save('before trying', { signal })
      const held = { since: before.checkpoint.id }
      this.#refuseClosed('try')
      await this.#step(({ attached }) => attached.hold(held))
      this.#held = held
      const result = await this.perform(work)
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
      if (!this.#context.state.isClosed) await this.fail()
      throw error
    }
  }

  #compare({ since, until }: Both, signal?: AbortSignal): Promise<readonly VisibleDifference[]> {
    return this.#step(async ({ attached, mounts }) => {
      const found = await attached.compare(since, until, { signal })
      return new Sights(this.#context, mounts).visible(found)
    })
  }

  #named(leftOut: readonly LeftOut[]): Try<Result>['leftOut'] {
    const sights = new Sights(this.#context, this.#parts.mounts)
    const named = leftOut.flatMap(({ reason, ...place }) => {
      const path = sights.pathOf(place)
      return path === undefined ? [] : [[path, { path, reason }] as const]
    })
    return [...new Map(named).values()]
  }

  #show(result: Result, both: Both, found: readonly VisibleDifference[]): Try<Result> {
    const context = this.#context
    const changes = changesOf(found)
    const diff: Try<Result>['diff'] = async ({ path, signal } = {}) => {
      const paths = path === undefined ? undefined : parsePaths(context, 'diff', [path])
      // an engine knows the contents of its latest comparison
      const compared = await this.#compare(both, signal)
      return this.#step(({ attached }) => diffText(attached, within(paths, compared), signal))
    }
    return this.show({ id: both.since, result, changes, leftOut: this.#leftOut, diff }, async (paths) => {
      if (paths === undefined) return this.#keepAll()
      return this.#takeBack(isOneOf(parsePaths(context, 'keep', paths), changes, found, 'keep'))
    })
  }

  protected override finish(...[operation, ...end]: Parameters<OneTry<Result>['finish']>): Promise<RestoreResult> {
    if (!this.isClosing && this.#context.state.isClosed) return Promise.reject(closedError(operation))
    return super.finish(operation, ...end)
  }

  protected drop(): Promise<RestoreResult> {
    return this.#takeBack()
  }

  async #keepAll(): Promise<RestoreResult> {
    await this.#step(({ attached }) => attached.hold(undefined))
    this.release()
    return { restored: [], kept: [] }
  }

  async #takeBack(keeps?: (path: VisibleDifference['virtual']) => boolean): Promise<RestoreResult> {
    const held = this.#held
    if (held === undefined) {
      this.release()
      return { restored: [], kept: [] }
    }
    try {
      const taken = await this.#step((parts) => takeBack(this.#context, parts, { held, leftOut: this.#leftOut, keeps }))
      this.release()
      return taken
    } catch (error) {
      this.#held = { since: held.since }
      throw error
    }
  }

  #refuseClosed(operation: string): void {
    if (this.#context.state.isClosed) throw closedError(operation)
  }

  protected override release(): void {
    super.release()
    this.#held = undefined
    this.#context.state.attempt = undefined
  }

  async #save(label: string, options: Pick<SaveOptions, 'signal' | 'keep'>) {
    const text = `${label} ${this.line === undefined ? 'a function' : `\`${this.line}\``}`.slice(0, longestLabel)
    const saved = await this.#step(({ attached }) => attached.save({ ...options, label: text }))
    if (saved === undefined) throw new Error('only automatic checkpoints may be left out')
    return saved
  }

  #step<Value>(work: (parts: CheckpointParts) => Promise<Value>): Promise<Value> {
    return translated(this.#context, 'try', undefined, () => work(this.#parts))
  }
}
