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
  /** The write's id, and the ids of the replaced state, if known. */
  readonly writes: readonly string[]
}

export function identify(store: Store, key: string, condition: Condition | undefined): WriteIdentity {
  const id = makeWriteId()
  return { id, key, since: performance.now(), startedAt: startOfId(store), writes: writesOn(store, key, id, condition) }
}

/** A write's id, and the ids of the state that its condition names. */
export function writesOn(store: Store, key: string, id: string, condition: Condition | undefined): readonly string[] {
  const before = condition === undefined || condition === 'absent' ? [] : store.history.before(key, condition)
  return [id, ...before].slice(0, keptWrites)
}

/** The condition as headers. @throws `ECONFLICT` for a version that no server can have returned */
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

/** True if the server refuses the condition. A file that should be replaced may be gone. */
export function isRefusal(error: unknown): boolean {
  return isPreconditionFailure(error) || isMissing(error) || nativeNameOf(error) === 'NoSuchUpload'
}

export function conditionOn(state: { readonly stat: { readonly version: Version } } | undefined): Condition {
  return state?.stat.version ?? 'absent'
}
