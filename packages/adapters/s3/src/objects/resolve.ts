import type { Version } from '@ws/core'
import type { MountPath, SignalOption, StorageAdapter } from '@ws/core/adapter'
import type { Task } from '../client/requests.ts'
import type { Store } from '../store/store.ts'
import { headObject } from './lookup-real.ts'
import { outcomeOf } from './outcome.ts'

export interface ResolvedChange {
  /** `written`: done; `version` is absent if others have written since. `not-written`: not done, for good. `unknown`: cannot be seen. */
  readonly outcome: 'written' | 'not-written' | 'unknown'
  readonly version?: Version
}

export interface S3StorageAdapter extends StorageAdapter {
  /**
   * Finds out the fate of a change that failed with `EIO` or `ETIMEDOUT`, by the error's `changeId`. Any adapter on the prefix can ask.
   * @throws WorkspaceError `EINVAL` for anything else
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
  // by this process's clock it may have begun before the process
  const since = Math.max(0, performance.now() - (Date.now() - startedAt))
  const outcome = outcomeOf(store, { id, key, since, startedAt }, state)
  if (outcome === 'unknown' || state === undefined) return { outcome: 'unknown' }
  if (outcome === 'not-done') return { outcome: 'not-written' }
  return state.metadata.writes[0] === id ? { outcome: 'written', version: state.stat.version } : { outcome: 'written' }
}
