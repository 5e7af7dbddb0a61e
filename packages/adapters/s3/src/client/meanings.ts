import type { ErrorCode } from '@ws/core'

export interface Meaning {
  readonly code: ErrorCode
  readonly reason: string
  readonly remedy?: string
}

function unreached(why: string, remedy?: string): Meaning {
  return { code: 'EBACKEND', reason: `cannot be reached: ${why}`, ...(remedy === undefined ? {} : { remedy }) }
}

const denied = unreached('the store denies access with these credentials', 'grant them the right, or use others')
const missing: Meaning = { code: 'ENOENT', reason: 'does not exist' }
const changed: Meaning = {
  code: 'ECONFLICT',
  reason: 'is not in the state that the condition asks for',
  remedy: 'read it again, then decide',
}
const full: Meaning = { code: 'ENOSPC', reason: 'does not fit: the store is full' }
const accessKey = unreached(
  'the store does not know the access key',
  'check `accessKeyId`, and that it belongs to this endpoint',
)
const secret = unreached(
  'the store does not accept the secret of the access key',
  'check `secretAccessKey`; else a proxy in between changes requests',
)
const expired = unreached(
  'the credentials have expired',
  'give credentials that are still valid; a function that gives them has been asked again',
)
export const region = unreached(
  'the bucket lies in another region than the configured one',
  'set `region` to that of the bucket',
)
export const noRegion = unreached(
  'no region is configured',
  'give the region, or set it up where the AWS SDK looks for it',
)
const endpoint = unreached(
  'nothing answers at the endpoint',
  'check the endpoint and the network, and `HTTPS_PROXY` where it is set',
)
const busy: Meaning = {
  code: 'EIO',
  reason: 'cannot be served now: the store is overloaded',
  remedy: 'try again later',
}

const hungUp: Meaning = {
  code: 'EIO',
  reason: 'could not be served: the connection was closed before an answer came',
  remedy: 'try again; if it stays so, check the endpoint: its port, and `http://` or `https://`',
}
const noName = unreached(
  'the name of the endpoint has no address',
  'check the endpoint; with `forcePathStyle: false`, the bucket is a part of that name',
)
const proxy = unreached(
  'the proxy that `HTTPS_PROXY` names does not connect to the endpoint',
  'check `HTTPS_PROXY`, or name the host of the endpoint in `NO_PROXY`',
)
const noTls = unreached(
  'the endpoint does not speak TLS',
  'write the endpoint with `http://`, or give the port that speaks TLS',
)
const noAuthority = unreached(
  'this machine does not know the authority that signed the endpoint’s certificate',
  'pass the certificate of the authority as `ca`',
)
const certificate = unreached(
  'the certificate of the endpoint is not valid now',
  'renew the certificate, or set the clock of this machine',
)
const clock = unreached(
  'the clock of this machine and that of the store are too far apart',
  'set the clock of this machine: it is corrected only where the store sends its own time',
)

export const locked: Meaning = {
  code: 'EBACKEND',
  reason: 'cannot be changed: the bucket protects its objects (Object Lock)',
  remedy: 'use a bucket without a default retention, or wait until the retention has ended',
}

export const noStore = unreached(
  'a page or a server that speaks no S3 answers at the endpoint',
  'check the endpoint, and the proxies in front of it',
)

