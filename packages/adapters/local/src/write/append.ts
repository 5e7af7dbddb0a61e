import { type WriteResult, isWorkspaceError } from '@ws/core'
import { LinkSignal, type DriverOptions } from '@ws/core/adapter'

import { openData, release, statusOf } from '../confine/handle.ts'
import { openFile } from '../confine/open.ts'
import { versionOf } from '../confine/status.ts'
import { type Target, type Task, targetOf } from '../confine/task.ts'
import { failure } from '../errors.ts'
import type { Status } from '../host/calls.ts'
import { appending } from '../host/constants.ts'
import { openWithPatience } from '../read/open-file.ts'
import { writeBody } from './body.ts'
import { withLocks } from './locks.ts'
import { checkCondition, conflict } from './target.ts'
import { writeFile } from './write.ts'

const attempts = 8

export async function appendToFile(task: Task, data: Uint8Array, options: DriverOptions.Append): Promise<WriteResult> {
  const target = targetOf(task, task.path)
  if (options.ifVersion === 'absent') return await create(task, data, options)
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    try {
      return await appendToExisting(task, target, data, options)
    } catch (error) {
      if (error instanceof LinkSignal || !isWorkspaceError(error, 'ENOENT')) throw error
      if (options.ifVersion !== undefined) throw conflict(target)
    }
    try {
      return await create(task, data, options)
    } catch (error) {
      if (!isWorkspaceError(error, 'ECONFLICT')) throw error // another writer has made the file: append to that file
    }
  }
  throw failure(target, 'EBUSY', 'is being created and deleted by another process', { remedy: 'try again' })
}

async function create(task: Task, data: Uint8Array, { parents }: DriverOptions.Append): Promise<WriteResult> {
  return await writeFile(task, data, { ifVersion: 'absent', parents })
}

async function appendToExisting(
  task: Task,
  target: Target,
  data: Uint8Array,
  { ifVersion }: DriverOptions.Append,
): Promise<WriteResult> {
  return await withLocks([task.tree.hostPath(target.path)], async () => {
    const { handle } = await openFile(task, target)
    try {
      const fd = await openWithPatience(task, () => openData(task, handle, appending))
      try {
        const before = await task.calls.fstat(fd)
        checkCondition(target, ifVersion, before)
        refuseSharedFile(target, before)
        await clearIdBits(task, fd, data, before)
        await appendAll(task, fd, data, before)
        const { size } = await task.calls.fstat(fd)
        return { version: versionOf(await statusOf(task, handle)), size: Number(size) }
      } finally {
        await task.calls.close(fd)
      }
    } finally {
      await release(task, handle)
    }
  })
}

/** Clears setuid and setgid, as the kernel does for ordinary users but not for root. setgid without group execution is kept. */
async function clearIdBits(task: Task, fd: number, data: Uint8Array, { mode }: Status): Promise<void> {
  const bits = Number(mode) & 0o7777
  const kept = bits & ~(0o4000 | ((bits & 0o010) === 0 ? 0 : 0o2000))
  if (data.length > 0 && kept !== bits && process.getuid?.() === 0) await task.calls.fchmod(fd, kept)
}

/** Refuses a file with several names: another name may be outside, or under a rule that forbids writing. */
function refuseSharedFile(target: Target, { nlink }: Status): void {
  if (nlink <= 1n) return
  throw failure(target, 'EBUSY', 'has several hard links, so that appending would change it under other names too', {
    remedy: 'read it and write it as a whole: that gives this name a file of its own',
  })
}

async function appendAll(task: Task, fd: number, data: Uint8Array, before: Status): Promise<void> {
  try {
    await writeBody(task, fd, data)
  } catch (error) {
    // A part may have been written (the disk is full). It is removed again, unless another writer has appended.
    const now = await task.calls.fstat(fd)
    if (now.size - before.size <= BigInt(data.length)) await task.calls.ftruncate(fd, Number(before.size))
    throw error
  }
}
