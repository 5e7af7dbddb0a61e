import { setImmediate as nextTurn } from 'node:timers/promises'

/** Milliseconds of work in one turn of the event loop before the rest waits for the next one. */
const turnMs = 5

/** Spreads work over turns of the event loop, which all servers of a thread share: one client does not hold up others. */
class Pace {
  #began: number | undefined
  #next: Promise<void> | undefined

  /** Runs a piece of work in a turn that has time left, in the order of the calls. A piece is never interrupted. */
  async run<Result>(work: () => Result): Promise<Result> {
    while (this.#began !== undefined && performance.now() - this.#began >= turnMs) await this.#next
    this.#began ??= performance.now()
    this.#next ??= this.#end()
    return work()
  }

  /** Work of other kinds in the same turn counts too: the time is that since its first piece. */
  async #end(): Promise<void> {
    await nextTurn()
    this.#began = undefined
    this.#next = undefined
  }
}

export const pace = new Pace()
