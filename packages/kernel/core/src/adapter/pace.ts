/** Milliseconds of work before other work gets its turn. */
const turn = 5

/** Gives the event loop its turn in long work, and ends the work on an abort. */
export class Pace {
  readonly #signal: AbortSignal | undefined
  #since = performance.now()

  constructor(signal?: AbortSignal) {
    this.#signal = signal
  }

  get isDue(): boolean {
    return performance.now() - this.#since > turn
  }

  async rest(): Promise<void> {
    await new Promise<void>((resolve) => {
      // Browsers have only `setTimeout`, which in Node takes at least a millisecond.
      if (typeof setImmediate === 'function') setImmediate(resolve)
      else setTimeout(resolve, 0)
    })
    this.#signal?.throwIfAborted()
    this.#since = performance.now()
  }
}
