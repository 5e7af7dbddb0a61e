import { isWorkspaceError, paths } from '@ws/core'
import type { AdapterOptions } from '@ws/core/adapter'

import { release } from '../confine/handle.ts'
import { nameOf, openDirectory, openParent } from '../confine/open.ts'
import { type Task, targetOf } from '../confine/task.ts'
import { contractFailure, translate } from '../errors.ts'
import { makeDirectories, makeDirectory } from './parents.ts'

export async function createDirectoryAt(task: Task, options: AdapterOptions.CreateDirectory): Promise<void> {
  const target = targetOf(task, task.path)
  if (options.recursive === true) {
    await makeAll(task)
    return
  }
  if (target.path === '/') throw contractFailure(target, 'EEXIST')
  const parent = await openParent(task, target)
  try {
    await makeDirectory(task, parent, nameOf(target))
  } catch (error) {
    throw translate(error, target)
  } finally {
    await release(task, parent)
  }
}

async function makeAll(task: Task): Promise<void> {
  const target = targetOf(task, task.path)
  try {
    await release(task, await openDirectory(task, target))
    return
  } catch (error) {
    if (isWorkspaceError(error, 'ENOTDIR')) await refuseFile(task)
    if (!isWorkspaceError(error, 'ENOENT')) throw error
  }
  await release(task, await makeDirectories(task, target, paths.segmentsOf(target.path), 'directory'))
}

/** Refuses an existing entry: `EEXIST` at the path, `ENOTDIR` in its parents. */
async function refuseFile(task: Task): Promise<void> {
  const target = targetOf(task, task.path)
  await release(task, await openParent(task, target))
  throw contractFailure(target, 'EEXIST')
}
