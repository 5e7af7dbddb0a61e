import type { RequestId } from '@modelcontextprotocol/server'

import { MessageError } from './errors.ts'
import { pace } from './pace.ts'
import { Shape } from './shape.ts'

const firstCapacity = 1024

export interface IncomingOptions {
  /** Bytes of a message at most. */
  readonly most: number
  /** Hears of memory before it is taken, in bytes. Throws a `MessageError` where too much is in use. */
  readonly take?: ((bytes: number) => void) | undefined
}

/** Collects the bytes of one message in one buffer: a client may send a byte at a time, and each chunk is an object. */
export class Incoming {
  readonly #options: IncomingOptions
  readonly #shape = new Shape()
  #bytes = Buffer.alloc(0)
  #size = 0
  #refusal: MessageError | undefined

  constructor(options: IncomingOptions) {
    this.#options = options
  }

  /**
   * The reason why the message is not served: 413 if it is too large, 400 if it is too deep, the errors of `take`. Its
   * bytes are dropped, and only its id is looked for in later ones.
   */
  get refusal(): MessageError | undefined {
    return this.#refusal
  }

  /** The id of the message, as far as it has come; `null` where none was found. */
  get id(): RequestId | null {
    return this.#shape.id
  }

  get size(): number {
    return this.#size
  }

  /** Bytes of memory that the message takes once it is parsed. A text may take two bytes for each byte that came. */
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

  /** The message; the bytes are gone afterwards. @throws MessageError its refusal, and 400 for anything but JSON in UTF-8 */
  async parse(): Promise<unknown> {
    if (this.#refusal !== undefined) throw this.#refusal
    this.#options.take?.(this.#shape.bytes)
    const bytes = this.#bytes.subarray(0, this.#size)
    this.#bytes = Buffer.alloc(0)
    try {
      // each of the two takes up to 30 ms for 4 MiB
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
