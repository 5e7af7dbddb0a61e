import type { Condition } from '@ws/core/adapter'
import type { Task } from '../client/requests.ts'
import { objectName, type Store } from '../store/store.ts'
import { withObject, withObjects } from './locks.ts'

/**
 * Runs a request that changes an object. Ceph may drop an unconditional change during a conditional change, but report success.
 * So without conditional deletes, such changes exclude other writers of this process. For uploads, this applies to the last request.
 */
export function changing<Result>(
  store: Store,
  key: string,
  condition: Condition | undefined,
  task: Pick<Task, 'signal' | 'until'>,
  run: () => Promise<Result>,
): Promise<Result> {
  if (store.dialect.conditionalDelete) return run()
  return withObject(changeOf(store, key), condition === undefined ? 'exclusive' : 'shared', task, run)
}

export function changingAll<Result>(
  store: Store,
  keys: readonly string[],
  task: Pick<Task, 'signal' | 'until'>,
  run: () => Promise<Result>,
): Promise<Result> {
  if (store.dialect.conditionalDelete) return run()
  return withObjects(
    keys.map((key) => changeOf(store, key)),
    'exclusive',
    task,
    run,
  )
}

/** The lock name for an object's changes. Callers lock the object before this name, which prevents deadlocks. */
function changeOf(store: Store, key: string): string {
  // no bucket has such a name
  return `\0change of ${objectName(store, key)}`
}
