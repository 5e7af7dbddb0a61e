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

  next(): Promise<IteratorResult<Item, undefined>> {
    if (this.#isDone) return Promise.resolve(end)
    const { signal } = this.#options
    try {
      const next = this.#ready().next()
      return (signal === undefined ? next : orAbort(next, signal)).then(this.#onResult, this.#onFailure)
    } catch (error) {
      return Promise.reject(this.#failed(error))
    }
  }

  /** One that has ended is not left again: `Array.fromAsync` leaves what has failed, and it may hang. */
  async return(): Promise<IteratorResult<Item, undefined>> {
    if (this.#isDone) return end
    this.#isDone = true
    await this.source?.return?.()
    return end
  }

  readonly #onResult = (result: IteratorResult<Item, unknown>): IteratorResult<Item, undefined> => {
    if (result.done !== true) return result
    this.#isDone = true
    return end
  }

  readonly #onFailure = (error: unknown): never => {
    throw this.#failed(error)
  }

  #failed(error: unknown): unknown {
    this.#isDone = true
    // not awaited: an iteration that hangs would hang its end too
    this.source?.return?.().then(undefined, () => undefined)
    return error
  }

  #ready(): Source {
    const { source, check } = this.#options
    if (this.source === undefined && typeof source === 'function') return (this.source = source())
    check()
    return this.source as Source
  }

  /** Calls the driver as long as the iteration goes on; `next()` says why it does not. */
  protected ifOpen<Result>(ask: (source: Source) => Result): Result | undefined {
    if (this.#isDone || this.source === undefined) return undefined
    try {
      this.#options.check()
    } catch {
      return undefined
    }
    return ask(this.source)
  }
}

/** A listing, which gives the entries that are at hand without a promise for each. */
export class Listing extends Iteration<Entry, EntryIterator> implements EntryIterator {
  nextNow(): Entry | undefined {
    return this.ifOpen((source) => source.nextNow?.())
  }
}
