import { setImmediate as nextTurn } from 'node:timers/promises'

/** Milliseconds of work in one turn of the event loop. Further work waits for the next turn. */
const turnMs = 5

/** Spreads work over turns of the shared event loop, so that one client does not block other clients. */
class Pace {
  #began: number | undefined
  #next: Promise<void> | undefined

  /** Runs work in order, in a turn that has time left. Work that has begun is never interrupted. */
  async run<Result>(work: () => Result): Promise<Result> {
    while (this.#began !== undefined && performance.now() - this.#began >= turnMs) await this.#next
    this.#began ??= performance.now()
    this.#next ??= this.#end()
    return work()
  }

  /** Ends a turn. Its time includes all other work of the process since its first piece of work. */
  async #end(): Promise<void> {
    await nextTurn()
    this.#began = undefined
    this.#next = undefined
  }
}

export const pace = new Pace()
