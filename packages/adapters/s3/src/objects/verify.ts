import { Crc64Nvme } from '@aws-sdk/checksums/crc'
import { createHash, type Hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { StartFacts } from '../dialect.ts'
import { versionOf } from '../keys/etag.ts'
import type { ObjectHeaders, ObjectState } from '../headers/stat.ts'

export const partBytesName = 'ws-part-bytes'

const encrypted = /^aws:kms/u

/** `right`: the bytes match. `wrong`: they differ. `doubtful`: they differ from another program's ETag, which may not be a checksum. */
export type Verdict = 'right' | 'wrong' | 'doubtful'

export interface Verifier {
  update(chunk: Uint8Array): void
  /** Call this once, after the last chunk. */
  verdict(): Promise<{ readonly verdict: Verdict; readonly digest: string }>
}

/** Chooses the cheapest check: the store's CRC-32, our CRC-32 in the metadata, an MD5 ETag, then CRC-64/NVME (slow in JavaScript). */
export function verifierFor({ headers, metadata }: ObjectState, dialect: StartFacts): Verifier | undefined {
  const { ChecksumCRC32, ChecksumCRC64NVME, ChecksumType } = headers
  const isWhole = ChecksumType !== 'COMPOSITE'
  const isOwn = metadata.writes.length > 0
  if (isWhole && ChecksumCRC32 !== undefined && !ChecksumCRC32.includes('-')) {
    return new Crc32Verifier(Buffer.from(ChecksumCRC32, 'base64').toString('hex'), 'wrong')
  }
  const md5 = Md5Verifier.for(headers, dialect, isOwn)
  // programs that replace bytes but keep metadata leave a wrong checksum
  if (metadata.crc32 !== undefined) {
    return new Crc32Verifier(metadata.crc32.toString(16).padStart(8, '0'), md5 === undefined ? 'wrong' : 'doubtful')
  }
  if (md5 !== undefined) return md5
  if (isWhole && ChecksumCRC64NVME !== undefined) return new Crc64Verifier(ChecksumCRC64NVME)
  return undefined
}

/** Decides a doubtful case from all bytes. An object of this adapter is right only if its ETag is the MD5 of the bytes. */
export function settleDoubt(bytes: Uint8Array, state: ObjectState, dialect: StartFacts): Verdict {
  if (state.metadata.writes.length === 0) return 'doubtful'
  const md5 = Md5Verifier.for(state.headers, dialect, true)
  md5?.update(bytes)
  return md5?.isRight() === true ? 'right' : 'wrong'
}

class Crc32Verifier implements Verifier {
  readonly #expected: string
  readonly #otherwise: Verdict
  #value = 0

  constructor(expected: string, otherwise: Verdict) {
    this.#expected = expected
    this.#otherwise = otherwise
  }

  update(chunk: Uint8Array): void {
    this.#value = crc32(chunk, this.#value)
  }

  async verdict(): Promise<{ verdict: Verdict; digest: string }> {
    const digest = this.#value.toString(16).padStart(8, '0')
    return { verdict: digest === this.#expected ? 'right' : this.#otherwise, digest }
  }
}

class Crc64Verifier implements Verifier {
  readonly #expected: string
  readonly #crc = new Crc64Nvme()

  constructor(expected: string) {
    this.#expected = expected
  }

  update(chunk: Uint8Array): void {
    this.#crc.update(chunk)
  }

  async verdict(): Promise<{ verdict: Verdict; digest: string }> {
    const digest = Buffer.from(await this.#crc.digest()).toString('base64')
    return { verdict: digest === this.#expected ? 'right' : 'wrong', digest }
  }
}

/** Checks the MD5 of the bytes, or of the parts' MD5s. The part size is in the metadata. */
class Md5Verifier implements Verifier {
  readonly #expected: string
  readonly #partBytes: number | undefined
  readonly #isOwn: boolean
  #hash: Hash = createHash('md5')
  #filled = 0
  readonly #parts: Buffer[] = []

  /** A verifier; `undefined` if the ETag is not a checksum. */
  static for(headers: ObjectHeaders, { md5Etags }: StartFacts, isOwn: boolean): Md5Verifier | undefined {
    const { ServerSideEncryption = '', SSECustomerAlgorithm, Metadata, ETag } = headers
    if (!md5Etags || SSECustomerAlgorithm !== undefined || encrypted.test(ServerSideEncryption)) return undefined
    const etag = versionOf(ETag)
    if (/^[0-9a-f]{32}$/u.test(etag)) return new Md5Verifier(etag, undefined, isOwn)
    const partBytes = Number(Metadata?.[partBytesName])
    if (!/^[0-9a-f]{32}-\d+$/u.test(etag) || !Number.isSafeInteger(partBytes) || partBytes <= 0) return undefined
    return new Md5Verifier(etag, partBytes, isOwn)
  }

  private constructor(expected: string, partBytes: number | undefined, isOwn: boolean) {
    this.#expected = expected
    this.#partBytes = partBytes
    this.#isOwn = isOwn
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

  isRight(): boolean {
    return this.#digest() === this.#expected
  }

  async verdict(): Promise<{ verdict: Verdict; digest: string }> {
    const digest = this.#digest()
    return { verdict: digest === this.#expected ? 'right' : this.#isOwn ? 'wrong' : 'doubtful', digest }
  }

  #digest(): string {
    if (this.#partBytes === undefined) return this.#hash.digest('hex')
    if (this.#filled > 0) this.#endPart()
    const { length } = this.#parts
    return `${createHash('md5').update(Buffer.concat(this.#parts)).digest('hex')}-${length}`
  }

  #endPart(): void {
    this.#parts.push(this.#hash.digest())
    this.#hash = createHash('md5')
    this.#filled = 0
  }
}
