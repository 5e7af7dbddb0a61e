import { WorkspaceError, type Condition, type Version } from '@ws/core'
import { isMissing, isPreconditionFailure, nativeNameOf } from '../client/native.ts'
import type { Task } from '../client/requests.ts'
import { failure } from '../errors.ts'
import { conditionOf } from '../keys/etag.ts'
import type { Store } from '../store.ts'
import { headObject } from './lookup-real.ts'
import { keptWrites, makeWriteId } from './metadata.ts'

/** One write: its id, and what it says about those before it. */
export interface WriteIdentity {
  readonly id: string
  /** The id with those of the state that is replaced, where that is known. */
  readonly writes: readonly string[]
}

export function identify(store: Store, key: string, condition: Condition | undefined): WriteIdentity {
  const id = makeWriteId()
  const before = condition === undefined || condition === 'absent' ? [] : store.history.before(key, condition)
  return { id, writes: [id, ...before] }
}

/** The condition as the headers of PutObject and of others have it. @throws `ECONFLICT` for a version that no server gave. */
export function conditionHeaders(
  { dialect }: Store,
  condition: Condition | undefined,
  task: Task,
): { readonly IfMatch?: string; readonly IfNoneMatch?: string } {
  if (condition === undefined) return {}
  if (condition === 'absent') return { IfNoneMatch: '*' }
  const etag = conditionOf(condition, dialect)
  if (etag === undefined) throw failure('ECONFLICT', task.operation, task.path)
  return { IfMatch: etag }
}

/** The server says that the state is another than asked for. A file that is to be replaced may be gone altogether. */
export function isRefusal(error: unknown): boolean {
  return isPreconditionFailure(error) || isMissing(error) || nativeNameOf(error) === 'NoSuchUpload'
}

/**
 * A refused write may be one's own success, whose answer was lost: does what is there now know this write? Then the
 * version it had, which is the one now when nothing came after it.
 *
 * @param isRepeated an attempt before this one may have had its effect
 * @throws WorkspaceError `EIO` where that cannot be told any more: others have built so much on what is there that neither
 * this write nor the state before it is named.
 */
export async function findOwnWrite(
  store: Store,
  key: string,
  { id, writes: [, before] }: WriteIdentity,
  task: Task,
  isRepeated: boolean,
): Promise<{ readonly version: Version | undefined } | undefined> {
  const state = await headObject(store, key, task)
  const { writes } = state?.metadata ?? { writes: [] }
  const index = writes.indexOf(id)
  if (index < 0) {
    // whoever overwrites without a condition begins anew, and does not care for what was there
    const isCut = writes.length >= keptWrites && (before === undefined || !writes.includes(before))
    if (isRepeated && isCut) throw unknownError(task)
    return undefined
  }
  return { version: index === 0 ? state?.stat.version : undefined }
}

/** Nobody can tell whether the write happened. */
function unknownError({ operation, path }: Task): WorkspaceError {
  return new WorkspaceError({
    code: 'EIO',
    operation,
    path,
    reason: 'may have been written: the store’s answer was lost, and others have changed it too often since to tell',
    remedy: 'read it again',
  })
}

/** The write happened, and somebody has replaced it since: there is no version to give that could be asked for. */
export function supersededError({ operation, path }: Task): WorkspaceError {
  return new WorkspaceError({
    code: 'EIO',
    operation,
    path,
    reason: 'was written, and changed again by somebody else before the store’s answer came',
    remedy: 'read it again',
  })
}
