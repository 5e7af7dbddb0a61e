import type { S3Dialect } from '../../dialect/dialect.ts'
import { versionOf } from '../../keys/etag.ts'
import type { ObjectHeaders } from '../stat.ts'
import { BackgroundDigest } from './background.ts'
import { type Digester, EtagDigest } from './etag-digest.ts'

/** The name of the metadata in which a file that was uploaded in parts tells their size. */
export const partBytesName = 'ws-part-bytes'

const encrypted = /^aws:kms/u

/** Checks the bytes of a whole object against its ETag, where that is a checksum. */
export class Verifier {
  readonly #expected: string
  readonly #digester: Digester

  /** `undefined` where nothing can be checked. A large object is hashed by a thread of its own, beside what brings it. */
  static for(headers: ObjectHeaders, { md5Etags }: S3Dialect): Verifier | undefined {
    const { ServerSideEncryption = '', SSECustomerAlgorithm, Metadata, ETag, ContentLength = 0 } = headers
    if (!md5Etags || SSECustomerAlgorithm !== undefined || encrypted.test(ServerSideEncryption)) return undefined
    const etag = versionOf(ETag)
    const of = (partBytes: number | undefined): Verifier =>
      new Verifier(etag, ContentLength >= largeBytes ? new BackgroundDigest(partBytes) : new EtagDigest(partBytes))
    if (/^[0-9a-f]{32}$/u.test(etag)) return of(undefined)
    const partBytes = Number(Metadata?.[partBytesName])
    if (!/^[0-9a-f]{32}-\d+$/u.test(etag) || !Number.isSafeInteger(partBytes) || partBytes <= 0) return undefined
    return of(partBytes)
  }

  private constructor(expected: string, digester: Digester) {
    this.#expected = expected
    this.#digester = digester
  }

  /** What it gives is to be awaited before the next chunk. */
  update(chunk: Uint8Array): Promise<void> | undefined {
    return this.#digester.update(chunk)
  }

  /** What came, in the form of an ETag. Once, at the end. */
  digest(): string | Promise<string> {
    return this.#digester.digest()
  }

  /** To be called where the digest is not asked for. */
  drop(): void {
    this.#digester.drop()
  }

  isExpected(digest: string): boolean {
    return digest === this.#expected
  }
}

/** Bytes from which a thread is worth its messages. */
const largeBytes = 4 * 1024 * 1024
