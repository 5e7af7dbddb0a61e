import type { Version } from '@ws/core'
import type { Condition } from '@ws/core/adapter'
import { isMissing, isPreconditionFailure, nativeNameOf } from '../client/native.ts'
import type { Task } from '../client/requests.ts'
import { failure } from '../errors.ts'
import { conditionOf } from '../keys/etag.ts'
import type { Store } from '../store/store.ts'
import { keptWrites, makeWriteId } from '../headers/metadata.ts'
import { startOfId, type Effort } from './outcome.ts'

export interface WriteIdentity extends Effort {
  /** The id with those of the state that is replaced, where that is known. */
  readonly writes: readonly string[]
}

export function identify(store: Store, key: string, condition: Condition | undefined): WriteIdentity {
  const id = makeWriteId()
  return { id, key, since: performance.now(), startedAt: startOfId(store), writes: writesOn(store, key, id, condition) }
}

/** The id of a write with those of the state that it replaces on a condition. */
export function writesOn(store: Store, key: string, id: string, condition: Condition | undefined): readonly string[] {
  const before = condition === undefined || condition === 'absent' ? [] : store.history.before(key, condition)
  return [id, ...before].slice(0, keptWrites)
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

/** The condition that holds for exactly what was found. */
export function conditionOn(state: { readonly stat: { readonly version: Version } } | undefined): Condition {
  return state?.stat.version ?? 'absent'
}
