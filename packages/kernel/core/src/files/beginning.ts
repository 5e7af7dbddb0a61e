import { orAbort } from '../adapter/base/wait.ts'

/** Buffers the beginning of a stream to find out whether the stream is short. Reads nothing before a call of `whole` or `all`. */
export class Beginning {
  readonly #source: AsyncIterable<unknown>
  readonly #mostBytes: number
  readonly #badData: () => Error
  readonly #chunks: Uint8Array[] = []
  #size = 0
  #rest: AsyncIterator<unknown> | undefined
  #ended = false

  /** @param badData makes the error for a chunk that is not bytes */
  constructor(source: AsyncIterable<unknown>, mostBytes: number, badData: () => Error) {
    this.#source = source
    this.#mostBytes = mostBytes
    this.#badData = badData
  }

  /** Returns all bytes of a short stream, else `undefined`. May be called again. */
  async whole(signal: AbortSignal | undefined): Promise<Uint8Array | undefined> {
    while (!this.#ended && this.#size <= this.#mostBytes) {
      const next = this.#next()
      const chunk = await (signal === undefined ? next : orAbort(next, signal))
      if (chunk === undefined) continue
      this.#chunks.push(chunk.slice()) // the source may reuse its buffer
      this.#size += chunk.length
    }
    if (!this.#ended) return undefined
    const all = new Uint8Array(this.#size)
    let at = 0
    for (const chunk of this.#chunks) {
      all.set(chunk, at)
      at += chunk.length
    }
    return all
  }

  async *all(): AsyncGenerator<Uint8Array> {
    for (let chunk = this.#chunks.shift(); chunk !== undefined; chunk = this.#chunks.shift()) yield chunk
    while (!this.#ended) {
      const chunk = await this.#next()
      if (chunk !== undefined) yield chunk
    }
  }

  /** Tells the source to stop, without waiting: a busy source stops later. */
  close(): void {
    if (this.#ended || this.#rest === undefined) return
    this.#ended = true
    this.#rest.return?.().catch(() => undefined)
  }

  async #next(): Promise<Uint8Array | undefined> {
    this.#rest ??= this.#source[Symbol.asyncIterator]()
    const result = await this.#rest.next()
    if (result.done === true) {
      this.#ended = true
      return undefined
    }
    if (!(result.value instanceof Uint8Array)) throw this.#badData()
    return result.value
  }
}
