import { isWorkspaceError, paths } from '@ws/core'
import { type MountPath, rewriteError } from '@ws/core/adapter'

import { Descent } from '../confine/descent.ts'
import { type Handle, openChild, release, statusOf } from '../confine/handle.ts'
import { notAFile } from '../confine/open.ts'
import { isReserved, isTempName } from '../confine/hidden.ts'
import { isSameEntry, permissionsOf } from '../confine/status.ts'
import { type Task, targetOf } from '../confine/task.ts'
import { failure, nativeCode, translate } from '../errors.ts'
import type { DirectoryEntry, HostName, Status } from '../host/calls.ts'
import { replacement, showBytes } from '../host/name.ts'
import { ownTurn } from '../host/pace.ts'
import { type CopiedEntry, checkReplaceable, copyLink, copyRegularFile } from './copy-entry.ts'
import { makeDirectory } from './parents.ts'
import { lookAt } from './target.ts'

const reportedEntries = 1_000

export class CopyProgress {
  readonly #task: Task
  readonly #completed: MountPath[] = []
  #count = 0
  /** The top directory of the destination. A source that contains it is refused, because the copy would never end. */
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

interface Copying {
  readonly entry: CopiedEntry
  isNew: boolean
  below: HostName[]
}

interface Way {
  readonly from: Descent
  readonly to: Descent
  readonly levels: Copying[]
}

/** Copies a directory through descriptors of both sides, files first. Releases the source's handle. */
export async function copyTree(task: Task, entry: CopiedEntry, progress: CopyProgress): Promise<void> {
  const way: Way = {
    from: new Descent(task, entry.source.parent),
    to: new Descent(task, entry.destination.parent),
    levels: [],
  }
  try {
    await enter(task, way, entry, progress)
    for (let last = way.levels.at(-1); last !== undefined; last = way.levels.at(-1)) {
      const name = last.below.pop()
      if (name === undefined) {
        await leave(task, way, last, progress)
      } else {
        const child = await copyChild(task, way, last, name, progress)
        if (child !== undefined) await enter(task, way, child, progress)
      }
    }
  } catch (error) {
    throw progress.stoppedAt(way.levels.at(-1)?.entry.source.path ?? entry.source.path, error)
  } finally {
    await way.from.end()
    await way.to.end()
  }
}

async function enter(task: Task, way: Way, entry: CopiedEntry, progress: CopyProgress): Promise<void> {
  const { source, destination } = entry
  await way.from.enter(source.handle)
  const copying: Copying = { entry, isNew: false, below: [] }
  way.levels.push(copying)
  copying.isNew = await makeUnlessThere(task, entry)
  const into = await openChild(task, destination.parent, destination.name, { directory: true })
  await way.to.enter(into)
  progress.top ??= await statusOf(task, into)
  if (isSameEntry(source.status, progress.top)) {
    throw failure(targetOf(task, source.path, 'source'), 'EINVAL', 'holds the destination of this copy')
  }
  const doubtful = await copyListed(task, way, copying, progress, 'utf8')
  if (doubtful) await copyListed(task, way, copying, progress, 'buffer')
  copying.below.reverse()
}

async function leave(task: Task, way: Way, { entry, isNew }: Copying, progress: CopyProgress): Promise<void> {
  const { status, path } = entry.source
  if (isNew) await task.calls.chmod(way.to.last.self, permissionsOf(status))
  await way.from.leave()
  await way.to.leave()
  way.levels.pop()
  progress.copied(path)
}

async function makeUnlessThere(task: Task, { source, destination, options }: CopiedEntry): Promise<boolean> {
  if (destination.found !== undefined) return false
  try {
    // closed to other users until the directory is full, since its final mode may forbid writing
    await makeDirectory(task, destination.parent, destination.name, 0o700 | permissionsOf(source.status))
    return true
  } catch (error) {
    if (nativeCode(error) !== 'EEXIST' || options.overwrite !== true) throw error
    return false
  }
}

/** Copies the listed entries, except directories. Returns true if some names are not valid text. */
async function copyListed(
  task: Task,
  way: Way,
  copying: Copying,
  progress: CopyProgress,
  encoding: 'utf8' | 'buffer',
): Promise<boolean> {
  const listing = await task.calls.openListing(way.from.last.self, encoding)
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
      } else if (!name.toString().includes(replacement)) continue // the first pass copied it
      const directory = dirent.isDirectory() ? undefined : await copyChild(task, way, copying, name, progress)
      if (directory !== undefined) await release(task, directory.source.handle)
      if (dirent.isDirectory() || directory !== undefined) copying.below.push(name)
    }
  } finally {
    await task.calls.closeListing(listing)
  }
}

/** Copies a child. Returns an opened directory that the caller must enter. */
async function copyChild(
  task: Task,
  way: Way,
  { entry: { source, destination, options } }: Copying,
  name: HostName,
  progress: CopyProgress,
): Promise<CopiedEntry | undefined> {
  const shown = typeof name === 'string' ? name : showBytes(name)
  const path = paths.child(source.path, shown)
  const { from, to } = way
  let handle: Handle | undefined
  try {
    handle = await openChild(task, from.last, name)
    const status = await statusOf(task, handle)
    if (isReserved(status, handle.self)) return undefined
    const place = { parent: to.last, name, path: paths.child(destination.path, shown) }
    const found = options.overwrite === true ? await lookAt(task, to.last, name) : undefined
    if (found !== undefined) checkReplaceable(targetOf(task, place.path, 'destination'), status, found)
    const child: CopiedEntry = {
      source: { parent: from.last, name, handle, status, path },
      destination: { ...place, found },
      options: { overwrite: options.overwrite, recursive: true },
    }
    if (status.isDirectory()) {
      handle = undefined
      return child
    }
    if (status.isSymbolicLink()) await copyLink(task, child)
    else if (status.isFile()) await copyRegularFile(task, child)
    else throw notAFile(targetOf(task, path, 'source'))
    progress.copied(path)
    return undefined
  } catch (error) {
    if (handle === undefined && nativeCode(error) === 'ENOENT') return undefined // it vanished meanwhile
    throw progress.stoppedAt(path, error)
  } finally {
    if (handle !== undefined) await release(task, handle)
  }
}
