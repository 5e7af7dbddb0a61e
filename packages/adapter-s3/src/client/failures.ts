import { isWorkspaceError, LinkSignal, WorkspaceError, type ErrorCode } from '@ws/core'
import { nativeNameOf, statusOf } from './native.ts'
import { DamagedBodyError } from './retry.ts'

interface Meaning {
  readonly code: ErrorCode
  readonly reason: string
  readonly remedy?: string
}

const credentials: Meaning = {
  code: 'EBACKEND',
  reason: 'cannot be reached: the store does not accept the credentials',
  remedy: 'check access key and secret',
}
const expired: Meaning = {
  code: 'EBACKEND',
  reason: 'cannot be reached: the credentials have expired',
  remedy: 'give credentials that are still valid, or a function that gets them anew',
}
const region: Meaning = {
  code: 'EBACKEND',
  reason: 'cannot be reached: the bucket lies in another region than the one that is configured',
  remedy: 'set the region of the bucket',
}
const noRegion: Meaning = {
  code: 'EBACKEND',
  reason: 'cannot be reached: no region is configured',
  remedy: 'give the region, or set it up where the AWS SDK looks for it',
}
const endpoint: Meaning = {
  code: 'EBACKEND',
  reason: 'cannot be reached: nothing answers at the endpoint',
  remedy: 'check the endpoint and the network',
}
const busy: Meaning = {
  code: 'EIO',
  reason: 'cannot be served now: the store is overloaded',
  remedy: 'try again later',
}

/** By the S3 name of the error, or the code of a network one. */
const byName: Readonly<Record<string, Meaning>> = {
  NoSuchBucket: {
    code: 'ENOWORKSPACE',
    reason: 'cannot be reached: the bucket does not exist',
    remedy: 'make the bucket, or correct its name',
  },
  NoSuchKey: { code: 'ENOENT', reason: 'does not exist' },
  PreconditionFailed: {
    code: 'ECONFLICT',
    reason: 'is not in the state that the condition asks for',
    remedy: 'read it again, then decide',
  },
  AccessDenied: {
    code: 'EBACKEND',
    reason: 'cannot be reached: the store denies access with these credentials',
    remedy: 'grant them the right, or use others',
  },
  AllAccessDisabled: { code: 'EBACKEND', reason: 'cannot be reached: the bucket is disabled' },
  InvalidAccessKeyId: credentials,
  SignatureDoesNotMatch: credentials,
  Unauthorized: credentials,
  InvalidSecurity: credentials,
  CredentialsProviderError: {
    code: 'EBACKEND',
    reason: 'cannot be reached: no credentials were found',
    remedy: 'give credentials, or set them up where the AWS SDK looks for them',
  },
  ExpiredToken: expired,
  ExpiredTokenException: expired,
  TokenRefreshRequired: expired,
  InvalidToken: expired,
  RequestTimeTooSkewed: {
    code: 'EBACKEND',
    reason: 'cannot be reached: the clock of this machine and that of the store are too far apart',
    remedy: 'set the clock',
  },
  RequestExpired: {
    code: 'EBACKEND',
    reason: 'cannot be reached: the clock of this machine and that of the store are too far apart',
    remedy: 'set the clock',
  },
  PermanentRedirect: region,
  TemporaryRedirect: region,
  AuthorizationHeaderMalformed: region,
  IllegalLocationConstraintException: region,
  InvalidObjectState: {
    code: 'EBACKEND',
    reason: 'is archived, and cannot be read as it is',
    remedy: 'restore it in the store first',
  },
  EntityTooLarge: { code: 'EFBIG', reason: 'is larger than the store allows' },
  KeyTooLongError: { code: 'ENAMETOOLONG', reason: 'is longer than the store allows' },
  QuotaExceeded: { code: 'EDQUOT', reason: 'does not fit into what the store grants' },
  InsufficientCapacity: { code: 'ENOSPC', reason: 'does not fit: the store is full' },
  NotImplemented: { code: 'ENOTSUP', reason: 'cannot be done: the store does not offer it' },
  SlowDown: busy,
  TooManyRequests: busy,
  ServiceUnavailable: busy,
  ENOTFOUND: endpoint,
  ECONNREFUSED: endpoint,
  EHOSTUNREACH: endpoint,
  ENETUNREACH: endpoint,
}

/** By the status, for answers without a name: HEAD has no body to say more. */
const byStatus: Readonly<Record<number, Meaning>> = {
  301: region,
  307: region,
  400: {
    code: 'EBACKEND',
    reason: 'cannot be reached: the store does not accept the request; region, credentials or clock may be wrong',
    remedy: 'check region and credentials',
  },
  401: credentials,
  403: {
    code: 'EBACKEND',
    reason: 'cannot be reached: the store denies access with these credentials',
    remedy: 'check the credentials, and what they may do',
  },
  404: { code: 'ENOENT', reason: 'does not exist' },
  412: {
    code: 'ECONFLICT',
    reason: 'is not in the state that the condition asks for',
    remedy: 'read it again, then decide',
  },
  429: busy,
  503: busy,
  507: { code: 'ENOSPC', reason: 'does not fit: the store is full' },
}

const damaged: Meaning = {
  code: 'EIO',
  reason: 'arrived damaged, again and again',
  remedy: 'check what lies between this machine and the store',
}
const timedOut: Meaning = {
  code: 'ETIMEDOUT',
  reason: 'was not served in time',
  remedy: 'try again, or allow more time',
}
const unknown: Meaning = { code: 'EIO', reason: 'could not be served by the store' }
const noStore: Meaning = {
  code: 'EBACKEND',
  reason: 'cannot be reached: what answers at the endpoint is no S3 server',
  remedy: 'check the endpoint',
}

/** An error of a body that the caller gave: it reaches the caller as it is. */
export class BodyFailure extends Error {
  readonly failure: unknown

  constructor(error: unknown) {
    super('the body failed')
    this.failure = error
  }
}

/**
 * The error as the contract has it: what has a meaning gets its code, a reason without a key or a secret, and the SDK's own
 * error as the native cause only. Aborts, links in the way and errors of bodies stay what they are.
 */
export function translate(error: unknown, operation: string, path: string, signal?: AbortSignal): unknown {
  if (error instanceof BodyFailure) return error.failure
  if (signal?.aborted === true) return signal.reason
  if (isWorkspaceError(error) || error instanceof LinkSignal) return error
  return new WorkspaceError({ ...meaningOf(error), operation, path, native: error })
}

function meaningOf(error: unknown): Meaning {
  if (error instanceof DamagedBodyError) return damaged
  const name = nativeNameOf(error)
  const status = statusOf(error)
  const known = Object.hasOwn(byName, name) ? byName[name] : undefined
  if (known !== undefined) return known
  // the SDK has no other name for it
  if (error instanceof Error && error.message === 'Region is missing') return noRegion
  if (name === 'TimeoutError' || name === 'ETIMEDOUT') return timedOut
  if (error instanceof Error && /deseriali[sz]|pars/iu.test(error.message)) return noStore
  return (status === undefined ? undefined : byStatus[status]) ?? unknown
}
