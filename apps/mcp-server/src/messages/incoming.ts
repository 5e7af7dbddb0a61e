import { setImmediate as nextTurn } from 'node:timers/promises'

import { MessageError } from './errors.ts'
import { Shape } from './shape.ts'

const firstCapacity = 1024
const largeBytes = 1024 * 1024

export interface IncomingOptions {
  /** Bytes of a message at most. */
  readonly most: number
  /** Hears of memory before it is taken, in bytes. Throws where too much is in use. */
  readonly take?: ((bytes: number) => void) | undefined
}

/**
 * Collects the bytes of one message. They are copied into one buffer: each chunk is an object of its own, and a client may
 * send a byte at a time.
 */
export class Incoming {
  readonly #options: IncomingOptions
  readonly #shape = new Shape()
  #bytes = Buffer.alloc(0)
  #size = 0

  constructor(options: IncomingOptions) {
    this.#options = options
  }

  /** The bytes so far. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#size)
  }

  get size(): number {
    return this.#size
  }

  /** Bytes of memory that the message takes once it is parsed. A text may take two bytes for each byte that came. */
  get held(): number {
    return 2 * this.#size + this.#shape.bytes
  }

  /** @throws MessageError 413 for a message that is too large, 400 for one that is too deep, and the errors of `take` */
  add(chunk: Uint8Array): void {
    const { most, take } = this.#options
    const size = this.#size + chunk.length
    if (size > most) throw tooLarge(most)
    this.#shape.add(chunk)
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

  /**
   * The message. The bytes are gone afterwards.
   *
   * @throws MessageError 400 for anything but JSON in UTF-8
   */
  async parse(): Promise<unknown> {
    this.#options.take?.(this.#shape.bytes)
    const bytes = this.#bytes.subarray(0, this.#size)
    this.#bytes = Buffer.alloc(0)
    try {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
      // each of the two takes up to 30 ms for 4 MiB: others have a turn before and after
      if (bytes.length > largeBytes) await nextTurn()
      const value: unknown = JSON.parse(text)
      if (bytes.length > largeBytes) await nextTurn()
      return value
    } catch {
      throw new MessageError(400, 'the message is not JSON in UTF-8')
    }
  }
}

export function tooLarge(most: number): MessageError {
  return new MessageError(413, `a message has at most ${most} bytes`)
}
