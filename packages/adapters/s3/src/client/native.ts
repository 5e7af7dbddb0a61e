import type { IncomingHttpHeaders } from 'node:http'

interface NativeError {
  readonly name?: string
  readonly code?: string | number
  readonly Code?: string
  readonly Region?: string
  readonly message?: string
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number }
  readonly $response?: { readonly statusCode?: number; readonly headers?: IncomingHttpHeaders }
}

/** The HTTP status of an error; `undefined` without an answer. */
export function statusOf(error: unknown): number | undefined {
  const { $metadata, $response } = asNative(error)
  return $response?.statusCode ?? $metadata?.httpStatusCode
}

/** The S3 name of an error (`NoSuchKey`), or the code of a network error (`ECONNRESET`). */
export function nativeNameOf(error: unknown): string {
  const { Code, code, name } = asNative(error)
  // a DOMException has a number as its code
  return Code ?? (typeof code === 'string' ? code : undefined) ?? name ?? ''
}

export function rename(error: unknown, names: Readonly<Record<string, string>>): unknown {
  const name = Object.entries(names).find(([from]) => from === nativeNameOf(error))?.[1]
  if (name === undefined) return error
  const { message, $metadata, $response } = asNative(error)
  return Object.assign(new Error(message, { cause: error }), { name, $metadata, $response })
}

export function deniedPut(error: unknown): never {
  throw rename(error, { AccessDenied: 'DeniedPut' })
}

/** The right region, if the store names it. */
export function regionOf(error: unknown): string | undefined {
  const { Region, $response } = asNative(error)
  const region = Region ?? $response?.headers?.['x-amz-bucket-region']
  return typeof region === 'string' && /^[a-z0-9-]{1,40}$/u.test(region) ? region : undefined
}

export function nativeAttemptsOf(error: unknown): number {
  return asNative(error).$metadata?.attempts ?? 1
}

/** Milliseconds that the server asks to wait, from seconds or a date. */
export function retryAfterOf(error: unknown, now = Date.now()): number | undefined {
  const value = asNative(error).$response?.headers?.['retry-after']
  if (value === undefined) return undefined
  const seconds = Number(value)
  const milliseconds = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - now
  return Number.isFinite(milliseconds) ? Math.max(0, milliseconds) : undefined
}

/** True if no object is stored under the key. False for a missing bucket. */
export function isMissing(error: unknown): boolean {
  const name = nativeNameOf(error)
  return statusOf(error) === 404 && name !== 'NoSuchBucket' && name !== 'NoSuchUpload' && !isPage(error)
}

/** True if one object cannot be read, because of its rights or storage class. */
export function isOutOfReach(error: unknown): boolean {
  return ['AccessDenied', 'InvalidObjectState'].includes(nativeNameOf(error))
}

const expiredNames: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'TokenRefreshRequired',
  'InvalidToken',
])

export function isExpired(error: unknown): boolean {
  return expiredNames.has(nativeNameOf(error))
}

/** True for a refusal without a reason: an answer to HEAD has no body. */
export function isWordless(error: unknown): boolean {
  const status = statusOf(error)
  if (status !== 400 && status !== 401 && status !== 403) return false
  return /^(?:|\d+|Unknown|UnknownError|Forbidden|BadRequest|Error)$/u.test(nativeNameOf(error))
}

/** True for an answer that was never XML. A truncated answer has its own error. */
export function isOtherFormat(error: unknown): boolean {
  const { $response } = asNative(error)
  const { headers } = $response ?? {}
  return headers !== undefined && !/xml/iu.test(headers['content-type'] ?? '')
}

export function isPage(error: unknown): boolean {
  const type = asNative(error).$response?.headers?.['content-type']
  return type !== undefined && /^text\/html/iu.test(type)
}

/** Throws for a successful answer that is a web page without an ETag. A 204 passes, since OpenStack Swift gives it a type. */
export function assertNoPage(statusCode: number, headers: Readonly<Record<string, string>>): void {
  if (statusCode >= 300 || statusCode === 204 || headers['etag'] !== undefined) return
  const error = new Error('a page instead of an answer')
  error.name = 'NotS3'
  Object.defineProperty(error, '$response', { value: { statusCode, headers } })
  if (isPage(error)) throw error
}

export function isPreconditionFailure(error: unknown): boolean {
  return statusOf(error) === 412
}

function asNative(error: unknown): NativeError {
  return typeof error === 'object' && error !== null ? (error as NativeError) : {}
}
