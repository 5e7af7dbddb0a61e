import type { Task } from '../client/requests.ts'

export function isBytes(data: unknown): data is Uint8Array {
  return data instanceof Uint8Array
}

/** Bytes of the first part buffer, which grows: a short body needs no large buffer. */
const firstBytes = 64 * 1024

/** Splits a body into parts of one size. The last part may be shorter. */
export class PartReader {
  readonly #iterator: AsyncIterator<Uint8Array>
  readonly #partBytes: number
  readonly #task: Pick<Task, 'until'>
  #rest: Uint8Array | undefined
  #ended = false
  /** Buffers of sent parts, for reuse. */
  readonly #free: Uint8Array[] = []

  constructor(data: AsyncIterable<Uint8Array>, partBytes: number, task: Pick<Task, 'until'>) {
    this.#iterator = data[Symbol.asyncIterator]()
    this.#partBytes = partBytes
    this.#task = task
  }

  /** True once the body is known to have ended, at the latest after a short part. */
  get ended(): boolean {
    return this.#ended
  }

  /** The next part. A short or empty part is the last one. */
  async next(): Promise<Uint8Array> {
    let part = this.#free.pop() ?? new Uint8Array(Math.min(firstBytes, this.#partBytes))
    let filled = 0
    while (filled < this.#partBytes) {
      const chunk = this.#rest ?? (await this.#chunk())
      this.#rest = undefined
      if (chunk === undefined) {
        this.#ended = true
        break
      }
      const piece = chunk.subarray(0, this.#partBytes - filled)
      // the source may reuse its chunk after the next request
      if (piece.length < chunk.length) this.#rest = chunk.subarray(piece.length)
      if (filled + piece.length > part.length) part = this.#grow(part, filled, filled + piece.length)
      part.set(piece, filled)
      filled += piece.length
    }
    return filled === part.length ? part : part.subarray(0, filled)
  }

  /** Returns the buffer of a sent part for reuse. */
  recycle(part: Uint8Array): void {
    if (part.length === this.#partBytes) this.#free.push(part)
  }

  /** Ends the body. The end is not awaited, because a hanging body would block the caller. */
  release(): void {
    this.#iterator.return?.().catch(() => undefined)
  }

  #grow(part: Uint8Array, filled: number, needed: number): Uint8Array {
    const size = needed <= firstBytes * 4 ? Math.max(needed, part.length * 2) : this.#partBytes
    const larger = new Uint8Array(Math.min(size, this.#partBytes))
    larger.set(part.subarray(0, filled))
    return larger
  }

  async #chunk(): Promise<Uint8Array | undefined> {
    const result = await this.#iterator.next()
    this.#task.until?.extend()
    return result.done === true ? undefined : result.value
  }
}
