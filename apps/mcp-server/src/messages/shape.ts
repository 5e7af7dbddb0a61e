import type { RequestId } from '@modelcontextprotocol/server'

import { MessageError } from './errors.ts'

/** Limit of nesting levels, because the checks of schemas are recursive. */
const maxDepth = 256

/** Limit of values in a message: 4 MiB of `[],[],…` contain more than a million objects. */
const maxValues = 20_000

/** Estimated bytes of a value without its text: a slot, a key and an object. */
const bytesOfValue = 128

/** Limit of bytes of an id or name. Longer ids and names are ignored. */
const maxToken = 16 * 1024

const [quote, comma, colon, openArray, backslash, closeArray, openObject, closeObject] = [
  34, 44, 58, 91, 92, 93, 123, 125,
]

/** Counts the values of a JSON text byte by byte, and finds the message's id. Keeps only one name or value in memory. */
export class Shape {
  /** The message's id; `null` without an id, as JSON-RPC requires in an answer. */
  id: RequestId | null = null
  #values = 1
  #depth = 0
  #deepest = 0
  #inText = false
  #isEscaped = false
  #key: unknown
  #token: number[] = []

  /** Bytes of memory of the values, without their texts. */
  get bytes(): number {
    return this.#values * bytesOfValue
  }

  add(bytes: Uint8Array): void {
    // copies the fields to local variables, since the loop uses them for each byte
    let [values, depth, deepest, inText, isEscaped] = [
      this.#values,
      this.#depth,
      this.#deepest,
      this.#inText,
      this.#isEscaped,
    ]
    for (let index = 0; index < bytes.length; index += 1) {
      const byte = bytes[index] as number
      if (depth === 1) this.#read(byte, inText)
      if (inText) {
        if (isEscaped) isEscaped = false
        else if (byte === backslash) isEscaped = true
        else if (byte === quote) inText = false
      } else if (byte === quote) inText = true
      else if (byte === comma) values += 1
      else if (byte === openArray || byte === openObject) {
        values += 1
        depth += 1
        if (depth > deepest) deepest = depth
      } else if (byte === closeArray || byte === closeObject) depth -= 1
    }
    ;[this.#values, this.#depth, this.#deepest, this.#inText, this.#isEscaped] = [
      values,
      depth,
      deepest,
      inText,
      isEscaped,
    ]
  }

  /** @throws MessageError 413 for too many values, 400 for too many levels */
  check(): void {
    if (this.#deepest > maxDepth) throw new MessageError(400, `a message nests at most ${maxDepth} levels`)
    if (this.#values > maxValues) {
      throw new MessageError(413, `a message has at most ${maxValues} values; pass large data as one text`)
    }
  }

  #read(byte: number, inText: boolean): void {
    if (inText || (byte !== colon && byte !== comma && byte !== closeObject)) {
      if (this.#token.length <= maxToken) this.#token.push(byte)
      return
    }
    const value = this.#value()
    this.#token = []
    if (byte === colon) this.#key = value
    else if (this.#key === 'id' && (typeof value === 'string' || Number.isInteger(value))) this.id = value as RequestId
  }

  /** The current text or number; `undefined` for objects and lists. */
  #value(): unknown {
    if (this.#token.length > maxToken) return undefined
    try {
      return JSON.parse(Buffer.from(this.#token).toString()) as unknown
    } catch {
      return undefined
    }
  }
}
