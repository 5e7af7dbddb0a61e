import type { Version } from '@ws/core'
import type { S3Dialect } from '../dialect/dialect.ts'

/** The version of what has no ETag: directories. */
export const directoryVersion: Version = 'directory'

/** What an ETag can be, without its quotes. */
const etagPattern = /^[\w+/=.:-]{1,200}$/u

/** The version that an ETag is, in one form for all servers and all answers. */
export function versionOf(etag: string | undefined): Version {
  const bare = (etag ?? '').replace(/^W\//u, '').replace(/^"|"$/gu, '')
  return bare === '' || bare === 'absent' ? `etag:${bare}` : bare
}

/** A version as a header has it; `undefined` when no server ever gave it, so that no condition on it can hold. */
export function conditionOf(version: Version, { etags }: S3Dialect): string | undefined {
  if (version === directoryVersion || !etagPattern.test(version)) return undefined
  return etags === 'quoted' ? `"${version}"` : version
}
