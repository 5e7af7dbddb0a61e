import type { Entry, EntryIterator } from '../types.ts'
import { orAbort } from './wait.ts'

export interface IterationOptions<Item, Source extends AsyncIterator<Item>> {
  /** Checks the call and opens the driver's iteration, before the first item. */
  readonly open: () => Source
  /** Throws when the adapter was closed, or the signal was aborted, before each other item. */
  readonly check: () => void
  readonly signal?: AbortSignal | undefined
}

const end = { done: true, value: undefined } as const

/** A driver's iteration: opened by the first `next()`, ended by the signal and by the end of the adapter. */
export class Iteration<Item, Source extends AsyncIterator<Item> = AsyncIterator<Item>>
  implements AsyncIterableIterator<Item, undefined>
{
  readonly #options: IterationOptions<Item, Source>
  protected source: Source | undefined
  #isDone = false

  constructor(options: IterationOptions<Item, Source>) {
    this.#options = options
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Item, undefined>> {
    if (this.#isDone) return end
    const { signal } = this.#options
    try {
      if (this.source === undefined) this.source = this.#options.open()
      else this.#options.check()
      const next = this.source.next()
      const result = await (signal === undefined ? next : orAbort(next, signal))
      if (result.done !== true) return result
      this.#isDone = true
      return end
    } catch (error) {
      this.#isDone = true
      // not awaited: an iteration that hangs would hang its end too
      this.source?.return?.().then(undefined, () => undefined)
      throw error
    }
  }

  async return(): Promise<IteratorResult<Item, undefined>> {
    this.#isDone = true
    await this.source?.return?.()
    return end
  }

  /** Calls the driver as long as the iteration goes on. */
  protected ifOpen<Result>(ask: (source: Source) => Result): Result | undefined {
    return this.#isDone || this.source === undefined ? undefined : ask(this.source)
  }
}

/** A listing, which gives the entries that are at hand without a promise for each. */
export class Listing extends Iteration<Entry, EntryIterator> implements EntryIterator {
  nextNow(): Entry | undefined {
    return this.ifOpen((source) => source.nextNow?.())
  }
}
