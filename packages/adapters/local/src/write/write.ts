import { paths, type Version, type WriteResult } from '@ws/core'
import type { WriteData, AdapterOptions } from '@ws/core/adapter'

import { type Handle, release } from '../confine/handle.ts'
import { changing, nameOf, notAFile } from '../confine/open.ts'
import { type Target, type Task, targetOf } from '../confine/task.ts'
import { throwLink } from '../confine/walk.ts'
import { contractFailure, failure, nativeCode } from '../errors.ts'
import type { Status } from '../host/calls.ts'
import { writeBody } from './body.ts'
import { createEmptyFile } from './empty-file.ts'
import { type FreshFile, putInPlace, setMode, withFreshFile } from './fresh-file.ts'
import { withLocks } from './locks.ts'
import { openParentOf } from './parents.ts'
import { syncAbove } from './sync.ts'
import { checkCondition, conflict, lookAtTarget } from './target.ts'

export async function writeFile(task: Task, data: WriteData, options: AdapterOptions.Write): Promise<WriteResult> {
  const target = targetOf(task, task.path)
  const parent = await openParentOf(task, target, options.parents === true)
  try {
    const isEmpty = data instanceof Uint8Array && data.length === 0
    if (options.ifVersion === 'absent' && isEmpty && options.durable !== true) {
      return await createEmpty(task, target, parent, options.mode)
    }
    const found = await checkPlace(task, target, parent, options)
    const fresh = { replaces: found, mode: options.mode }
    const result = await withFreshFile(task, parent, fresh, async (file) => {
      const size = await writeBody(task, file.fd, data)
      // synced before the file gets its name: after a power cut, the name must not have half of the content
      if (options.durable === true) {
        await setMode(task, file, await task.calls.fstat(file.fd))
        await task.pooled.fsync(file.fd)
      }
      const version = await withLocks([task.tree.hostPath(target.path)], async () => {
        task.signal?.throwIfAborted()
        if (!(data instanceof Uint8Array)) assertInPlace(task, target, parent)
        if (options.ifVersion === 'absent') return await create(task, target, file)
        if (options.ifVersion !== undefined) {
          checkCondition(target, options.ifVersion, await lookAtTarget(task, parent, target))
        }
        return await putInPlace(task, file, nameOf(target), found === undefined ? 'new' : 'replace')
      })
      return { version, size }
    })
    if (options.durable === true) await syncAbove(task, target)
    return result
  } finally {
    await release(task, parent)
  }
}

async function createEmpty(task: Task, target: Target, parent: Handle, mode: number | undefined): Promise<WriteResult> {
  const version = await withLocks([task.tree.hostPath(target.path)], async () => {
    task.signal?.throwIfAborted()
    return await onlyOnce(target, createEmptyFile(task, target, parent, mode))
  })
  return { version, size: 0 }
}

async function create(task: Task, target: Target, file: FreshFile): Promise<Version> {
  return await onlyOnce(target, putInPlace(task, file, nameOf(target), 'create'))
}

async function onlyOnce(target: Target, creation: Promise<Version>): Promise<Version> {
  try {
    return await creation
  } catch (error) {
    throw nativeCode(error) === 'EEXIST' ? conflict(target) : error
  }
}

async function checkPlace(
  task: Task,
  target: Target,
  parent: Handle,
  { ifVersion }: AdapterOptions.Write,
): Promise<Status | undefined> {
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const found = await lookAtTarget(task, parent, target)
    if (ifVersion === 'absent' && found !== undefined) throw conflict(target)
    if (found?.isSymbolicLink() === true) {
      await throwLink(task, target)
      continue // the target is not a link any more
    }
    if (found?.isDirectory() === true) throw contractFailure(target, 'EISDIR')
    if (found !== undefined && !found.isFile()) throw notAFile(target)
    checkCondition(target, ifVersion, found)
    return found
  }
  throw changing(target)
}

/** Checks that the directory is still at its path: after a long stream, a file must not go into a moved directory. */
export function assertInPlace({ tree }: Task, target: Target, parent: Handle): void {
  if (parent.fd < 0 || tree.isAt(parent.fd, paths.parent(target.path))) return
  throw failure(target, 'EBUSY', 'is in a directory that was moved or removed meanwhile', { remedy: 'try again' })
}
