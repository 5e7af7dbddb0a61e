import { isWorkspaceError, paths } from '@ws/core'
import type { MountPath, AdapterOptions } from '@ws/core/adapter'
import type { ListedOption } from '@ws/core/inner'
import type { Task } from '../client/requests.ts'
import { failure } from '../errors.ts'
import { assertNoLink } from '../links/find.ts'
import { lookUp } from '../files/lookup.ts'
import { lookUpReal } from '../objects/lookup-real.ts'
import { putSmall } from '../objects/put.ts'
import type { Store } from '../store/store.ts'

/** Makes a directory as an empty object with a final slash, so that it remains when empty. */
export async function createDirectory(
  store: Store,
  path: MountPath,
  { recursive = false, listed = false }: AdapterOptions.CreateDirectory & ListedOption,
  task: Task,
): Promise<void> {
  if (recursive && listed && !store.hints.has(path)) {
    await putMarker(store, path, task)
    return
  }
  if (recursive) {
    await createWithParents(store, path, task)
    return
  }
  if (path === '/' || (await lookUp(store, path, task)) !== undefined) throw failure('EEXIST', task.operation, path)
  try {
    await putMarker(store, path, task, store.dialect.conditionalPut ? 'absent' : undefined)
  } catch (error) {
    // another writer has made the entry before
    throw isWorkspaceError(error, 'ECONFLICT') ? failure('EEXIST', task.operation, path) : error
  }
}

/** Makes a directory with its parents. All directories on the path are looked up at once. */
async function createWithParents(store: Store, path: MountPath, task: Task): Promise<void> {
  const places: MountPath[] = []
  for (let place = path; place !== '/'; place = paths.parent(place)) places.push(place)
  const found = await Promise.all(places.map((place) => lookUpReal(store, place, task)))
  if (found[0]?.type === 'directory') return
  if (found.every((one) => one?.type !== 'file')) await assertNoLink(store, path, task, { follow: true })
  const file = found.findLastIndex((one) => one?.type === 'file')
  if (file >= 0) throw failure(file === 0 ? 'EEXIST' : 'ENOTDIR', task.operation, path)
  const missing = places.filter((_, index) => found[index] === undefined)
  await Promise.all(missing.map((place) => putMarker(store, place, task)))
}

async function putMarker(store: Store, path: MountPath, task: Task, condition?: 'absent'): Promise<void> {
  await putSmall(store, path, store.keys.directoryKey(path), { condition }, task)
  store.hints.add(path)
  store.hints.addAbove(path)
}
