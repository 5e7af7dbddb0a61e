import { WorkspaceError } from '@ws/core'
import { checkOptions, hasMethods, option, s3Options } from '@ws/core/options'
import { type OptionShapes, refuseBeside } from '@ws/core/options'

import type { S3Dialect } from './dialect.ts'
import type { BucketOptions, R2AdapterOptions, S3AdapterOptions, WithConnection } from './options.ts'

const minPartBytes = 5 * 1024 * 1024
const maxPartBytes = 5 * 1024 ** 3

const bucket: OptionShapes<BucketOptions> = {
  bucket: s3Options.bucket,
  prefix: s3Options.prefix,
  readOnly: option.boolean,
  symlinks: option.oneOf('off', 'rclonelink'),
  dialect: option.options<S3Dialect>({
    etags: option.oneOf('quoted', 'bare'),
    conditionalPut: option.boolean,
    conditionalCopySource: option.boolean,
    conditionalCopyDestination: option.boolean,
    conditionalComplete: option.boolean,
    conditionalDelete: option.boolean,
    controlCharacters: option.boolean,
    normalisesKeys: option.boolean,
    md5Etags: option.boolean,
    checksums: option.boolean,
  }),
  contentType: option.of(
    'a media type, or a function that returns one',
    (value) => isText(value) || typeof value === 'function',
  ),
  cacheControl: option.text,
  metadata: option.of('names and values that are text, of at most 1,000 bytes', isMetadata),
  encryption: option.hidden(option.of("`{ algorithm: 'AES256' }` or `{ algorithm: 'aws:kms', keyId }`", isEncryption)),
  storageClass: option.text,
  copyPartBytes: option.integer(minPartBytes, maxPartBytes),
  partBytes: option.integer(minPartBytes, maxPartBytes),
  concurrency: option.integer(1, 256),
  attemptTimeout: option.duration,
  deadline: option.duration,
  onProblem: option.function,
  onProgress: option.function,
}

const client = option.of('an `S3Client`', (value) => typeof value === 'object' && hasMethods(value, 'send'))
const credentials = option.hidden(
  option.of(
    `${s3Options.connection.credentials.must}, or a function that gets them`,
    (value) => typeof value === 'function' || s3Options.isCredentials(value),
  ),
)
const ca = option.of('certificates in PEM', (value) => {
  const all: unknown[] = Array.isArray(value) ? value : [value]
  return all.length > 0 && all.every((one) => typeof one === 'string' && one.includes('-----BEGIN CERTIFICATE-----'))
})

const s3: OptionShapes<BucketOptions & Omit<WithConnection, 'client'> & { readonly client?: unknown }> = {
  ...bucket,
  ...s3Options.connection,
  credentials,
  client,
  ca,
}

const r2 = {
  ...bucket,
  client,
  accountId: option.of('an account id', (value) => typeof value === 'string' && /^[\w-]+$/u.test(value)),
  endpoint: s3Options.connection.endpoint,
  credentials,
  ca,
}

export function checkS3Options(options: S3AdapterOptions, operation: string): void {
  refuseCustomerKey(options, operation)
  checkOptions<object>(options, s3, { operation })
  refuseBeside(operation, options, 'client', [...Object.keys(s3Options.connection), 'ca'])
  refuseBucketInEndpoint(options, operation)
}

export function checkR2Options(options: R2AdapterOptions, operation: string): void {
  refuseCustomerKey(options, operation)
  checkOptions<object>(options, r2, { operation })
  refuseBeside(operation, options, 'client', ['accountId', 'endpoint', 'credentials', 'ca'])
  refuseBeside(operation, options, 'endpoint', ['accountId'])
  refuseBucketInEndpoint(options, operation)
  const { client: made, accountId, endpoint } = options as object as Readonly<Record<string, unknown>>
  if (made !== undefined || accountId !== undefined || endpoint !== undefined) return
  throw invalid(operation, '`accountId`, `endpoint` and `client` are missing', 'pass `accountId`, or one of the others')
}

/** Refuses a bucket in the endpoint, as in `https://host/bucket` or `https://bucket.s3.host`: every key would be wrong. */
function refuseBucketInEndpoint(options: object, operation: string): void {
  const { bucket, endpoint } = options as { readonly bucket: string; readonly endpoint?: string | undefined }
  if (endpoint === undefined) return
  const { pathname, hostname } = new URL(endpoint)
  const isInHost = hostname.startsWith(`${bucket}.`) && /(?:^|\.)(?:s3|r2)[.-]/u.test(hostname.slice(bucket.length + 1))
  if (!isInHost && pathname.replace(/\/$/u, '') !== `/${bucket}`) return
  throw invalid(
    operation,
    '`endpoint` must be the address of the store alone, and names the bucket too',
    `leave \`bucket\` out of the ${isInHost ? 'host name' : 'path'} of \`endpoint\``,
  )
}

/** Refuses SSE-C, in the spellings of the SDK, the AWS command line and rclone. */
function refuseCustomerKey(options: unknown, operation: string): void {
  const { encryption } = (options ?? {}) as Readonly<Record<string, unknown>>
  if (typeof encryption !== 'object' || encryption === null) return
  const { algorithm } = encryption as Readonly<Record<string, unknown>>
  const names = [...Object.keys(encryption), ...(typeof algorithm === 'string' ? [algorithm] : [])]
  if (!names.some((name) => /customer|sse-?c|^key(?:base64|md5)?$/iu.test(name))) return
  throw invalid(
    operation,
    '`encryption` cannot use a key that the caller holds (SSE-C): the store would need it with every request',
    "use `{ algorithm: 'aws:kms', keyId }`, or encrypt the content before it is written",
  )
}

function invalid(operation: string, reason: string, remedy: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, reason, remedy })
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== ''
}

function isMetadata(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const entries = Object.entries(value)
  const isHeld = ([name, text]: [string, unknown]): boolean =>
    /^[a-z0-9_-]+$/u.test(name) && typeof text === 'string' && /^[\u0020-\u007e]*$/u.test(text)
  return entries.every(isHeld) && entries.flat().join('').length <= 1_000
}

function isEncryption(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { algorithm, keyId, ...rest } = value as Readonly<Record<string, unknown>>
  if (Object.keys(rest).length > 0) return false
  if (algorithm === 'AES256') return keyId === undefined
  return algorithm === 'aws:kms' && (keyId === undefined || isText(keyId))
}
