import type { S3Client } from '@aws-sdk/client-s3'
import type { S3Connection, S3Credentials } from '@ws/core/options'
import type { S3Dialect } from './dialect.ts'
import type { S3Problem, TransferProgress } from './reports.ts'

/** Credentials as the AWS SDK takes them: fixed, or a function, called anew when they expire or the store says so. */
export type S3CredentialsOption =
  | S3Credentials
  | (() => Promise<S3Credentials & { readonly expiration?: Date | undefined }>)

/** The store encrypts with its own key, or with a key of its key service. */
export type S3Encryption =
  | { readonly algorithm: 'AES256' }
  | { readonly algorithm: 'aws:kms'; readonly keyId?: string | undefined }

export interface BucketOptions {
  readonly bucket: string
  /** The adapter's `/` in the bucket, in whole segments: `threads/t1`. Nothing outside can be reached. Default: all of it. */
  readonly prefix?: string | undefined
  /** Every change is `EROFS`, and the server is asked nothing at the start. Default false. */
  readonly readOnly?: boolean | undefined
  /**
   * `rclonelink`: `name.rclonelink` holds the target of a link, as in rclone; a write looks up each directory above.
   * Default `off`: such objects are plain files.
   */
  readonly symlinks?: 'off' | 'rclonelink' | undefined
  /**
   * Known conditions of the server. Missing fields are found out at the start, with a dozen requests on temporary objects.
   * `probeS3Dialect` spares many adapters the same question.
   */
  readonly dialect?: Partial<S3Dialect> | undefined
  /** The media type of new files, or a function of the path. Default: by the name. A replaced file keeps its type. */
  readonly contentType?: string | ((path: string) => string | undefined) | undefined
  /** `Cache-Control` of new files. Default none. */
  readonly cacheControl?: string | undefined
  /** Metadata of new files, of at most 1,000 bytes. Default none. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Encryption in the store, of everything that is written. Default: the bucket's. */
  readonly encryption?: S3Encryption | undefined
  /** `STANDARD_IA` and the like, of everything that is written. Default: the store's. */
  readonly storageClass?: string | undefined
  /** Bytes that the store copies with one request: 5 MiB to 5 GiB. Larger objects are copied by parts of this size. Default 5 GiB. */
  readonly copyPartBytes?: number | undefined
  /** Bytes of one part of a large upload, all but the last: at least 5 MiB, at most 5 GiB. 10,000 make one file. Default 8 MiB. */
  readonly partBytes?: number | undefined
  /** Requests at a time in one operation on many objects (copy, delete, search). Default 16. */
  readonly concurrency?: number | undefined
  /** Milliseconds that one attempt may take until its answer begins, and until the next bytes of a body come. Default 30,000. */
  readonly attemptTimeout?: number | undefined
  /** Milliseconds for a whole operation, and for `close()`, at most 5,000; then `ETIMEDOUT`. Progress begins it anew. Default 120,000. */
  readonly deadline?: number | undefined
  /** Called for each entry in the bucket that a tree of files cannot show. It must not throw. */
  readonly onProblem?: ((problem: S3Problem) => void) | undefined
  /** Called for each object that a move, a copy or a recursive delete has finished. It must not throw. */
  readonly onProgress?: ((progress: TransferProgress) => void) | undefined
}

/** A client that the caller made and closes. Its own retries are best off (`maxAttempts: 1`): the adapter has its own. */
interface WithClient {
  readonly client: S3Client
}

/** Defaults: `endpoint` AWS; `region` and `credentials` those of the SDK; `forcePathStyle` true with an `endpoint`. */
export interface WithConnection extends S3Connection<S3CredentialsOption> {
  readonly client?: undefined
  /** Certificates, in PEM, of authorities that are trusted besides the usual ones. */
  readonly ca?: string | readonly string[] | undefined
}

export type S3AdapterOptions = BucketOptions & (WithClient | WithConnection)

/** R2 needs the account, or an endpoint of its own (a jurisdiction's, or a test server). It has one region, `auto`. */
export type R2AdapterOptions = BucketOptions &
  (
    | WithClient
    | (Pick<WithConnection, 'client' | 'credentials' | 'ca'> &
        (
          | {
              readonly accountId: string
              readonly endpoint?: undefined
            }
          | { readonly accountId?: undefined; readonly endpoint: string }
        ))
  )
