import { WorkspaceError } from '@ws/core'
import { meaningOf } from '../client/failures.ts'
import type { Attempt, Task } from '../client/requests.ts'
import { objectName, type Store } from '../store/store.ts'
import { mayBeDeletedSince } from './locks.ts'
import { headOnce } from './lookup-real.ts'
import type { ObjectState } from '../headers/stat.ts'

export interface Effort {
  readonly id: string
  readonly key: string
  /** When the change began, by `performance.now()`. */
  readonly since: number
  /** When the change began by the store's clock, if known, in milliseconds since the epoch. */
  readonly startedAt: number
}

/** The effect of a change, judged by the present state. */
export type Outcome = 'done' | 'not-done' | 'unknown'

/** Milliseconds of clock difference beyond which stores refuse requests. */
const clockTolerance = 15 * 60_000

export function startOfId({ requests }: Store): number {
  const { systemClockOffset = 0 } = (requests.client.config ?? {}) as { readonly systemClockOffset?: number }
  return Date.now() + systemClockOffset
}

/**
 * Whether a change with a lost answer has happened.
 *
 * - Done: its id is in the present object.
 * - Not done: an id in the object was seen before the change began, since every write names the writes that it builds on.
 * - Not done: the state is older than the change, beyond clock errors. An object in parts has its upload's start time: it proves nothing.
 * - Not done: no object exists now or existed before, unless this process deleted it.
 */
export function outcomeOf(
  store: Store,
  { id, key, since, startedAt }: Effort,
  state: ObjectState | undefined,
): Outcome {
  const { history } = store
  const known = history.latest(key)
  if (state === undefined) {
    const isNew = known === undefined || known === 'absent'
    return isNew && !mayBeDeletedSince(objectName(store, key), since) ? 'not-done' : 'unknown'
  }
  const { writes } = state.metadata
  if (writes.includes(id)) return 'done' // @defence a lost answer taken for a lost race: a lost answer is not taken for a lost race
  if (writes.some((one) => history.knewBefore(key, one, since))) return 'not-done'
  const changedAt = state.headers.LastModified?.getTime()
  // foreign writes leave no ids, so content and time decide
  const isSeen = typeof known === 'object' && known.at < since && known.version === state.stat.version
  if (isSeen && writes.length === 0 && changedAt !== undefined && known.changedAt === changedAt) return 'not-done'
  const inParts = state.stat.version.includes('-')
  const isOlder = changedAt !== undefined && !inParts && changedAt < startedAt - clockTolerance
  return isOlder ? 'not-done' : 'unknown'
}

/** Finds out within an attempt whether a change has happened, from the present state. */
export async function findOutcome(
  store: Store,
  effort: Effort,
  attempt: Attempt,
): Promise<{ readonly outcome: Outcome; readonly state: ObjectState | undefined }> {
  const state = await headOnce(store, effort.key, attempt)
  return { outcome: outcomeOf(store, effort, state), state }
}

/** The id of a change, for a later `resolve`. */
export function changeIdOf({ id, startedAt }: Effort, path: string): string {
  return `${id}.${Math.round(startedAt).toString(36)}${path}`
}

export function parseChangeId(text: string): { id: string; startedAt: number; path: string } | undefined {
  const { id, time, path } = /^(?<id>[\w-]{8})\.(?<time>[0-9a-z]+)(?<path>\/.*)$/su.exec(text)?.groups ?? {}
  if (id === undefined || time === undefined || path === undefined) return undefined
  return { id, startedAt: Number.parseInt(time, 36), path }
}

export function unknownError(effort: Effort, { operation, path }: Task, native?: unknown): WorkspaceError {
  const id = changeIdOf(effort, path)
  const why = native === undefined ? '' : ` (it ${meaningOf(native).reason})`
  return new WorkspaceError({
    code: isTimeout(native) ? 'ETIMEDOUT' : 'EIO',
    operation,
    path,
    reason: `may have been ${operation === 'delete' ? 'deleted' : 'written'}: the store’s answer was lost${why}`,
    remedy: `ask \`adapter.resolve('${id}')\` later, or read it again`,
    changeId: id,
    ...(native === undefined ? {} : { native }),
  })
}

/** The error for a change that has happened, with another change since: no version can be returned. */
export function supersededError(effort: Effort, { operation, path }: Task): WorkspaceError {
  return new WorkspaceError({
    code: 'EIO',
    operation,
    path,
    reason: 'was written, and changed again by another writer before the store’s answer came',
    remedy: 'read it again',
    changeId: changeIdOf(effort, path),
  })
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError'
}
