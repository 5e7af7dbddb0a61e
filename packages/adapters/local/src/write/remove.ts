import { paths, type WorkspaceError, isWorkspaceError } from '@ws/core'
import { type MountPath, rewriteError } from '@ws/core/adapter'

import { Descent } from '../confine/descent.ts'
import { type Handle, openChild, release } from '../confine/handle.ts'
import type { Task } from '../confine/task.ts'
import { failure, nativeCode, translate } from '../errors.ts'
import { type HostName, type OpenListing, isImmediate } from '../host/calls.ts'
import { replacement, showBytes, under } from '../host/name.ts'
import { isTurnOver, ownTurn } from '../host/pace.ts'
import { listWhole } from '../read/level.ts'
import { sweep } from '../confine/temp.ts'
import { isTempName } from '../confine/hidden.ts'

/** Limit of attempts to empty a directory that another process fills or exchanges. */
const attempts = 16
const reportedEntries = 1_000

export interface RemovalOptions {
  /** Add missing rights to directories, for a tree that this process made. */
  readonly unlock?: boolean
}

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

interface Doomed {
  readonly name: HostName
  readonly path: MountPath
  /** The directories inside the entry, once the entry was entered. */
  below?: HostName[] | undefined
  attempts: number
}

/**
 * Removes an entry with everything below, one component at a time by descriptor, never following links. A directory's files go first,
 * so only its directories are kept in memory.
 */
export async function removeEntry(
  task: Task,
  parent: Handle,
  name: HostName,
  progress: RemovalProgress,
): Promise<void> {
  const way = new Descent(task, parent)
  const doomed: Doomed[] = [{ name, path: progress.path, attempts: 0 }]
  try {
    for (let last = doomed.at(-1); last !== undefined; last = doomed.at(-1)) {
      const next = last.below?.pop()
      if (next !== undefined) doomed.push({ name: next, path: childOf(last.path, next), attempts: 0 })
      else if (await removeOnce(task, way, last, progress)) {
        progress.removed(last.path)
        doomed.pop()
      } else if (last.attempts > attempts) {
        const where = { operation: task.operation, path: last.path }
        throw failure(where, 'EBUSY', 'is being filled or exchanged by another process', { remedy: 'try again' })
      }
    }
  } catch (error) {
    throw progress.stoppedAt(doomed.at(-1)?.path ?? progress.path, error)
  } finally {
    await way.end()
  }
}

/** Returns false if the entry was entered or has changed, and must be examined again. */
async function removeOnce(task: Task, way: Descent, doomed: Doomed, progress: RemovalProgress): Promise<boolean> {
  const { name } = doomed
  if (doomed.below !== undefined) {
    doomed.below = undefined
    await way.leave()
    return await attempt(() => task.calls.rmdir(under(way.last.self, name)), ['ENOTEMPTY', 'EEXIST', 'ENOTDIR'])
  }
  doomed.attempts += 1
  let directory: Handle
  try {
    directory = await openChild(task, way.last, name, { directory: true })
  } catch (error) {
    const code = nativeCode(error)
    if (code === 'ENOENT') return true
    if (code !== 'ENOTDIR' && code !== 'ELOOP') throw error
    return await unlinkOnce(task, way.last, name)
  }
  await way.enter(directory)
  doomed.below = await removeFiles(task, directory, progress, doomed.path)
  return false
}

function childOf(path: MountPath, name: HostName): MountPath {
  return paths.child(path, typeof name === 'string' ? name : showBytes(name))
}

async function unlinkOnce(task: Task, parent: Handle, name: HostName): Promise<boolean> {
  return await attempt(() => task.calls.unlink(under(parent.self, name)), ['EISDIR'])
}

/** Returns true if the call succeeded or was not needed, and false if the entry must be examined again. */
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

async function removeFiles(
  task: Task,
  directory: Handle,
  progress: RemovalProgress,
  path: MountPath,
): Promise<HostName[]> {
  const below: HostName[] = []
  const doubtful = await removeListed(task, directory, progress, path, 'utf8', below)
  if (doubtful) await removeListed(task, directory, progress, path, 'buffer', below)
  return below.toReversed()
}

/** Removes the listed entries, except directories. Returns true if some names are not valid text. */
async function removeListed(
  task: Task,
  directory: Handle,
  progress: RemovalProgress,
  path: MountPath,
  encoding: 'utf8' | 'buffer',
  below: HostName[],
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
      else if (dirent.isDirectory()) {
        if (typeof name === 'string' || name.toString().includes(replacement)) below.push(name)
      } else if (!removeAtOnce(task, directory, name, progress, path)) {
        const child = childOf(path, name)
        try {
          if (await unlinkOnce(task, directory, name)) progress.removed(child)
          else below.push(name)
        } catch (error) {
          throw progress.stoppedAt(child, error)
        }
      }
    }
  } finally {
    await task.calls.closeListing(listing)
  }
}

/** Removes without waiting. False if the removal would have to wait or has failed: the thorough way repeats the failure. */
function removeAtOnce(
  { calls }: Task,
  directory: Handle,
  name: HostName,
  progress: RemovalProgress,
  path: MountPath,
): boolean {
  if (!isImmediate(calls) || typeof name !== 'string') return false
  try {
    calls.unlink(under(directory.self, name))
  } catch {
    return false // ignored here: the asynchronous removal gets the same error
  }
  progress.removed(paths.child(path, name))
  return true
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

/** Whether a directory contained only leftovers, which are removed. */
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
