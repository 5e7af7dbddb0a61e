import { createHash, type Hash } from 'node:crypto'

/** What takes the bytes of an object and makes of them what its ETag is. */
export interface Digester {
  /** Takes a chunk, and leaves it as it is. What it gives is to be awaited before the next one. */
  update(chunk: Uint8Array): Promise<void> | undefined
  /** Once, at the end. */
  digest(): string | Promise<string>
  /** Nobody wants a digest any more. */
  drop(): void
}

/** An ETag that is a checksum: the MD5 of the bytes, or of the MD5s of parts of one size. */
export class EtagDigest implements Digester {
  readonly #partBytes: number | undefined
  #hash: Hash = createHash('md5')
  /** Bytes that are in `#hash`. */
  #filled = 0
  readonly #parts: Buffer[] = []

  constructor(partBytes: number | undefined) {
    this.#partBytes = partBytes
  }

  update(chunk: Uint8Array): undefined {
    if (this.#partBytes === undefined) {
      this.#hash.update(chunk)
      return
    }
    for (let start = 0; start < chunk.length; ) {
      const piece = chunk.subarray(start, start + this.#partBytes - this.#filled)
      this.#hash.update(piece)
      this.#filled += piece.length
      start += piece.length
      if (this.#filled === this.#partBytes) this.#endPart()
    }
  }

  digest(): string {
    if (this.#partBytes === undefined) return this.#hash.digest('hex')
    if (this.#filled > 0) this.#endPart()
    const { length } = this.#parts
    return `${createHash('md5').update(Buffer.concat(this.#parts)).digest('hex')}-${length}`
  }

  drop(): void {}

  #endPart(): void {
    this.#parts.push(this.#hash.digest())
    this.#hash = createHash('md5')
    this.#filled = 0
  }
}
