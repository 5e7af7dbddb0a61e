import type { RequestId } from '@modelcontextprotocol/server'

import { MessageError } from './errors.ts'
import { pace } from './pace.ts'
import { Shape } from './shape.ts'

const firstCapacity = 1024

export interface IncomingOptions {
  /** Limit of a message in bytes. */
  readonly most: number
  /** Called with a number of bytes before this memory is used. Throws a `MessageError` beyond the limit. */
  readonly take?: ((bytes: number) => void) | undefined
}

/** Collects a message in one buffer: a client may send single bytes, and each chunk would be an object. */
export class Incoming {
  readonly #options: IncomingOptions
  readonly #shape = new Shape()
  #bytes = Buffer.alloc(0)
  #size = 0
  #refusal: MessageError | undefined

  constructor(options: IncomingOptions) {
    this.#options = options
  }

  /** The reason to refuse the message: 413 too large, 400 too deep, or an error of `take`. Later bytes only serve to find the id. */
  get refusal(): MessageError | undefined {
    return this.#refusal
  }

  /** The message's id, if it has been received; else `null`. */
  get id(): RequestId | null {
    return this.#shape.id
  }

  get size(): number {
    return this.#size
  }

  /** Bytes of memory that the parsed message will use. A text may need two bytes for each received byte. */
  get held(): number {
    return 2 * this.#size + this.#shape.bytes
  }

  add(chunk: Uint8Array): void {
    this.#shape.add(chunk)
    if (this.#refusal !== undefined) return
    try {
      this.#shape.check()
      this.#keep(chunk)
    } catch (error) {
      if (!(error instanceof MessageError)) throw error
      this.#refusal = error
      this.#bytes = Buffer.alloc(0)
    }
  }

  #keep(chunk: Uint8Array): void {
    const { most, take } = this.#options
    const size = this.#size + chunk.length
    if (size > most) throw tooLarge(most)
    if (size > this.#bytes.length) {
      const capacity = Math.min(Math.max(size, 2 * this.#bytes.length, firstCapacity), most)
      take?.(capacity - this.#bytes.length)
      const grown = Buffer.allocUnsafe(capacity)
      grown.set(this.#bytes.subarray(0, this.#size))
      this.#bytes = grown
    }
    this.#bytes.set(chunk, this.#size)
    this.#size = size
  }

  /** Returns the message, and drops its bytes. @throws MessageError the refusal, or 400 for anything but JSON in UTF-8 */
  async parse(): Promise<unknown> {
    if (this.#refusal !== undefined) throw this.#refusal
    this.#options.take?.(this.#shape.bytes)
    const bytes = this.#bytes.subarray(0, this.#size)
    this.#bytes = Buffer.alloc(0)
    try {
      // decoding and parsing each take up to 30 ms for 4 MiB
      const text = await pace.run(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes))
      return await pace.run((): unknown => JSON.parse(text))
    } catch {
      throw new MessageError(400, 'the message is not JSON in UTF-8')
    }
  }
}

export function tooLarge(most: number): MessageError {
  return new MessageError(413, `a message has at most ${most} bytes`)
}
