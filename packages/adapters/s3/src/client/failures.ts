import { isWorkspaceError, WorkspaceError } from '@ws/core'
import { BodyFailure, LinkSignal } from '@ws/core/adapter'
import {
  brokenListing,
  byName,
  byStatus,
  damaged,
  gateway,
  locked,
  noRegion,
  noStore,
  region,
  timedOut,
  unknown,
  type Meaning,
} from './meanings.ts'
import { isPage, nativeNameOf, regionOf, statusOf } from './native.ts'
import { BrokenListingError, DamagedBodyError, NoVersionError } from './retry.ts'

/** Translates the SDK's error, and omits keys and secrets. Abort reasons, link signals and body errors are returned unchanged. */
export function translate(error: unknown, operation: string, path: string, signal?: AbortSignal): unknown {
  if (error instanceof BodyFailure) return error
  if (signal?.aborted === true) return signal.reason
  if (isWorkspaceError(error) || error instanceof LinkSignal) return error
  return new WorkspaceError({ ...meaningOf(error), operation, path, native: error })
}

/** Error names whose message explains more. */
const refusals: ReadonlySet<string> = new Set(['AccessDenied', 'DeniedPut', 'InvalidRequest', 'ObjectLocked'])

export function meaningOf(error: unknown): Meaning {
  if (error instanceof NoVersionError) return noStore
  if (error instanceof BrokenListingError) return brokenListing
  if (error instanceof DamagedBodyError) return damaged
  const name = nativeNameOf(error)
  const status = statusOf(error)
  if (error instanceof Error && refusals.has(name) && /object.?lock|content-md5|worm/iu.test(error.message))
    return locked
  const known = Object.hasOwn(byName, name) ? byName[name] : undefined
  const right = known === region ? regionOf(error) : undefined
  if (right !== undefined) return { ...region, remedy: `set \`region\` to \`${right}\`` }
  if (known !== undefined) return known
  if (isPage(error)) return (status ?? 0) < 500 ? noStore : gateway
  // the SDK gives this error no name of its own
  if (error instanceof Error && error.message === 'Region is missing') return noRegion
  if (name === 'TimeoutError' || name === 'ETIMEDOUT') return timedOut
  if (error instanceof Error && /deseriali[sz]|pars/iu.test(error.message)) return noStore
  return (status === undefined ? undefined : byStatus[status]) ?? unknown
}
