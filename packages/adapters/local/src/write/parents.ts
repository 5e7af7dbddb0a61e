import { isWorkspaceError, paths } from '@ws/core'

import { type Handle, openChild, release } from '../confine/handle.ts'
import { changing, openParent } from '../confine/open.ts'
import type { Target, Task } from '../confine/task.ts'
import { findObstacle } from '../confine/walk.ts'
import { contractFailure, nativeCode, translate } from '../errors.ts'
import { pathOfDescriptor } from '../host/calls.ts'
import { under } from '../host/name.ts'
import { creationStart, giveNew } from './give.ts'

const directoryMode = 0o777
const attempts = 8

export function refuseRoot(target: Target): void {
  if (target.path !== '/') return
  throw contractFailure(target, 'EBUSY')
}

/** Opens the directory above a target; with `create`, makes missing parts of it. */
export async function openParentOf(task: Task, target: Target, create: boolean): Promise<Handle> {
  try {
    return await openParent(task, target)
  } catch (error) {
    if (!create || !isWorkspaceError(error, 'ENOENT')) throw error
  }
  return await makeDirectories(task, target, paths.segmentsOf(target.path).slice(0, -1), 'parent')
}

/** Makes missing directories from the root. `kind`: whether the segments include the target. */
export async function makeDirectories(
  task: Task,
  target: Target,
  segments: readonly string[],
  kind: 'parent' | 'directory',
): Promise<Handle> {
  await task.tree.assertThere(task.calls, target)
  const { fd, verified, root } = task.tree
  let directory: Handle = { fd: -1, self: verified ? pathOfDescriptor(fd) : root } // -1: the root's descriptor must not be closed here
  for (const segment of segments) {
    let next: Handle
    try {
      next = await enterOrMake(task, target, directory, segment, kind)
    } finally {
      await release(task, directory)
    }
    directory = next
  }
  return directory
}

async function enterOrMake(
  task: Task,
  target: Target,
  directory: Handle,
  segment: string,
  kind: 'parent' | 'directory',
): Promise<Handle> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    try {
      return await openChild(task, directory, segment, { directory: true })
    } catch (error) {
      const code = nativeCode(error)
      if (code === 'ENOTDIR' || code === 'ELOOP') await findObstacle(task, target, kind)
      else if (code !== 'ENOENT') throw translate(error, target)
    }
    try {
      await makeDirectory(task, directory, segment)
    } catch (error) {
      if (nativeCode(error) !== 'EEXIST') throw translate(error, target)
    }
  }
  throw changing(target)
}

/** Makes a directory in an open directory, and gives it to the owner. Throws errors of the operating system. */
export async function makeDirectory(
  task: Task,
  directory: Handle,
  name: string | Buffer,
  mode = directoryMode,
): Promise<void> {
  const start = creationStart()
  await task.calls.mkdir(under(directory.self, name), mode)
  await giveNew(task, directory, name, start, 'directory')
}
