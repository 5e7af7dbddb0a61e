import type { Version } from '@ws/core'

import type { Handle } from '../confine/handle.ts'
import { nameOf } from '../confine/open.ts'
import { isSameEntry, versionOf } from '../confine/status.ts'
import type { Target, Task } from '../confine/task.ts'
import { creating } from '../host/constants.ts'
import { under } from '../host/name.ts'
import { distinctStatus, fileMode } from './fresh-file.ts'
import { giveFile } from './give.ts'
import { lookAt } from './target.ts'

/** Creates an empty file in one step, so no reader sees a partial file. @throws `EEXIST` */
export async function createEmptyFile(
  task: Task,
  target: Target,
  parent: Handle,
  mode: number | undefined,
): Promise<Version> {
  const { calls } = task
  const name = nameOf(target)
  const fd = await calls.open(under(parent.self, name), creating, mode ?? fileMode)
  try {
    await giveFile(task, fd)
    if (mode !== undefined) await calls.fchmod(fd, mode) // under any umask
    return versionOf(await distinctStatus(task, fd))
  } catch (error) {
    await removeOwn(task, parent, name, fd)
    throw error
  } finally {
    await calls.close(fd)
  }
}

async function removeOwn(task: Task, parent: Handle, name: string, fd: number): Promise<void> {
  try {
    const found = await lookAt(task, parent, name)
    if (found === undefined || !isSameEntry(found, await task.calls.fstat(fd))) return
    await task.calls.unlink(under(parent.self, name))
  } catch {
    // the caller must see the original failure
  }
}