/** Meanings by S3 error name, or by the code of a network error. */
export const byName: Readonly<Record<string, Meaning>> = {
  NoSuchBucket: {
    code: 'ENOWORKSPACE',
    reason: 'cannot be reached: the bucket does not exist',
    remedy: 'make the bucket, or correct its name; without virtual hosts, a store needs `forcePathStyle: true`',
  },
  NoSuchKey: missing,
  PreconditionFailed: changed,
  AccessDenied: denied,
  AllAccessDisabled: unreached('the bucket is disabled'),
  BucketInEndpoint: unreached(
    'the endpoint names a bucket already',
    'write the endpoint without the bucket, in its path and in its host name',
  ),
  SecondLevelDomainForbidden: unreached('the store wants the bucket in the host name', 'set `forcePathStyle: false`'),
  DeniedList: {
    code: 'EBACKEND',
    reason: 'cannot be listed: the store denies it to these credentials',
    remedy: 'grant them `s3:ListBucket` on the bucket, below the prefix, or use others',
  },
  DeniedPut: {
    code: 'EBACKEND',
    reason: 'cannot be written: the store denies it to these credentials',
    remedy: 'grant them `s3:PutObject` below the prefix, or use others',
  },
  ERR_PROXY_TUNNEL: proxy,
  InvalidAccessKeyId: accessKey,
  SignatureDoesNotMatch: secret,
  Unauthorized: accessKey,
  InvalidSecurity: accessKey,
  CredentialsProviderError: unreached(
    'no credentials were found',
    'give credentials, or set them up where the AWS SDK looks for them',
  ),
  ExpiredToken: expired,
  ExpiredTokenException: expired,
  TokenRefreshRequired: expired,
  InvalidToken: expired,
  CredentialsFunctionError: unreached(
    'the function that gives credentials failed',
    'mend the function that was given as `credentials`',
  ),
  InvalidBucketName: {
    code: 'EINVAL',
    reason: 'cannot be reached: the store does not take the name of the bucket',
    remedy: 'correct `bucket`: 3 to 63 lower-case letters, digits, dots and hyphens',
  },
  EndpointError: unreached(
    'endpoint, region and bucket give no address together',
    'check `endpoint`, `region` and `bucket`',
  ),
  NoSuchUpload: {
    code: 'EIO',
    reason: 'was not written: its upload was ended by another program',
    remedy: 'write it again, and check the lifecycle rules of the bucket',
  },
  InvalidPart: {
    code: 'EIO',
    reason: 'was not written: the store has other parts of it than were sent',
    remedy: 'write it again',
  },
  MetadataTooLarge: {
    code: 'EINVAL',
    reason: 'has more metadata than the store takes',
    remedy: 'give less `metadata`',
  },
  RequestTimeTooSkewed: clock,
  RequestExpired: clock,
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
  InsufficientCapacity: full,
  NotImplemented: { code: 'ENOTSUP', reason: 'cannot be done: the store does not offer it' },
  SlowDown: busy,
  TooManyRequests: busy,
  ServiceUnavailable: busy,
  ECONNRESET: hungUp,
  UND_ERR_SOCKET: hungUp,
  ENOTFOUND: noName,
  EAI_AGAIN: noName,
  EPROTO: noTls,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: noAuthority,
  UNABLE_TO_GET_ISSUER_CERT: noAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: noAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: noAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: noAuthority,
  CERT_HAS_EXPIRED: certificate,
  CERT_NOT_YET_VALID: certificate,
  ERR_TLS_CERT_ALTNAME_INVALID: unreached(
    'the certificate of the endpoint is for another name',
    'write the endpoint with the name in its certificate',
  ),
  HTTPParserError: noStore,
  ECONNREFUSED: endpoint,
  EHOSTUNREACH: endpoint,
  ENETUNREACH: endpoint,
}

/** Meanings by status, for errors without a name: an answer to HEAD has no body. */
export const byStatus: Readonly<Record<number, Meaning>> = {
  301: region,
  307: region,
  400: unreached(
    'the store does not accept the request; region, credentials or clock may be wrong',
    'check region and credentials',
  ),
  401: accessKey,
  403: denied,
  404: missing,
  412: changed,
  429: busy,
  503: busy,
  507: full,
}

export const damaged: Meaning = {
  code: 'EIO',
  reason: 'arrived damaged, again and again',
  remedy: 'check what lies between this machine and the store',
}
export const brokenListing: Meaning = {
  code: 'EIO',
  reason: 'could not be listed to its end: the store says that there is more, and does not say where it goes on',
  remedy: 'try again; if it stays so, check what lies between this machine and the store',
}
export const timedOut: Meaning = {
  code: 'ETIMEDOUT',
  reason: 'was not served in time',
  remedy: 'try again, or allow more time',
}
export const unknown: Meaning = {
  code: 'EIO',
  reason: 'could not be served by the store',
  remedy: 'try again; the native cause of this error says more to operators',
}
export const gateway: Meaning = {
  code: 'EIO',
  reason: 'could not be served: a gateway or proxy answers in place of the store',
  remedy: 'try again later; if it stays so, check the endpoint, and the proxies in front of it',
}
