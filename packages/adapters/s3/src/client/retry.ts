import { isWorkspaceError } from '@ws/core'
import { isExpired, isOtherFormat, isPage, isWordless, nativeNameOf, retryAfterOf, statusOf } from './native.ts'

/** Names of temporary errors, with any status. */
const passing: ReadonlySet<string> = new Set([
  'ConditionalRequestConflict',
  'InternalError',
  'OperationAborted',
  'RequestTimeout',
  'ServiceUnavailable',
  'SlowDown',
  'Throttling',
  'ThrottlingException',
  'TooManyRequests',
])

/** Errors after which the SDK corrects its clock. A few retries suffice; a clock that jumps may need several. */
const clock: ReadonlySet<string> = new Set(['RequestTimeTooSkewed', 'RequestExpired'])

/** Error code of an unavailable resolver. The outage may be temporary or permanent. */
const nameless = 'EAI_AGAIN'

/** Network errors that mean that no server is reachable. */
const unreachable: ReadonlySet<string> = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH'])

const neverPassing: ReadonlySet<string> = new Set([
  'CredentialsProviderError',
  'CredentialsFunctionError',
  'CERT_NOT_YET_VALID',
  'EndpointError',
  'ENOTFOUND',
  'EPROTO',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_HAS_EXPIRED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_INVALID_URL',
  'ERR_INVALID_CHAR',
])

const networkNames = /^(?:E[A-Z]+|UND_ERR_[A-Z_]+|TimeoutError|AbortError|NetworkingError|ERR_STREAM_PREMATURE_CLOSE)$/u

/** The number of attempts for an error that repeats. */
export function attemptsFor(error: unknown): number {
  if (isWorkspaceError(error)) return 1 // our own error, which no further attempt would change
  if (error instanceof NoVersionError) return fewAttempts
  if (error instanceof DamagedBodyError) return manyAttempts
  const name = nativeNameOf(error)
  const status = statusOf(error)
  if (isExpired(error)) return 2
  if (clock.has(name)) return 4
  if (neverPassing.has(name) || name.startsWith('ERR_SSL') || name.startsWith('ERR_TLS')) return 1
  if (unreachable.has(name)) return 4
  // HEAD was refused without a reason, but the GET that should get the reason succeeded
  if (isWordless(error)) return fewAttempts
  if (name === nameless || (isPage(error) && (status ?? 0) < 500)) return fewAttempts
  if (passing.has(name)) return manyAttempts
  if (isBrokenAnswer(error) && isOtherFormat(error)) return fewAttempts
  if (status === undefined) return networkNames.test(name) || isBrokenAnswer(error) ? manyAttempts : 1
  if (status === 409) return name === 'BucketAlreadyOwnedByYou' ? 1 : manyAttempts
  if (status === 408 || status === 425 || status === 429) return manyAttempts
  if (isRefusedForGood(status)) return 1
  return status >= 500 || (status < 300 && isBrokenAnswer(error)) ? manyAttempts : 1
}

/** Takes under three seconds in all. Also used for a store that never answered, probably because of a wrong option. */
export const fewAttempts = 6

/** If one request in five fails, all attempts fail once in ten million. */
export const manyAttempts = 10

/** Whether the server may have acted. False after a status below 500 or a request to wait. */
export function mayHaveHappened(error: unknown): boolean {
  const status = statusOf(error)
  const name = nativeNameOf(error)
  if (status === undefined) return !isNeverSent(name)
  return (status >= 500 && !isRefusedForGood(status)) || status < 300
}

/** True if the operation is not offered, or the store is full: that lasts longer than any caller waits. */
function isRefusedForGood(status: number): boolean {
  return status === 501 || status === 505 || status === 507
}

function isNeverSent(name: string): boolean {
  return unreachable.has(name) || neverPassing.has(name) || name === nameless || /^ERR_(?:SSL|TLS)/u.test(name)
}

function isBrokenAnswer(error: unknown): boolean {
  return (
    error instanceof SyntaxError ||
    (error instanceof Error && /pars|deseriali[sz]|aborted|premature|socket|checksum mismatch/iu.test(error.message))
  )
}

/** Milliseconds before the next attempt: random up to a doubling limit, but at least the server's demand. Short after damaged bytes. */
export function delayBefore(attempt: number, error: unknown): number {
  const ceiling = Math.min(error instanceof DamagedBodyError ? 250 : 4_000, 50 * 2 ** (attempt - 1))
  return Math.max(Math.random() * ceiling, Math.min(retryAfterOf(error) ?? 0, 60_000))
}

/** The received bytes differ from the stored bytes: truncated, too long, or with another checksum. */
export class DamagedBodyError extends Error {
  /** Checksum of the bytes. It distinguishes damage from an ETag that is not a checksum. */
  readonly digest: string | undefined

  constructor(message: string, digest?: string) {
    super(message)
    this.name = 'DamagedBodyError'
    this.digest = digest
  }
}

export class BrokenListingError extends DamagedBodyError {}

/** An answer lacks a needed ETag, probably because the server speaks another protocol. */
export class NoVersionError extends DamagedBodyError {}
