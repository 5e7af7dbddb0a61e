/** A server's support for parts of S3, from `probeS3Dialect`. Operations that need a missing part are refused or done in another way. */
export interface S3Dialect {
  /** The form of ETags in conditions: with quotes (`"…"`), or without. */
  readonly etags: 'quoted' | 'bare'
  /** PutObject honours `If-Match` and `If-None-Match: *`. */
  readonly conditionalPut: boolean
  /** CopyObject honours `x-amz-copy-source-if-match`. */
  readonly conditionalCopySource: boolean
  /** CopyObject honours `If-Match` and `If-None-Match: *` on its destination. */
  readonly conditionalCopyDestination: boolean
  /** CompleteMultipartUpload honours `If-Match` and `If-None-Match: *`. */
  readonly conditionalComplete: boolean
  /** DeleteObject honours `If-Match`. */
  readonly conditionalDelete: boolean
  readonly controlCharacters: boolean
  /** The server normalises keys (NFC), so that two spellings are one object. */
  readonly normalisesKeys: boolean
  /** The ETag of an object in one piece is the MD5 of its bytes. */
  readonly md5Etags: boolean
  /** The server checks the CRC-32 of each part, and stores the CRC-32 of the object. */
  readonly checksums: boolean
}

export type UploadFacts = Pick<S3Dialect, 'conditionalComplete' | 'checksums'>

export type StartFacts = Omit<S3Dialect, keyof UploadFacts>

/** The smallest support, which is enough for reading. */
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
