import { hash } from 'node:crypto'

import { createAdapter } from './adapter.ts'
import { connect } from './client/connect.ts'
import { Deadline } from './client/deadline.ts'
import { Requests } from './client/requests.ts'
import type { S3Dialect } from './dialect.ts'
import { asking, factsFor } from './probe/known.ts'
import { DirectoryHints } from './store/hints.ts'
import { KeySpace } from './keys/key-space.ts'
import { WriteHistory } from './store/history.ts'
import type { S3StorageAdapter } from './objects/resolve.ts'
import { sweepUploads } from './objects/uploads.ts'
import type { Store, WriteHeaders } from './store/store.ts'
import { checkR2Options, checkS3Options } from './check-options.ts'
import type { R2AdapterOptions, S3AdapterOptions } from './options.ts'

const defaults = {
  partBytes: 8 * 1024 * 1024,
  copyPartBytes: 5 * 1024 ** 3,
  concurrency: 16,
  attemptTimeout: 30_000,
  deadline: 120_000,
} as const

const sweepTime = 2_000

/**
 * An adapter on a bucket, or a part of one. Asks the server which conditions it honours, unless a dialect is given.
 *
 * @throws WorkspaceError `ENOWORKSPACE` for a missing bucket, `EBACKEND` when the server refuses or is unreachable,
 * `EIO` or `ETIMEDOUT` when it fails to answer, `EINVAL` that names the option
 */
export async function createS3Adapter(options: S3AdapterOptions): Promise<S3StorageAdapter> {
  checkS3Options(options, 'createS3Adapter')
  return create(options, 's3')
}

/** {@link createS3Adapter} for Cloudflare's R2, with the account's endpoint and R2's region. */
export async function createR2Adapter(options: R2AdapterOptions): Promise<S3StorageAdapter> {
  checkR2Options(options, 'createR2Adapter')
  if (options.client !== undefined) return create(options, 'r2')
  const { accountId, endpoint = `https://${accountId}.r2.cloudflarestorage.com`, ...rest } = options
  return create({ ...rest, endpoint, region: 'auto', forcePathStyle: true }, 'r2')
}

/** Finds out which conditions a server honours, for `dialect` of other adapters. */
export async function probeS3Dialect(options: S3AdapterOptions): Promise<S3Dialect> {
  checkS3Options(options, 'probeS3Dialect')
  const { requests, end } = open(options)
  try {
    const known = asking(options)
    return { ...(await known.start(requests)), ...(await known.uploads(requests)) }
  } finally {
    await end()
  }
}

async function create(options: S3AdapterOptions, name: 's3' | 'r2'): Promise<S3StorageAdapter> {
  const {
    readOnly = false,
    symlinks = 'off',
    partBytes = defaults.partBytes,
    concurrency = defaults.concurrency,
    copyPartBytes = defaults.copyPartBytes,
  } = options
  const { requests, end } = open(options)
  try {
    const { dialect, uploadFacts } = await factsFor(requests, options)
    const links = symlinks === 'rclonelink'
    const keys = new KeySpace({
      prefix: options.prefix,
      links,
      controlCharacters: dialect.controlCharacters,
      normalised: dialect.normalisesKeys,
    })
    const { contentType, cacheControl, metadata } = options
    const store: Store = {
      bucket: options.bucket,
      keys,
      dialect,
      uploadFacts,
      requests,
      hints: new DirectoryHints(),
      history: new WriteHistory(),
      defaults: { contentType, cacheControl, metadata },
      extra: headersOf(options),
      copyPartBytes,
      links,
      partBytes,
      concurrency,
      report: options.onProblem ?? (() => undefined),
      progress: options.onProgress ?? (() => undefined),
    }
    if (!readOnly) await sweep(store)
    return createAdapter({ name, readOnly, release: end, store, identity: identityOf(options) })
  } catch (error) {
    await end()
    throw error
  }
}

/** Ends abandoned uploads within a short time. The next start continues. */
async function sweep(store: Store): Promise<void> {
  const until = new Deadline(sweepTime)
  await sweepUploads(store, { operation: 'createS3Adapter', path: '/', until }).catch(() => undefined)
}

/** An identity, equal for adapters on one part of a bucket. `undefined` for a caller's client, whose address is unknown. */
function identityOf({ bucket, prefix = '', ...options }: S3AdapterOptions): string | undefined {
  if (options.client !== undefined) return undefined
  const { endpoint = '', region = '' } = options
  return hash('sha256', JSON.stringify([endpoint, endpoint === '' ? region : '', bucket, prefix]), 'base64url')
}

function headersOf({ encryption, storageClass }: S3AdapterOptions): WriteHeaders {
  const keyId = encryption?.algorithm === 'aws:kms' ? encryption.keyId : undefined
  return {
    ...(encryption === undefined ? {} : { ServerSideEncryption: encryption.algorithm }),
    ...(keyId === undefined ? {} : { SSEKMSKeyId: keyId }),
    // the SDK's list of storage classes may be old
    ...(storageClass === undefined ? {} : { StorageClass: storageClass as NonNullable<WriteHeaders['StorageClass']> }),
  }
}

function open(options: S3AdapterOptions): { readonly requests: Requests; readonly end: () => Promise<void> } {
  const {
    attemptTimeout = defaults.attemptTimeout,
    deadline = defaults.deadline,
    concurrency = defaults.concurrency,
  } = options
  const own = options.client === undefined ? connect(options, Math.max(64, concurrency * 2)) : undefined
  const client = own ?? options.client
  if (client === undefined) throw new TypeError('a client is missing')
  const requests = new Requests(client, { attemptTimeout, deadline, bucket: options.bucket })
  const end = async (): Promise<void> => {
    await requests.close()
    own?.destroy()
  }
  return { requests, end }
}
