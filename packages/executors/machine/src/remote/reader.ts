/** Limit in bytes of one line or list from a machine. */
const longest = 256 * 1024 * 1024

/** Reads a stream of bytes in pieces. Each method returns `undefined` if the stream ends before. */
export class Reader {
  readonly #source: AsyncIterator<Uint8Array>
  #held = Buffer.alloc(0)
  #isOver = false

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** Hands on everything before a marker. Returns false if the stream ends without the marker. */
  async until(marker: string, listen: (chunk: Uint8Array) => void | Promise<void>): Promise<boolean> {
    const word = Buffer.from(marker)
    for (;;) {
      const at = this.#held.indexOf(word)
      const ready = at === -1 ? this.#held.length - beginningOf(word, this.#held) : at
      if (ready > 0) await listen(this.#cut(ready))
      if (at !== -1) this.#cut(word.length)
      if (at !== -1) return true
      if (await this.#fill()) continue
      if (this.#held.length > 0) await listen(this.#cut(this.#held.length))
      return false
    }
  }

  async line(): Promise<string | undefined> {
    for (;;) {
      const at = this.#held.indexOf(10)
      if (at !== -1) return this.#cut(at + 1).toString('utf8', 0, at)
      if (this.#held.length > longest || !(await this.#fill())) return undefined
    }
  }

  async take(length: number): Promise<Buffer | undefined> {
    if (length > longest) return undefined // @defence a machine that announces lists without end: announces more than fits
    const chunks: Buffer[] = []
    let missing = length
    while (missing > 0) {
      if (this.#held.length === 0 && !(await this.#fill())) return undefined
      const chunk = this.#cut(Math.min(missing, this.#held.length))
      chunks.push(chunk)
      missing -= chunk.length
    }
    return Buffer.concat(chunks)
  }

  async *rest(): AsyncGenerator<Uint8Array, undefined> {
    do if (this.#held.length > 0) yield this.#cut(this.#held.length)
    while (await this.#fill())
    return undefined
  }

  #cut(length: number): Buffer {
    const cut = this.#held.subarray(0, length)
    this.#held = this.#held.subarray(length)
    return cut
  }

  async #fill(): Promise<boolean> {
    if (this.#isOver) return false
    const { done, value } = await this.#source.next()
    this.#isOver = done === true
    if (value !== undefined)
      this.#held = this.#held.length === 0 ? Buffer.from(value) : Buffer.concat([this.#held, value])
    return done !== true
  }
}

/** The number of last bytes that may be the beginning of a word. */
function beginningOf(word: Buffer, bytes: Buffer): number {
  for (let length = Math.min(word.length - 1, bytes.length); length > 0; length -= 1) {
    if (bytes.subarray(bytes.length - length).equals(word.subarray(0, length))) return length
  }
  return 0
}

/** Decodes base64 that arrives in pieces of any length. */
export async function* decodeBase64(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  let held = ''
  for await (const chunk of source) {
    held += Buffer.from(chunk).toString('latin1').replaceAll(/\s/gu, '')
    const whole = held.length - (held.length % 4)
    if (whole > 0) yield Buffer.from(held.slice(0, whole), 'base64')
    held = held.slice(whole)
  }
  return undefined
}
