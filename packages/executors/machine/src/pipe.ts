/** Passes chunks from a listener to one reader. The listener waits while much is unread. */
export class Pipe implements AsyncIterable<Uint8Array> {
  readonly #chunks: Uint8Array[] = []
  #size = 0
  #isOver = false
  #wake: (() => void) | undefined
  #waiting: (() => void)[] = []
  static readonly #most = 262_144

  readonly listen = (chunk: Uint8Array): Promise<void> | undefined => {
    if (this.#isOver) return undefined
    this.#chunks.push(Buffer.from(chunk))
    this.#size += chunk.length
    this.#wake?.()
    if (this.#size < Pipe.#most) return undefined
    return new Promise((resolve) => void this.#waiting.push(resolve))
  }

  end(): void {
    this.#isOver = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, undefined> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift()
        if (chunk !== undefined) {
          this.#size -= chunk.length
          if (this.#size < Pipe.#most) this.#goOn()
          yield chunk
        } else if (this.#isOver) return undefined
        else await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      // unread output must not stop the other streams
      this.#isOver = true
      this.#chunks.length = 0
      this.#goOn()
    }
  }

  #goOn(): void {
    for (const go of this.#waiting.splice(0)) go()
  }
}
