import { childPath, isWorkspaceError } from '@ws/core'
import { type MountPath, rewriteError } from '@ws/core/adapter'

import { type Handle, openChild, release, statusOf } from '../confine/handle.ts'
import { notAFile } from '../confine/open.ts'
import { isReserved } from '../confine/reserved.ts'
import { isSameEntry, permissionsOf } from '../confine/status.ts'
import { type Task, targetOf } from '../confine/task.ts'
import { failure, nativeCode, translate } from '../errors.ts'
import type { DirectoryEntry, HostName, Status } from '../host/calls.ts'
import { replacement, showBytes } from '../host/name.ts'
import { ownTurn } from '../host/pace.ts'
import { type CopiedEntry, checkReplaceable, copyLink, copyRegularFile } from './copy-entry.ts'
import { makeDirectory } from './parents.ts'
import { lookAt } from './target.ts'
import { isTempName } from '../confine/temp.ts'

const reportedEntries = 1_000

/** The copied part of a tree, for the report when it stops half-way. */
export class CopyProgress {
  readonly #task: Task
  readonly #completed: MountPath[] = []
  #count = 0
  /** The directory that everything goes into: meeting it as a source would never end. */
  top: Status | undefined

  constructor(task: Task) {
    this.#task = task
  }

  copied(path: MountPath): void {
    this.#count += 1
    if (this.#completed.length < reportedEntries) this.#completed.push(path)
  }

  stoppedAt(path: MountPath, error: unknown): unknown {
    if (isWorkspaceError(error) && error.partial !== undefined) return error
    const translated = translate(error, { operation: this.#task.operation, path })
    if (!isWorkspaceError(translated)) return translated
    return rewriteError(translated, {
      partial: {
        completed: this.#completed,
        completedCount: this.#count,
        failedAt: path,
        state:
          'The source is unchanged. Entries that are listed as completed are at the destination, the rest is not. ' +
          'Remove the obstacle and copy again with overwrite: true, or delete the destination.',
      },
    })
  }
}

/** Copies a directory with everything below it, one component at a time, through descriptors of both sides. */
export async function copyTree(task: Task, entry: CopiedEntry, progress: CopyProgress): Promise<void> {
  const { source, destination } = entry
  try {
    const isNew = await makeUnlessThere(task, entry)
    const into = await openChild(task, destination.parent, destination.name, { directory: true })
    try {
      const status = await statusOf(task, into)
      progress.top ??= status
      if (isSameEntry(source.status, progress.top)) {
        throw failure(targetOf(task, source.path, 'source'), 'EINVAL', 'holds the destination of this copy')
      }
      const doubtful = await copyListed(task, entry, into, progress, 'utf8')
      if (doubtful) await copyListed(task, entry, into, progress, 'buffer')
      if (isNew) await task.calls.chmod(into.self, permissionsOf(source.status))
    } finally {
      await release(task, into)
    }
  } catch (error) {
    throw progress.stoppedAt(source.path, error)
  }
  progress.copied(source.path)
}

async function makeUnlessThere(task: Task, { source, destination, options }: CopiedEntry): Promise<boolean> {
  if (destination.found !== undefined) return false
  try {
    // ours alone until it is full: its final mode may forbid writing
    await makeDirectory(task, destination.parent, destination.name, 0o700 | permissionsOf(source.status))
    return true
  } catch (error) {
    if (nativeCode(error) !== 'EEXIST' || options.overwrite !== true) throw error
    return false
  }
}

async function copyListed(
  task: Task,
  entry: CopiedEntry,
  into: Handle,
  progress: CopyProgress,
  encoding: 'utf8' | 'buffer',
): Promise<boolean> {
  const listing = await task.calls.openListing(entry.source.handle.self, encoding)
  let doubtful = false
  try {
    for (;;) {
      task.signal?.throwIfAborted()
      await ownTurn()
      const dirent: DirectoryEntry | null = await task.calls.readListing(listing)
      if (dirent === null) return doubtful
      const name = dirent.name as HostName
      if (typeof name === 'string') {
        if (isTempName(name)) continue
        if (name.includes(replacement)) {
          doubtful = true
          continue
        }
      } else if (!name.toString().includes(replacement)) continue // it came with the first pass
      await copyChild(task, entry, into, name, progress)
    }
  } finally {
    await task.calls.closeListing(listing)
  }
}

async function copyChild(
  task: Task,
  { source, destination, options }: CopiedEntry,
  into: Handle,
  name: HostName,
  progress: CopyProgress,
): Promise<void> {
  const shown = typeof name === 'string' ? name : showBytes(name)
  const path = childPath(source.path, shown)
  let handle: Handle
  try {
    handle = await openChild(task, source.handle, name)
  } catch (error) {
    if (nativeCode(error) === 'ENOENT') return // it vanished meanwhile
    throw progress.stoppedAt(path, error)
  }
  try {
    const status = await statusOf(task, handle)
    if (isReserved(status, handle.self)) return
    const place = { parent: into, name, path: childPath(destination.path, shown) }
    const found = options.overwrite === true ? await lookAt(task, into, name) : undefined
    if (found !== undefined) checkReplaceable(targetOf(task, place.path, 'destination'), status, found)
    const child: CopiedEntry = {
      source: { parent: source.handle, name, handle, status, path },
      destination: { ...place, found },
      options: { overwrite: options.overwrite, recursive: true },
    }
    if (status.isDirectory()) return await copyTree(task, child, progress)
    if (status.isSymbolicLink()) await copyLink(task, child)
    else if (status.isFile()) await copyRegularFile(task, child)
    else throw notAFile(targetOf(task, path, 'source'))
    progress.copied(path)
  } catch (error) {
    throw progress.stoppedAt(path, error)
  } finally {
    await release(task, handle)
  }
}
