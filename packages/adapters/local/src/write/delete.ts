import { isWorkspaceError } from '@ws/core'
import type { AdapterOptions } from '@ws/core/adapter'

import { type Handle, release } from '../confine/handle.ts'
import { nameOf, openParent } from '../confine/open.ts'
import { type Target, type Task, targetOf } from '../confine/task.ts'
import { contractFailure, failure, nativeCode, translate } from '../errors.ts'
import type { Status } from '../host/calls.ts'
import { under } from '../host/name.ts'
import { vacateBelow } from './make-way.ts'
import { withLocks } from './locks.ts'
import { checkCondition, lookAtTarget } from './target.ts'
import { RemovalProgress, hasOnlyLeftovers, removeEntry } from './remove.ts'

/** Size from which files are unlinked on the pool, since freeing blocks takes time. */
const largeFileBytes = 4_194_304n

export async function deleteEntry(task: Task, options: AdapterOptions.Delete): Promise<void> {
  const target = targetOf(task, task.path)
  let parent: Handle
  try {
    parent = await openParent(task, target)
  } catch (error) {
    if (options.force === true && isWorkspaceError(error, 'ENOENT')) return
    throw error
  }
  try {
    await withLocks([task.tree.hostPath(target.path)], () => deleteIn(task, target, parent, options))
  } catch (error) {
    // another process deleted the entry after it was checked
    if (options.force === true && nativeCode(error) === 'ENOENT') return
    throw translate(error, target)
  } finally {
    await release(task, parent)
  }
}

async function deleteIn(task: Task, target: Target, parent: Handle, options: AdapterOptions.Delete): Promise<void> {
  const found = await lookAtTarget(task, parent, target)
  if (found === undefined) {
    if (options.force === true) return
    throw contractFailure(target, 'ENOENT')
  }
  checkCondition(target, options.ifVersion, found)
  task.signal?.throwIfAborted()
  if (!found.isDirectory()) await unlinkFile(task, target, parent, found)
  else if (options.recursive === true) await removeTree(task, target, parent)
  else await removeEmpty(task, target, parent)
}

async function unlinkFile(task: Task, target: Target, parent: Handle, { size }: Status): Promise<void> {
  const calls = size >= largeFileBytes ? task.pooled : task.calls
  await calls.unlink(under(parent.self, nameOf(target)))
}

async function removeEmpty(task: Task, target: Target, parent: Handle): Promise<void> {
  const name = under(parent.self, nameOf(target))
  try {
    await task.calls.rmdir(name)
  } catch (error) {
    const code = nativeCode(error)
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error
    // a directory with only hidden entries lists as empty, so it must be deletable
    const vacated = await vacateBelow(task, target.path)
    if (!(await hasOnlyLeftovers(task, parent, nameOf(target))) && !vacated) throw error
    await task.calls.rmdir(name)
  }
}

async function removeTree(task: Task, target: Target, parent: Handle): Promise<void> {
  if (task.tree.mounts.within(task.tree.hostPath(target.path)) !== undefined) {
    throw failure(target, 'EBUSY', 'has another file system mounted in it', {
      remedy: 'unmount that first; nothing was deleted',
    })
  }
  await removeEntry(task, parent, nameOf(target), new RemovalProgress(task, target.path))
}
