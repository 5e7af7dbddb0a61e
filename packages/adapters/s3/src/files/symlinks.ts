import { isWorkspaceError, type WriteResult } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'
import type { ListedOption } from '@ws/core/inner'
import type { Task } from '../client/requests.ts'
import { failure } from '../errors.ts'
import { targetOf } from '../links/find.ts'
import { lookUp } from './lookup.ts'
import { putSmall } from '../objects/put.ts'
import type { Store } from '../store/store.ts'

export async function createSymlink(
  store: Store,
  path: MountPath,
  target: string,
  { listed = false }: ListedOption,
  task: Task,
): Promise<WriteResult> {
  const condition = store.dialect.conditionalPut ? 'absent' : undefined
  const isKnown = listed && condition !== undefined && !store.hints.has(path)
  if (path === '/' || (!isKnown && (await lookUp(store, path, task)) !== undefined))
    throw failure('EEXIST', task.operation, path)
  try {
    const result = await putSmall(store, path, store.keys.linkKey(path), { text: target, condition }, task)
    store.hints.addAbove(path)
    return result
  } catch (error) {
    throw isWorkspaceError(error, 'ECONFLICT') ? failure('EEXIST', task.operation, path) : error
  }
}

export async function readSymlink(store: Store, path: MountPath, task: Task): Promise<string> {
  const found = await lookUp(store, path, task)
  if (found === undefined) throw failure('ENOENT', task.operation, path)
  if (found.type !== 'symlink') throw failure('notALink', task.operation, path)
  return targetOf({ at: path, target: found.target }, task.operation, path)
}
