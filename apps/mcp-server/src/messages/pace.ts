import { setImmediate as nextTurn } from 'node:timers/promises'

/** Milliseconds of work in one turn of the event loop. Further work waits for the next turn. */
const turnMs = 5

/** Spreads work over turns of the shared event loop, so one client does not block others. */
class Pace {
  #began: number | undefined
  #next: Promise<void> | undefined

  /** Runs work in order, in a turn with time left. One piece of work is never interrupted. */
  async run<Result>(work: () => Result): Promise<Result> {
    while (this.#began !== undefined && performance.now() - this.#began >= turnMs) await this.#next
    this.#began ??= performance.now()
    this.#next ??= this.#end()
    return work()
  }

  /** Ends a turn. Other work in the same turn counts too: the time runs from the first piece. */
  async #end(): Promise<void> {
    await nextTurn()
    this.#began = undefined
    this.#next = undefined
  }
}

export const pace = new Pace()
