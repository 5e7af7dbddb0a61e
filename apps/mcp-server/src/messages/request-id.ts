import type { RequestId } from '@modelcontextprotocol/server'

/** Bytes of an id, and of a name beside it. A longer one is not looked at. */
const maxToken = 16 * 1024

const [quote, comma, colon, openArray, backslash, closeArray, openObject, closeObject] = [
  34, 44, 58, 91, 92, 93, 123, 125,
]

/** Finds the id of a message that is too large or too deep to be parsed, as its bytes go by. Holds one name or value at most. */
export class IdFinder {
  /** `null` while none was found, as JSON-RPC wants it in an answer to nobody. */
  id: RequestId | null = null
  #depth = 0
  #inText = false
  #isEscaped = false
  #key: unknown
  #token: number[] = []

  add(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (this.#depth === 1) this.#read(byte)
      if (this.#inText) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === backslash) this.#isEscaped = true
        else if (byte === quote) this.#inText = false
      } else if (byte === quote) this.#inText = true
      else if (byte === openObject || byte === openArray) this.#depth += 1
      else if (byte === closeObject || byte === closeArray) this.#depth -= 1
    }
  }

  #read(byte: number): void {
    const isMark = !this.#inText && (byte === colon || byte === comma || byte === closeObject)
    if (!isMark) {
      if (this.#token.length <= maxToken) this.#token.push(byte)
      return
    }
    const value = this.#value()
    this.#token = []
    if (byte === colon) this.#key = value
    else if (this.#key === 'id' && (typeof value === 'string' || Number.isInteger(value))) this.id = value as RequestId
  }

  /** `undefined` for a list or an object: only its first bracket was kept. */
  #value(): unknown {
    if (this.#token.length > maxToken) return undefined
    try {
      return JSON.parse(Buffer.from(this.#token).toString()) as unknown
    } catch {
      return undefined
    }
  }
}
