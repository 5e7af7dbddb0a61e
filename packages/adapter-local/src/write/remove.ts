import { type WorkspaceError, childPath, isWorkspaceError } from '@ws/core'
import { type MountPath, rewriteError } from '@ws/core/adapter'

import { type Handle, openChild, release } from '../confine/handle.ts'
import type { Task } from '../confine/task.ts'
import { failure, nativeCode, translate } from '../errors.ts'
import { type DirectoryEntry, type HostName, type OpenListing, isImmediate } from '../host/calls.ts'
import { replacement, showBytes, under } from '../host/name.ts'
import { isTurnOver, ownTurn } from '../host/pace.ts'
import { listWhole } from '../read/level.ts'
import { isTempName, sweep } from '../confine/temp.ts'

/** How often a directory is emptied again that another process fills or exchanges. */
const attempts = 16
const reportedEntries = 1_000

export interface RemovalOptions {
  /** Take the rights that are missing on a directory: for what is ours as a whole. */
  readonly unlock?: boolean
}

/** The removed part of a tree, for the report when it stops half-way. */
export class RemovalProgress {
  readonly task: Task
  readonly path: MountPath
  readonly unlock: boolean
  readonly #completed: MountPath[] = []
  #count = 0

  constructor(task: Task, path: MountPath, { unlock = false }: RemovalOptions = {}) {
    this.task = task
    this.path = path
    this.unlock = unlock
  }

  removed(path: MountPath): void {
    this.#count += 1
    if (this.#completed.length < reportedEntries) this.#completed.push(path)
  }

  /** The error of one entry as the error of the whole operation. */
  stoppedAt(path: MountPath, error: unknown): unknown {
    if (isWorkspaceError(error) && error.partial !== undefined) return error
    const translated = translate(error, { operation: this.task.operation, path })
    if (!isWorkspaceError(translated)) return translated
    return rewriteError(translated satisfies WorkspaceError, {
      partial: {
        completed: this.#completed,
        completedCount: this.#count,
        failedAt: path,
        state:
          'Entries that are listed as completed are gone; the rest is still there. Remove the obstacle and delete again.',
      },
    })
  }
}

/**
 * Removes an entry of an open directory, with everything below it. Each step goes down one component by descriptor and
 * never follows, so that no exchange meanwhile leads outside.
 */
export async function removeEntry(
  task: Task,
  parent: Handle,
  name: HostName,
  progress: RemovalProgress,
  path: MountPath = progress.path,
): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    try {
      if (await removeOnce(task, parent, name, progress, path)) {
        progress.removed(path)
        return
      }
    } catch (error) {
      throw progress.stoppedAt(path, error)
    }
  }
  const busy = failure(
    { operation: task.operation, path },
    'EBUSY',
    'is being filled or exchanged by another process',
    {
      remedy: 'try again',
    },
  )
  throw progress.stoppedAt(path, busy)
}

/** False: it has changed meanwhile, and is to be looked at again. */
async function removeOnce(
  task: Task,
  parent: Handle,
  name: HostName,
  progress: RemovalProgress,
  path: MountPath,
): Promise<boolean> {
  let directory: Handle
  try {
    directory = await openChild(task, parent, name, { directory: true })
  } catch (error) {
    const code = nativeCode(error)
    if (code === 'ENOENT') return true
    if (code !== 'ENOTDIR' && code !== 'ELOOP') throw error
    return await unlinkOnce(task, parent, name)
  }
  try {
    await emptyDirectory(task, directory, progress, path)
  } finally {
    await release(task, directory)
  }
  return await attempt(() => task.calls.rmdir(under(parent.self, name)), ['ENOTEMPTY', 'EEXIST', 'ENOTDIR'])
}

async function unlinkOnce(task: Task, parent: Handle, name: HostName): Promise<boolean> {
  return await attempt(() => task.calls.unlink(under(parent.self, name)), ['EISDIR'])
}

