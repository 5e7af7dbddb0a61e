import type { Version } from '@ws/core'
import type { MountPath, SignalOption, StorageAdapter } from '@ws/core/adapter'
import type { Task } from '../client/requests.ts'
import type { Store } from '../store/store.ts'
import { headObject } from './lookup-real.ts'
import { outcomeOf } from './outcome.ts'

export interface ResolvedChange {
  /** `written`: done; `version` is absent after later writes. `not-written`: not done, for certain. `unknown`: cannot be determined. */
  readonly outcome: 'written' | 'not-written' | 'unknown'
  readonly version?: Version
}

export interface S3StorageAdapter extends StorageAdapter {
  /**
   * Finds out whether a change that failed with `EIO` or `ETIMEDOUT` has happened, by the error's `changeId`.
   * Any adapter on the prefix can call this. @throws WorkspaceError `EINVAL` for any other id
   */
  resolve(id: string, options?: SignalOption): Promise<ResolvedChange>
}

export async function resolve(
  store: Store,
  { id, startedAt, path }: { readonly id: string; readonly startedAt: number; readonly path: string },
  task: Task,
): Promise<ResolvedChange> {
  const key = store.keys.key(path as MountPath)
  const state = await headObject(store, key, task)
  // convert to this process's clock; the change may have begun before the process
  const since = Math.max(0, performance.now() - (Date.now() - startedAt))
  const outcome = outcomeOf(store, { id, key, since, startedAt }, state)
  if (outcome === 'unknown' || state === undefined) return { outcome: 'unknown' }
  if (outcome === 'not-done') return { outcome: 'not-written' }
  return state.metadata.writes[0] === id ? { outcome: 'written', version: state.stat.version } : { outcome: 'written' }
}
