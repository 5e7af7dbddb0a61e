import { isWorkspaceError, type PartialProgress } from '@ws/core'
import { rewriteError, type MountPath, type AdapterOptions } from '@ws/core/adapter'
import { translate } from '../client/failures.ts'
import type { Task } from '../client/requests.ts'
import { failure, invalid } from '../errors.ts'
import { linkAt } from '../links/find.ts'
import { pagesOf } from '../listing/pages.ts'
import { lookUp } from '../files/lookup.ts'
import { headObject } from '../objects/lookup-real.ts'
import type { Store } from '../store/store.ts'
import { BatchError, deleteBatch, deleteObject, deleteVersion } from './objects.ts'

export async function remove(store: Store, path: MountPath, options: AdapterOptions.Delete, task: Task): Promise<void> {
  const { recursive = false, force = false, ifVersion } = options
  const removed =
    recursive && ifVersion === undefined
      ? (await deleteTree(store, path, task)) || (await removeLeaf(store, path, task))
      : await removeOne(store, path, options, task)
  if (!removed && !force) throw failure('ENOENT', task.operation, path)
}

async function removeLeaf(store: Store, path: MountPath, task: Task): Promise<boolean> {
  const key = store.keys.key(path)
  const state = await headObject(store, key, task)
  if (state !== undefined) {
    await deleteObject(store, key, task, state)
    return true
  }
  const link = store.links ? await linkAt(store, path, task) : undefined
  if (link === undefined) return false
  await deleteObject(store, store.keys.linkKey(path), task, link.state)
  return true
}

/** Removes an entry, or an empty directory. False if no entry exists. */
async function removeOne(store: Store, path: MountPath, options: AdapterOptions.Delete, task: Task): Promise<boolean> {
  const { recursive = false, ifVersion } = options
  const found = await lookUp(store, path, task)
  if (found === undefined) return false
  if (ifVersion !== undefined && ifVersion !== found.stat.version) throw failure('ECONFLICT', task.operation, path)
  if (found.type !== 'directory') {
    const key = found.type === 'symlink' ? store.keys.linkKey(path) : store.keys.key(path)
    const seen = found.type === 'file' ? found.state : undefined
    if (ifVersion === undefined) await deleteObject(store, key, task, seen)
    else await deleteVersion(store, key, ifVersion, task)
    return true
  }
  if (recursive) return deleteTree(store, path, task)
  const marker = store.keys.directoryKey(path)
  for await (const keys of pagesOf(store, { prefix: marker, flat: false, pageSize: 2 }, task)) {
    if (keys.some(({ rest }) => rest !== '')) throw failure('ENOTEMPTY', task.operation, path)
    break
  }
  await deleteObject(store, marker, task)
  store.hints.remove(path)
  return true
}

const reported = 1000

/** Deletes every object below a directory, and its marker. A hidden object of the same name remains. Returns false if there was none. */
export async function deleteTree(store: Store, path: MountPath, task: Task): Promise<boolean> {
  const prefix = store.keys.directoryKey(path)
  const completed: string[] = []
  let count = 0
  let current: string = path
  try {
    for await (const page of pagesOf(store, { prefix, flat: false, reserved: true }, task)) {
      const objects = page.map(({ rest, shown, etag, modifiedAt }) => {
        if (rest !== undefined) return { key: prefix + rest, etag, modifiedAt }
        throw invalid(
          task.operation,
          `${path}/${shown}`,
          'has a name that is not valid UTF-8, and cannot be deleted from here',
        )
      })
      const [first] = objects
      if (first === undefined) continue
      current = store.keys.pathOf(first.key)
      await deleteBatch(store, objects, task)
      task.until?.extend()
      for (const { key } of objects) {
        const done = store.keys.pathOf(key)
        count += 1
        if (completed.length < reported) completed.push(done)
        store.progress({ operation: 'delete', path: done, done: count })
      }
    }
  } catch (error) {
    if (error instanceof BatchError) current = store.keys.pathOf(error.failedKeys[0] ?? prefix)
    throw withProgress(error, task, { completed, completedCount: count, failedAt: current, state: stateOf(count) })
  }
  store.hints.remove(path)
  return count > 0
}

function stateOf(count: number): string {
  return `${count} objects are deleted, the rest is still there: delete again to go on`
}

/** Adds to an error how much of the operation was finished. */
export function withProgress(error: unknown, { operation, path, signal }: Task, partial: PartialProgress): unknown {
  const translated = translate(error, operation, path, signal)
  if (!isWorkspaceError(translated)) return translated
  const reason = `${translated.reason} (stopped after ${partial.completedCount} objects: ${partial.state})`
  return rewriteError(translated, { reason, partial })
}
