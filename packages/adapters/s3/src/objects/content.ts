import type { Task } from '../client/requests.ts'

export function isBytes(data: unknown): data is Uint8Array {
  return data instanceof Uint8Array
}

/** Bytes of the first part, which grows: a short body needs no large one. */
const firstBytes = 64 * 1024

/** A body in our own parts of one size, but for the last. */
export class PartReader {
  readonly #iterator: AsyncIterator<Uint8Array>
  readonly #partBytes: number
  readonly #task: Pick<Task, 'until'>
  #rest: Uint8Array | undefined
  #ended = false
  /** Sent parts, to be filled again. */
  readonly #free: Uint8Array[] = []

  constructor(data: AsyncIterable<Uint8Array>, partBytes: number, task: Pick<Task, 'until'>) {
    this.#iterator = data[Symbol.asyncIterator]()
    this.#partBytes = partBytes
    this.#task = task
  }

  /** Known at the latest with a short part. */
  get ended(): boolean {
    return this.#ended
  }

  /** The next part; a short or empty one is the last. */
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

  /** Gives back a sent part, for the next one. */
  recycle(part: Uint8Array): void {
    if (part.length === this.#partBytes) this.#free.push(part)
  }

  /** Ends the body. Not awaited: a hanging body would hang. */
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
