/** Limits the number of callers at a time. Further callers wait in a queue. */
export class Semaphore {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(size: number) {
    this.#free = size
  }

  /** Resolves when the caller may begin; `undefined` if the caller may begin now. Call {@link release} later. @throws `signal.reason` */
  acquire(signal?: AbortSignal): Promise<void> | undefined {
    signal?.throwIfAborted()
    if (this.#free === 0) return this.#wait(signal)
    this.#free -= 1
    return undefined
  }

  release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free += 1
    else next()
  }

  async run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    await this.acquire(signal)
    try {
      return await work()
    } finally {
      this.release()
    }
  }

  async #wait(signal: AbortSignal | undefined): Promise<void> {
    const turn = Promise.withResolvers<void>()
    const leave = (): void => {
      const place = this.#waiting.indexOf(turn.resolve)
      if (place !== -1) this.#waiting.splice(place, 1)
      turn.reject(signal?.reason)
    }
    this.#waiting.push(turn.resolve)
    signal?.addEventListener('abort', leave, { once: true })
    await turn.promise
    signal?.removeEventListener('abort', leave)
    if (signal?.aborted !== true) return
    // The waiter was woken and aborted in the same tick: the next waiter gets its turn.
    this.release()
    throw signal.reason
  }
}
