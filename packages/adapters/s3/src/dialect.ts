/** A server's support of parts of S3, from `probeS3Dialect`. Missing parts are refused or replaced. */
export interface S3Dialect {
  /** ETags in conditions: with their quotes (`"…"`), or without. */
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
  readonly controlCharacters: boolean
  /** Keys come back normalised (NFC): two spellings are one object. */
  readonly normalisesKeys: boolean
  /** The ETag of an object in one piece is the MD5 of its bytes. */
  readonly md5Etags: boolean
  /** CRC-32s of parts are checked, and that of the object is kept. */
  readonly checksums: boolean
}

export type UploadFacts = Pick<S3Dialect, 'conditionalComplete' | 'checksums'>

export type StartFacts = Omit<S3Dialect, keyof UploadFacts>

/** The least support, enough for reading. */
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
