import type { HostName } from '../host/calls.ts'
import type { Handle } from '../confine/handle.ts'
import { isSameEntry } from '../confine/status.ts'
import type { Task } from '../confine/task.ts'
import { nativeCode } from '../errors.ts'
import { creating } from '../host/constants.ts'
import { under } from '../host/name.ts'
import { lookAt } from '../write/target.ts'
import { newTempName } from '../confine/temp.ts'

/** Limit of entries that are examined for a name with a letter. */
const entriesLookedAt = 64

/** Tests whether the file system is case-sensitive. `type`: the file system's type. No test file is made on rclone's file system. */
export async function probeCase(task: Task, directory: Handle, type: string): Promise<boolean> {
  const name = await someName(task, directory)
  if (name !== undefined) return await isSensitiveTo(task, directory, name)
  return type === 'fuse.rclone' || (await probeByTemp(task, directory))
}

async function someName(task: Task, directory: Handle): Promise<string | undefined> {
  const listing = await task.calls.openListing(directory.self, 'utf8')
  try {
    for (let count = 0; count < entriesLookedAt; count += 1) {
      const dirent = await task.calls.readListing(listing)
      if (dirent === null) return undefined
      if (/[a-z]/i.test(dirent.name) && !dirent.name.includes('\uFFFD')) return dirent.name
    }
    return undefined
  } finally {
    await task.calls.closeListing(listing)
  }
}

async function isSensitiveTo(task: Task, directory: Handle, name: string): Promise<boolean> {
  const one = await lookAt(task, directory, name)
  const other = await lookAt(task, directory, otherCase(name))
  return one === undefined || other === undefined || !isSameEntry(one, other)
}

function otherCase(name: string): string {
  return name.replace(/[a-z]/gi, (letter) => {
    const lower = letter.toLowerCase()
    return letter === lower ? letter.toUpperCase() : lower
  })
}

/** Probes an empty directory with a test file. If this process may not make files, no two names can be confused. */
async function probeByTemp(task: Task, directory: Handle): Promise<boolean> {
  const name = newTempName()
  const path: HostName = under(directory.self, name)
  try {
    await task.calls.close(await task.calls.open(path, creating, 0o600))
  } catch (error) {
    if (nativeCode(error) === undefined) throw error
    return true
  }
  try {
    return await isSensitiveTo(task, directory, name)
  } finally {
    await task.calls.unlink(path)
  }
}
