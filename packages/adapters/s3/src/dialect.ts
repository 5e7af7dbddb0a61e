/** A server's support of parts of S3, found out by `probeS3Dialect`: what it lacks is refused or done another way. */
export interface S3Dialect {
  /** How a server wants ETags in conditions: as it gives them (`"…"`), or without the quotes. */
  readonly etags: 'quoted' | 'bare'
  /** `If-Match` and `If-None-Match: *` of PutObject hold. */
  readonly conditionalPut: boolean
  /** `x-amz-copy-source-if-match` of CopyObject holds. */
  readonly conditionalCopySource: boolean
  /** `If-Match` and `If-None-Match: *` of CopyObject, on its destination, hold. */
  readonly conditionalCopyDestination: boolean
  /** `If-Match` and `If-None-Match: *` of CompleteMultipartUpload hold. */
  readonly conditionalComplete: boolean
  /** `If-Match` of DeleteObject holds. */
  readonly conditionalDelete: boolean
  /** Keys may hold control characters. */
  readonly controlCharacters: boolean
  /** Keys come back normalised (NFC), so that two spellings of a name are one object. */
  readonly normalisesKeys: boolean
  /** The ETag of an object that was put in one piece is the MD5 of its bytes: bytes read can be checked. */
  readonly md5Etags: boolean
  /** CRC-32s that are sent with the parts of an upload are checked, and that of the whole object is kept. */
  readonly checksums: boolean
}

export type UploadFacts = Pick<S3Dialect, 'conditionalComplete' | 'checksums'>

export type StartFacts = Omit<S3Dialect, keyof UploadFacts>

/** The least that can be expected; for adapters that only read, which need no more. */
export const leastDialect: S3Dialect = Object.freeze({
  etags: 'quoted',
  conditionalPut: false,
  conditionalCopySource: false,
  conditionalCopyDestination: false,
  conditionalComplete: false,
  conditionalDelete: false,
  controlCharacters: true,
  normalisesKeys: false,
  md5Etags: false,
  checksums: false,
})
