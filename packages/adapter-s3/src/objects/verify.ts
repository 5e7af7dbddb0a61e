import { createHash, type Hash } from 'node:crypto'
import type { S3Dialect } from '../dialect/dialect.ts'
import { versionOf } from '../keys/etag.ts'
import type { ObjectHeaders } from './stat.ts'

/** The name of the metadata in which a file that was uploaded in parts tells their size. */
export const partBytesName = 'ws-part-bytes'

const encrypted = /^aws:kms/u

/**
 * Checks the bytes of a whole object against its ETag, where that is a checksum: the MD5 of the bytes, or of the MD5s of
 * its parts, whose size the metadata tells.
 */
export class Verifier {
  readonly #expected: string
  readonly #partBytes: number | undefined
  #hash: Hash = createHash('md5')
  /** Bytes that are in `#hash`. */
  #filled = 0
  readonly #parts: Buffer[] = []

  /** `undefined` where nothing can be checked. */
  static for(headers: ObjectHeaders, { md5Etags }: S3Dialect): Verifier | undefined {
    const { ServerSideEncryption = '', SSECustomerAlgorithm, Metadata, ETag } = headers
    if (!md5Etags || SSECustomerAlgorithm !== undefined || encrypted.test(ServerSideEncryption)) return undefined
    const etag = versionOf(ETag)
    if (/^[0-9a-f]{32}$/u.test(etag)) return new Verifier(etag, undefined)
    const partBytes = Number(Metadata?.[partBytesName])
    if (!/^[0-9a-f]{32}-\d+$/u.test(etag) || !Number.isSafeInteger(partBytes) || partBytes <= 0) return undefined
    return new Verifier(etag, partBytes)
  }

  private constructor(expected: string, partBytes: number | undefined) {
    this.#expected = expected
    this.#partBytes = partBytes
  }

  update(chunk: Uint8Array): void {
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

  /** What came, in the form of an ETag. Once, at the end. */
  digest(): string {
    if (this.#partBytes === undefined) return this.#hash.digest('hex')
    if (this.#filled > 0) this.#endPart()
    const { length } = this.#parts
    return `${createHash('md5').update(Buffer.concat(this.#parts)).digest('hex')}-${length}`
  }

  isExpected(digest: string): boolean {
    return digest === this.#expected
  }

  #endPart(): void {
    this.#parts.push(this.#hash.digest())
    this.#hash = createHash('md5')
    this.#filled = 0
  }
}
