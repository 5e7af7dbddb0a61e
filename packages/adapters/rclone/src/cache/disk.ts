import { lstatSync } from 'node:fs'

import { type WorkspaceError, isWorkspaceError } from '@ws/core'
import { shortages } from '@ws/core/executor'

import { failure } from '../errors.ts'

const unknown: shortages.Shortage = {
  code: 'EIO',
  reason: 'its disk reports an error',
  remedy: 'check the disk, and that this user can read and write the directory for the cache',
}

/** The error for a fault of the cache's disk. */
export function cacheError(native: unknown): WorkspaceError {
  if (isWorkspaceError(native)) return native
  const { code, reason, remedy } = shortages.of(native) ?? unknown
  return failure(code, `the cache of the mount cannot be used: ${reason}`, {
    operation: 'cache',
    remedy: `${remedy}; files that are not uploaded yet stay there`,
    native,
  })
}

/** Handles an error of a look at the cache: `undefined` if there is no such entry. @throws WorkspaceError for any other error */
export function unlessMissing(error: unknown): undefined {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'ENOENT' && code !== 'ENOTDIR') throw cacheError(error)
}

/** True if the cache has an entry. @throws WorkspaceError if the disk does not tell */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    return unlessMissing(error) !== undefined
  }
}
