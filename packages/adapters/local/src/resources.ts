export interface Held {
  /** Releases everything; later calls reject with `reason`. */
  abandon(reason: Error): Promise<void>
}

/** The open streams and listings of an adapter, and its running operations. */
export class Resources {
  readonly #held = new Set<Held>()
  #running = 0
  #idle: (() => void) | undefined

  hold(held: Held): void {
    this.#held.add(held)
  }

  release(held: Held): void {
    this.#held.delete(held)
  }

  enter(): void {
    this.#running += 1
  }

  leave(): void {
    this.#running -= 1
    if (this.#running === 0) this.#idle?.()
  }

  /** Ends streams and listings, then waits for running operations. The caller must start no new operation. */
  async end(reason: Error): Promise<void> {
    const ended = [...this.#held].map((held) => held.abandon(reason))
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#idle = resolve))
    await Promise.allSettled(ended)
  }
}
