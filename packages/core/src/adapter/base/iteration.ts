import type { Entry, EntryIterator } from '../types.ts'
import { orAbort } from './wait.ts'

export interface IterationOptions<Item, Source extends AsyncIterator<Item>> {
  /** The driver's iteration; or checks the call and opens it, before the first item. */
  readonly source: Source | (() => Source)
  /** Throws when the adapter was closed, or the signal was aborted, before each item of what is open. */
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
    if (typeof options.source !== 'function') this.source = options.source
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Item, undefined>> {
    if (this.#isDone) return end
    const { signal } = this.#options
    try {
      const source = this.#ready()
      const next = source.next()
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

  #ready(): Source {
    const { source, check } = this.#options
    if (this.source === undefined && typeof source === 'function') return (this.source = source())
    check()
    return this.source as Source
  }

  /** Calls the driver as long as the iteration goes on. */
  protected ifOpen<Result>(ask: (source: Source) => Result): Result | undefined {
    if (this.#isDone || this.source === undefined || this.#options.signal?.aborted === true) return undefined
    return ask(this.source)
  }
}

/** A listing, which gives the entries that are at hand without a promise for each. */
export class Listing extends Iteration<Entry, EntryIterator> implements EntryIterator {
  nextNow(): Entry | undefined {
    return this.ifOpen((source) => source.nextNow?.())
  }
}