/** True when it worked or there is nothing left to do; false for the codes that mean "look again". */
async function attempt(call: () => void | Promise<void>, again: readonly string[]): Promise<boolean> {
  try {
    await call()
    return true
  } catch (error) {
    const code = nativeCode(error)
    if (code === 'ENOENT') return true
    if (code !== undefined && again.includes(code)) return false
    throw error
  }
}

async function emptyDirectory(
  task: Task,
  directory: Handle,
  progress: RemovalProgress,
  path: MountPath,
): Promise<void> {
  const doubtful = await removeListed(task, directory, progress, path, 'utf8')
  if (doubtful) await removeListed(task, directory, progress, path, 'buffer')
}

/** Removes what one listing shows. True: there were names that text cannot hold. */
async function removeListed(
  task: Task,
  directory: Handle,
  progress: RemovalProgress,
  path: MountPath,
  encoding: 'utf8' | 'buffer',
): Promise<boolean> {
  const listing = await openForRemoval(task, directory, progress, encoding)
  let doubtful = false
  try {
    for (;;) {
      task.signal?.throwIfAborted()
      if (isTurnOver()) await ownTurn()
      const { calls } = task
      const dirent = isImmediate(calls) ? listing.readSync() : await calls.readListing(listing)
      if (dirent === null) return doubtful
      const name = dirent.name as HostName
      if (typeof name === 'string' && name.includes(replacement)) doubtful = true
      else if (!removeAtOnce(task, directory, dirent, progress, path)) {
        await removeChild(task, directory, dirent, progress, path)
      }
    }
  } finally {
    await task.calls.closeListing(listing)
  }
}

/** False for what has to be waited for, for directories, and for every failure: the thorough way meets it again. */
function removeAtOnce(
  { calls }: Task,
  directory: Handle,
  dirent: DirectoryEntry,
  progress: RemovalProgress,
  path: MountPath,
): boolean {
  const { name } = dirent
  if (!isImmediate(calls) || typeof name !== 'string' || dirent.isDirectory()) return false
  try {
    calls.unlink(under(directory.self, name))
  } catch {
    return false
  }
  progress.removed(childPath(path, name))
  return true
}

async function removeChild(
  task: Task,
  directory: Handle,
  dirent: DirectoryEntry,
  progress: RemovalProgress,
  path: MountPath,
): Promise<void> {
  const name = dirent.name as HostName
  const child = childPath(path, typeof name === 'string' ? name : showBytes(name))
  if (dirent.isDirectory()) {
    await removeEntry(task, directory, name, progress, child)
    return
  }
  let isDone: boolean
  try {
    isDone = await unlinkOnce(task, directory, name)
  } catch (error) {
    throw progress.stoppedAt(child, error)
  }
  if (isDone) progress.removed(child)
  else await removeEntry(task, directory, name, progress, child)
}

async function openForRemoval(
  task: Task,
  directory: Handle,
  { unlock }: RemovalProgress,
  encoding: 'utf8' | 'buffer',
): Promise<OpenListing> {
  if (unlock) await task.calls.chmod(directory.self, 0o700)
  const whole = encoding === 'utf8' ? listWhole(task, directory) : undefined
  return whole ?? (await task.calls.openListing(directory.self, encoding))
}

/** True when nothing but leftovers was in a directory, which are removed. */
export async function hasOnlyLeftovers(task: Task, parent: Handle, name: HostName): Promise<boolean> {
  const directory = await openChild(task, parent, name, { directory: true })
  const temps: string[] = []
  try {
    const listing = await task.calls.openListing(directory.self, 'utf8')
    try {
      for (;;) {
        const dirent = await task.calls.readListing(listing)
        if (dirent === null) break
        if (!isTempName(dirent.name)) return false
        temps.push(dirent.name)
      }
    } finally {
      await task.calls.closeListing(listing)
    }
    await sweep(task, directory, temps)
    return temps.length > 0
  } finally {
    await release(task, directory)
  }
}
