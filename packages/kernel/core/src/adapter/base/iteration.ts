import type { MountPath } from '../../path/virtual-path.ts'
import type { AdapterOperation } from '../../contract/operations.ts'
import type { Entry } from '../../contract/file-types.ts'
import type { EntryIterator } from '../../contract/inner.ts'
import type { Admission } from './admission.ts'
import { orAbort } from './wait.ts'

export interface IterationOptions<Item, Source extends AsyncIterator<Item>> {
  readonly source: Source | (() => Source)
  readonly admission: Admission
  readonly operation: AdapterOperation
  readonly path: MountPath
  readonly signal: AbortSignal | undefined
}

const end = { done: true, value: undefined } as const

/** A driver's iteration: the first `next()` opens it; the signal and `close` end it. */
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

  /** Does not call a driver whose iteration has ended: `Array.fromAsync` calls `return` after a failure, and the driver may hang. */
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
    // not awaited: a hanging iteration would also hang in `return`
    this.source?.return?.().then(undefined, () => undefined)
    return error
  }

  #ready(): Source {
    const { source, admission, operation, path, signal } = this.#options
    if (this.source === undefined && typeof source === 'function') return (this.source = source())
    admission.goOn(operation, path, signal)
    return this.source as Source
  }

  protected get isOpen(): boolean {
    const { admission, signal } = this.#options
    return !this.#isDone && !admission.isClosed && signal?.aborted !== true
  }
}

export class Listing extends Iteration<Entry, EntryIterator> implements EntryIterator {
  override next(): Promise<IteratorResult<Entry, undefined>> {
    const value = this.nextNow()
    return value === undefined ? super.next() : Promise.resolve({ done: false, value })
  }

  nextNow(): Entry | undefined {
    const { source } = this
    return source?.nextNow !== undefined && this.isOpen ? source.nextNow() : undefined
  }
}
