import type { RequestId } from '@modelcontextprotocol/server'

import { MessageError } from './errors.ts'

/** Levels of arrays and objects in each other: checks of schemas are recursive. */
const maxDepth = 256

/** Values in one message: 4 MiB of `[],[],…` are more than a million objects. */
const maxValues = 20_000

/** Bytes that a value holds besides its text: a slot, a key and its object. */
const bytesOfValue = 128

/** Bytes of an id, and of a name beside it. A longer one is not looked at. */
const maxToken = 16 * 1024

const [quote, comma, colon, openArray, backslash, closeArray, openObject, closeObject] = [
  34, 44, 58, 91, 92, 93, 123, 125,
]

/** Counts the values of a JSON text as its bytes go by, and finds the message's id. Holds one name or value at most. */
export class Shape {
  /** `null` while no id was found, as JSON-RPC requires it in an answer without an id. */
  id: RequestId | null = null
  #values = 1
  #depth = 0
  #deepest = 0
  #inText = false
  #isEscaped = false
  #key: unknown
  #token: number[] = []

  /** Bytes of memory that the values hold, without their texts. */
  get bytes(): number {
    return this.#values * bytesOfValue
  }

  add(bytes: Uint8Array): void {
    // locals: a field is read and written for each byte otherwise
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

  /** `undefined` for a value that is not a text or a number: the brackets of another one are in it. */
  #value(): unknown {
    if (this.#token.length > maxToken) return undefined
    try {
      return JSON.parse(Buffer.from(this.#token).toString()) as unknown
    } catch {
      return undefined
    }
  }
}
