import { MessageError } from './errors.ts'

/** Levels of arrays and objects in each other: checks of schemas are recursive. */
const maxDepth = 256

/** Values in one message: 4 MiB of `[],[],…` are more than a million objects. */
const maxValues = 20_000

/** Bytes that a value holds besides its text: a slot, a key and its object. */
const bytesOfValue = 128

const [quote, comma, openArray, backslash, closeArray, openObject, closeObject] = [34, 44, 91, 92, 93, 123, 125]

/** Counts the values of a JSON text as its bytes come, before a parser makes objects of them. */
export class Shape {
  #values = 1
  #depth = 0
  #inText = false
  #isEscaped = false

  /** Bytes of memory that the values hold, without their texts. */
  get bytes(): number {
    return this.#values * bytesOfValue
  }

  /** @throws MessageError 413 for too many values, 400 for too many levels */
  add(bytes: Uint8Array): void {
    // locals: a field is read and written for each byte otherwise
    let [values, depth, inText, isEscaped] = [this.#values, this.#depth, this.#inText, this.#isEscaped]
    for (let index = 0; index < bytes.length; index += 1) {
      const byte = bytes[index]
      if (inText) {
        if (isEscaped) isEscaped = false
        else if (byte === backslash) isEscaped = true
        else if (byte === quote) inText = false
      } else if (byte === quote) inText = true
      else if (byte === comma) values += 1
      else if (byte === openArray || byte === openObject) {
        values += 1
        depth += 1
        if (depth > maxDepth) throw new MessageError(400, `a message nests at most ${maxDepth} levels`)
      } else if (byte === closeArray || byte === closeObject) depth -= 1
    }
    if (values > maxValues) {
      throw new MessageError(413, `a message has at most ${maxValues} values; pass large data as one text`)
    }
    ;[this.#values, this.#depth, this.#inText, this.#isEscaped] = [values, depth, inText, isEscaped]
  }
}
