import type { Version } from '@ws/core'
import { NoVersionError } from '../client/retry.ts'
import type { StartFacts } from '../dialect.ts'

/** The version of every directory, which has no ETag. */
export const directoryVersion: Version = 'directory'

const etagPattern = /^[\w+/=.:-]{1,200}$/u

/** The version of an ETag, in one form for all servers. */
export function versionOf(etag: string | undefined): Version {
  const bare = (etag ?? '').replace(/^W\//u, '').replace(/^"|"$/gu, '')
  return bare === '' || bare === 'absent' ? `etag:${bare}` : bare
}

/** The version in an answer. @throws `NoVersionError` for an answer without an ETag */
export function answeredVersion(etag: string | undefined): Version {
  if (etag === undefined) throw new NoVersionError('the answer has no ETag')
  return versionOf(etag)
}

/** A version as a header value; `undefined` if no server can have returned that version. */
export function conditionOf(version: Version, { etags }: StartFacts): string | undefined {
  if (version === directoryVersion || !etagPattern.test(version)) return undefined
  return etags === 'quoted' ? `"${version}"` : version
}
