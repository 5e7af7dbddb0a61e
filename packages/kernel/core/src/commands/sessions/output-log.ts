import type { OutputText } from '../../contract/sessions.ts'
import { completeLength, strayLength } from '../../text/utf8.ts'

/** Keeps the last bytes of an output. Offsets count from the beginning of the output. */
export class OutputLog {
  readonly #limit: number
  #chunks: Uint8Array[] = []
  #start = 0
  #end = 0
  #ended = false

  /** @param limit bytes to keep; one more chunk may also be kept */
  constructor(limit: number) {
    this.#limit = limit
  }

  get end(): number {
    return this.#end
  }

  /** Appends a copy: the chunk may be a window on a large buffer, and its producer may reuse the buffer. */
  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return
    const kept = chunk.length > this.#limit ? chunk.subarray(chunk.length - this.#limit) : chunk
    this.#chunks.push(Uint8Array.from(kept))
    this.#end += chunk.length
    if (kept.length < chunk.length) {
      this.#chunks = this.#chunks.slice(-1)
      this.#start = this.#end - kept.length
    }
    this.#trim()
    if (this.#chunks.length > 1024) this.#chunks = [this.#bytes(this.#start)]
  }

  finish(): void {
    this.#ended = true
  }

  /** Drops all output so far, as if the output were too old. */
  clear(): void {
    this.#chunks = []
    this.#start = this.#end
  }

  /** Copies the log. Later changes of one log do not change the other. */
  copy(): OutputLog {
    const copy = new OutputLog(this.#limit)
    copy.#chunks = [...this.#chunks]
    copy.#start = this.#start
    copy.#end = this.#end
    return copy
  }

  bytes(since = 0): Uint8Array {
    return this.#bytes(Math.max(since, this.#start))
  }

  #bytes(since: number): Uint8Array {
    const whole = new Uint8Array(Math.max(0, this.#end - since))
    let at = this.#start
    for (const chunk of this.#chunks) {
      const skip = Math.max(0, since - at)
      if (skip < chunk.length) whole.set(chunk.subarray(skip), at + skip - since)
      at += chunk.length
    }
    return whole
  }

  read(since = 0): OutputText {
    if (since > this.#end) return { text: '', next: since, dropped: 0 }
    const from = Math.max(since, this.#start)
    let bytes = this.#bytes(Math.min(from, this.#end))
    const stray = from > since ? strayLength(bytes) : 0
    bytes = bytes.subarray(stray)
    if (!this.#ended) bytes = bytes.subarray(0, completeLength(bytes))
    const begin = Math.min(from, this.#end) + stray
    return { text: decode(bytes), next: begin + bytes.length, dropped: Math.max(0, begin - since) }
  }

  /** Cuts the first chunk. Dropping only whole chunks could keep up to twice the limit. */
  #trim(): void {
    while (this.#end - this.#start > this.#limit) {
      const [first] = this.#chunks
      if (first === undefined) return
      const excess = this.#end - this.#start - this.#limit
      if (first.length <= excess) {
        this.#chunks.shift()
        this.#start += first.length
      } else {
        this.#chunks[0] = first.subarray(excess)
        this.#start += excess
      }
    }
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const decode = (bytes: Uint8Array): string => decoder.decode(bytes)
