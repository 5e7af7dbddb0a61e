import type { Version } from '@ws/core'
import { NoVersionError } from '../client/retry.ts'
import type { StartFacts } from '../dialect.ts'

/** The version of what has no ETag: directories. */
export const directoryVersion: Version = 'directory'

const etagPattern = /^[\w+/=.:-]{1,200}$/u

/** The version that an ETag is, in one form for all servers and all answers. */
export function versionOf(etag: string | undefined): Version {
  const bare = (etag ?? '').replace(/^W\//u, '').replace(/^"|"$/gu, '')
  return bare === '' || bare === 'absent' ? `etag:${bare}` : bare
}

/** The version in an answer that must have one. @throws `NoVersionError` for an answer that was emptied on its way. */
export function answeredVersion(etag: string | undefined): Version {
  if (etag === undefined) throw new NoVersionError('the answer has no ETag')
  return versionOf(etag)
}

/** A version as a header has it; `undefined` when no server ever gave it, so that no condition on it can hold. */
export function conditionOf(version: Version, { etags }: StartFacts): string | undefined {
  if (version === directoryVersion || !etagPattern.test(version)) return undefined
  return etags === 'quoted' ? `"${version}"` : version
}
