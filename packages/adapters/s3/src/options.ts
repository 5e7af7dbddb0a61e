import type { S3Client } from '@aws-sdk/client-s3'
import type { S3Connection, S3Credentials } from '@ws/core/options'
import type { S3Dialect } from './dialect.ts'
import type { S3Problem, TransferProgress } from './reports.ts'

/** Credentials as in the AWS SDK: fixed, or a function that is called again when they expire. */
export type S3CredentialsOption =
  | S3Credentials
  | (() => Promise<S3Credentials & { readonly expiration?: Date | undefined }>)

/** Encryption with the store's own key, or a key of its key service. */
export type S3Encryption =
  | { readonly algorithm: 'AES256' }
  | { readonly algorithm: 'aws:kms'; readonly keyId?: string | undefined }

export interface BucketOptions {
  readonly bucket: string
  /** The adapter's `/` in the bucket, in whole segments: `threads/t1`. Nothing outside can be reached. Default: the whole bucket. */
  readonly prefix?: string | undefined
  /** Every change is `EROFS`, and no request is sent at the start. Default false. */
  readonly readOnly?: boolean | undefined
  /** `rclonelink`: object `x.rclonelink` is the link `x`, as in rclone; writes check their parents for links. Default `off`: plain file. */
  readonly symlinks?: 'off' | 'rclonelink' | undefined
  /** Known conditions of the server, from `probeS3Dialect`. Missing fields cost a dozen requests at the start. */
  readonly dialect?: Partial<S3Dialect> | undefined
  /** The media type of new files, or a function of the path. Default: by the name. A replaced file keeps its media type. */
  readonly contentType?: string | ((path: string) => string | undefined) | undefined
  /** `Cache-Control` of new files. Default none. */
  readonly cacheControl?: string | undefined
  /** Metadata of new files, of at most 1,000 bytes. Default none. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Encryption of all writes. Default: the bucket's encryption. */
  readonly encryption?: S3Encryption | undefined
  /** Storage class of all writes, such as `STANDARD_IA`. Default: the store's class. */
  readonly storageClass?: string | undefined
  /** Bytes per copy request, 5 MiB to 5 GiB. The store copies larger objects in such parts. Default 5 GiB. */
  readonly copyPartBytes?: number | undefined
  /** Bytes of a part in a large upload, 5 MiB to 5 GiB; a file has at most 10,000 parts. Default 8 MiB. */
  readonly partBytes?: number | undefined
  /** Number of requests at once in one operation on many objects (copy, delete, search). Default 16. */
  readonly concurrency?: number | undefined
  /** Milliseconds until an attempt's answer begins, and between its bytes. Default 30,000. */
  readonly attemptTimeout?: number | undefined
  /** Milliseconds for a whole operation before `ETIMEDOUT`. Progress restarts the time; `close()` takes at most 5,000. Default 120,000. */
  readonly deadline?: number | undefined
  /** Called for each entry that a tree of files cannot show. The callback must not throw. */
  readonly onProblem?: ((problem: S3Problem) => void) | undefined
  /** Called for each finished object of a move, a copy or a recursive delete. The callback must not throw. */
  readonly onProgress?: ((progress: TransferProgress) => void) | undefined
}

/** The caller's client, which the caller closes. Set its `maxAttempts` to 1: the adapter retries itself. */
interface WithClient {
  readonly client: S3Client
}

/** Defaults: `endpoint` AWS; `region` and `credentials` as found by the SDK; `forcePathStyle` true with an `endpoint`. */
export interface WithConnection extends S3Connection<S3CredentialsOption> {
  readonly client?: undefined
  /** Further trusted authorities, in PEM. */
  readonly ca?: string | readonly string[] | undefined
}

export type S3AdapterOptions = BucketOptions & (WithClient | WithConnection)

/** R2 needs the account, or an endpoint (of a jurisdiction, or a test server). Its only region is `auto`. */
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
