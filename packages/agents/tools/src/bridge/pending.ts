import { AsyncLocalStorage } from 'node:async_hooks'

import type { Approval, ApprovalRequest, ToolAnswer, Toolset } from '../types.ts'

/** A call whose changes are in place and wait for a decision. */
export interface PendingCall extends ApprovalRequest {
  /**
   * Decides as an answer of `approve` does. Resolves when the call has ended, or with the new request after a `grant`.
   * Later decisions change nothing.
   */
  decide(approval: Approval): Promise<PendingCall | undefined>
}

/** Limit of answers that wait for their framework. A framework does not ask for the answer of an aborted call. */
const mostCalls = 100

/**
 * Calls of a framework that asks for approval before a call, by the framework's ids. A call runs at once, and its answer waits.
 * The changes of one call wait at a time.
 */
export class PendingCalls {
  readonly #calls = new Map<string, Running>()
  readonly #current = new AsyncLocalStorage<Running>()
  #turn: Promise<unknown> = Promise.resolve()

  /** For the option `approve` of the tools. */
  readonly approve = (request: ApprovalRequest): Promise<Approval> => {
    const call = this.#current.getStore()
    if (call === undefined) throw new Error('the call did not run in `begin`')
    return call.ask(request)
  }

  /** The id of the call that waits for a decision. */
  get waiting(): string | undefined {
    return [...this.#calls].find(([, { pending }]) => pending !== undefined)?.[0]
  }

  get(id: string): PendingCall | undefined {
    return this.#calls.get(id)?.pending
  }

  has(id: string): boolean {
    return this.#calls.has(id)
  }

  /**
   * Runs a call until it has ended or waits for a decision. While another call waits, the call does not run: `busy`, and its answer says
   * so. Never rejects.
   */
  begin(id: string, run: () => Promise<ToolAnswer>): Promise<'waiting' | 'ended' | 'busy'> {
    const begun = this.#turn.then(async () => {
      const other = this.waiting
      const call = new Running()
      for (const old of [...this.#calls.keys()].slice(0, -mostCalls)) if (old !== other) this.#calls.delete(old)
      this.#calls.set(id, call)
      call.start(other === undefined ? () => this.#current.run(call, run) : async () => busyAnswer)
      await call.paused
      return other === undefined ? (call.pending === undefined ? 'ended' : 'waiting') : 'busy'
    })
    this.#turn = begun
    return begun
  }

  /**
   * Takes the answer of a call that its framework has approved. Keeps the changes that wait for a decision, except those of a call that
   * ran again after a `grant`. An unknown call, or one without an id, did not run, and its answer says so.
   */
  async take(id: string | undefined): Promise<ToolAnswer> {
    const call = id === undefined ? undefined : this.#calls.get(id)
    if (call !== undefined && call.asked > 1) await call.pending?.decide({ decision: 'drop' }) // @defence `await …` a call whose changes were not shown
    await call?.pending?.decide({ decision: 'keep' })
    if (id !== undefined) this.#calls.delete(id)
    return call?.answer ?? unseenAnswer // @defence `?? unseenAnswer` a call whose changes were not shown
  }

  /** Closes the toolset of the calls. Resolves when all calls have ended. */
  async close(toolset: Pick<Toolset, 'close'>): Promise<void> {
    await toolset.close()
    await Promise.allSettled([...this.#calls.values()].flatMap(({ answer }) => (answer === undefined ? [] : [answer])))
  }

  /** Takes the changes of a call back. */
  async drop(id: string): Promise<void> {
    await this.get(id)?.decide({ decision: 'drop' })
    this.#calls.delete(id)
  }
}

const busyAnswer: ToolAnswer = {
  isError: true,
  text: 'Error: The changes of another call wait for the decision of a person. Nothing was run; make this call again after the answer to that call.',
  data: { code: 'EBUSY' },
}

const unseenAnswer: ToolAnswer = {
  isError: true,
  text: 'Error: The changes of this call were not shown to a person, or no decision came in time. The files are as before the call; make the call again.',
  data: { code: 'EACCES', approval: 'failed' },
}

class Running {
  /** The number of requests. */
  asked = 0
  pending: PendingCall | undefined
  answer: Promise<ToolAnswer> | undefined
  #paused = Promise.withResolvers<void>()

  /** Resolves when the call has ended or waits for a decision. */
  get paused(): Promise<void> {
    return this.#paused.promise
  }

  start(run: () => Promise<ToolAnswer>): void {
    this.answer = run()
    const end = (): void => {
      this.pending = undefined
      this.#paused.resolve()
    }
    this.answer.then(end, end)
  }

  ask(request: ApprovalRequest): Promise<Approval> {
    const decision = Promise.withResolvers<Approval>()
    const call: PendingCall = {
      ...request,
      decide: async (approval) => {
        if (this.pending === call) {
          this.pending = undefined
          this.#paused = Promise.withResolvers()
          decision.resolve(approval)
        }
        await this.paused
        return this.pending
      },
    }
    this.asked += 1
    this.pending = call
    this.#paused.resolve()
    return decision.promise
  }
}
