import type { WatchEvent } from '../contract/watching.ts'
import type { VirtualPath } from '../path/virtual-path.ts'

type Result = IteratorResult<WatchEvent, undefined>

interface Waiting {
  readonly resolve: (result: Result) => void
  readonly reject: (reason: unknown) => void
}

const done: Result = { done: true, value: undefined }

/** The waiting events of a watch. If there are too many, an `overflow` for each watched path replaces them. */
export class EventQueue implements AsyncIterableIterator<WatchEvent, undefined> {
  readonly #most: number
  readonly #onReturn: () => void
  #events: { readonly watched: VirtualPath; readonly event: WatchEvent }[] = []
  /** Watched paths with a waiting `overflow`. It covers further events. */
  readonly #covered = new Set<VirtualPath>()
  readonly #waiting: Waiting[] = []
  #isEnded = false
  #failure: { readonly reason: unknown } | undefined

  constructor(most: number, onReturn: () => void) {
    this.#most = most
    this.#onReturn = onReturn
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<Result> {
    const next = this.#events.shift()
    if (next !== undefined) {
      if (next.event.kind === 'overflow') this.#covered.delete(next.watched)
      return Promise.resolve({ done: false, value: next.event })
    }
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) return Promise.reject(failure.reason as Error)
    if (this.#isEnded) return Promise.resolve(done)
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  async return(): Promise<Result> {
    this.end()
    this.#events = []
    this.#failure = undefined
    this.#onReturn()
    return done
  }

  push(watched: VirtualPath, event: WatchEvent): void {
    if (this.#isEnded || this.#covered.has(watched)) return
    const waiting = this.#waiting.shift()
    if (waiting !== undefined) return waiting.resolve({ done: false, value: event })
    this.#events.push({ watched, event })
    if (event.kind === 'overflow') this.#cover(watched)
    if (this.#events.length > this.#most)
      for (const one of new Set(this.#events.map((it) => it.watched))) this.#cover(one)
  }

  /** Replaces the waiting events of a watched path by one `overflow`. */
  #cover(watched: VirtualPath): void {
    this.#events = this.#events.filter((one) => one.watched !== watched)
    this.#events.push({ watched, event: { kind: 'overflow', path: watched } }) // @defence events of a watch: replaces events that do not fit
    this.#covered.add(watched)
  }

  /** Ends the iterator after the waiting events. With a failure, drops them, and the next `next()` rejects. */
  end(failure?: { readonly reason: unknown }): void {
    if (this.#isEnded) return
    this.#isEnded = true
    const waiting = this.#waiting.splice(0)
    if (failure === undefined) for (const { resolve } of waiting) resolve(done)
    else {
      this.#events = []
      const [first, ...others] = waiting
      if (first === undefined) this.#failure = failure
      else first.reject(failure.reason)
      for (const { resolve } of others) resolve(done)
    }
  }
}
