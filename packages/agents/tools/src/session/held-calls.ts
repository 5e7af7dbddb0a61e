import type { Change, RestoreResult, Try } from '@ws/core'
import { WorkspaceError } from '@ws/core'
import { type Asked, granting } from '@ws/core/executor'

import type { JournalEntry, ToolAnswer } from '../types.ts'
import { PathQueue } from './queue.ts'
import type { Call } from './session.ts'

/** The calls whose changes wait for a decision. They run one after another. Calls that only read wait for no decision. */
export class HeldCalls {
  readonly #queue = new PathQueue()
  readonly #waiting = new Set<Call>()
  #decision: Promise<unknown> | undefined
  /** The call whose changes are in place, and wait for `keep` or `drop`. */
  open: Call | undefined
  /** Takes the changes of the open call back. */
  dispose: () => Promise<void> = async () => undefined

  /** @throws WorkspaceError `EBUSY` if the changes of a call wait for a decision */
  refuseOthers(): void {
    if (this.open === undefined) return
    const { tool, number } = this.open
    throw new WorkspaceError({
      code: 'EBUSY',
      operation: 'try',
      reason: `the changes of call ${number} (\`${tool}\`) wait for a decision, and nothing else may change files before`,
      remedy: 'wait for the decision: `keep()` or `drop()`',
    })
  }

  /** Runs the work when all earlier held calls have ended. */
  async inTurn<Result>(call: Call, work: () => Promise<Result>): Promise<Result> {
    if (this.#decision !== undefined) call.pass()
    this.#waiting.add(call)
    try {
      return await this.#queue.run(['held'], call.signal, work)
    } finally {
      this.#waiting.delete(call)
    }
  }

  /** Lets calls that only read overtake the waiting calls while a person decides. */
  async deciding<Result>(work: () => Promise<Result>): Promise<Result> {
    for (const call of this.#waiting) call.pass()
    const decision = work()
    this.#decision = decision
    try {
      return await decision
    } finally {
      this.#decision = undefined
    }
  }

  /** Resolves when no changes wait any more, after the toolset was closed. */
  async close(): Promise<void> {
    if (this.#decision !== undefined)
      await this.#decision.catch(() => undefined) // the answer of its call says how it ended
    else if (this.open !== undefined) await this.dispose()
  }
}

interface HoldOptions {
  /** Milliseconds beyond the time to decide. Default 0. */
  readonly graceMs?: number | undefined
  /** Places to which rules that ask do not apply. Default: none. */
  readonly granted?: readonly Asked[] | undefined
}

/** Runs a call in a try. The toolset's journal, versions and shell follow the end of the try. */
export async function hold(
  call: Call,
  work: (call: Call) => Promise<ToolAnswer>,
  { graceMs = 0, granted = [] }: HoldOptions = {},
): Promise<Try<ToolAnswer>> {
  const { session } = call
  const { shell, options } = session
  session.held.refuseOthers()
  const decideWithin = options.decideWithin + graceMs
  const before = shell?.copy()
  let held = call
  let attempt: Try<ToolAnswer>
  try {
    const given = { exclusive: true, network: true, decideWithin }
    attempt = await granting(session.workspace, granted).try((view) => work((held = call.heldIn(view))), given)
  } catch (error) {
    if (held !== call) Object.assign(shell ?? {}, before)
    throw error
  }
  const { changes } = attempt
  session.held.open = call
  let isSettled = false
  const settle = (restored: readonly Change[], isGone: (entry: JournalEntry) => boolean): void => {
    if (isSettled) return
    isSettled = true
    clearTimeout(timer)
    session.held.open = undefined
    for (const { path, from = path } of restored) session.forget(path, from)
    held.keepRecords(isGone)
  }
  const dropped = ({ kept }: Pick<RestoreResult, 'kept'>): void => {
    Object.assign(shell ?? {}, before) // @defence a call that was taken back, and leaves: takes back the state of a kept shell
    settle(changes, ({ change, path }) => kept.length === 0 || (change !== 'executed' && !covers(kept, path)))
  }
  const dispose = async (): Promise<void> => {
    await attempt[Symbol.asyncDispose]()
    if (!isSettled) dropped({ kept: [] })
  }
  // the try has a timer of its own, which also tries a failed drop again
  session.held.dispose = dispose
  const timer = setTimeout(() => void dispose().catch(() => timer.refresh()), decideWithin)
  timer.unref()
  return {
    ...attempt,
    async keep(paths) {
      const result = await attempt.keep(paths)
      settle(result.restored, ({ change, path }) => change !== 'executed' && covers(result.restored, path))
      return result
    },
    async drop() {
      const result = await attempt.drop()
      dropped(result)
      return result
    },
    [Symbol.asyncDispose]: dispose,
  }
}

function covers(places: readonly { readonly path: string }[], path: string): boolean {
  return places.some((place) => path === place.path || path.startsWith(`${place.path}/`))
}
