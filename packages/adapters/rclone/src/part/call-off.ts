import { join, relative } from 'node:path'

import { isWorkspaceError, paths } from '@ws/core'
import { type MountPath, type StorageAdapter, contractError } from '@ws/core/adapter'

import { readCachedFile } from '../cache/cached-file.ts'
import { explained } from '../control/client.ts'
import { supplyStore } from '../cache/stored.ts'
import { failure } from '../errors.ts'
import { uploadsEnded } from '../mount/barrier.ts'
import { settleStaleNames } from '../mount/settle-stale-names.ts'
import type { Open } from './opened.ts'

/** Milliseconds that a deletion waits for uploads. An unreachable store must not delay it further. */
const longestUploadMs = 1_000
/** Milliseconds to wait for uploads before a move is repeated. The move failed because an upload ended, so the store does answer. */
const longestBeforeRetryMs = 10_000

/** Call this before a move to `destination` or a deletion. Returns files that may be in upload and must not reappear. */
export async function callOff(
  { running, cancelled }: Open,
  path: MountPath,
  destination?: MountPath,
): Promise<readonly string[]> {
  const uploads =
    destination === undefined ? await cancelled.note(path) : await cancelled.noteMove(path, destination, running)
  // A running upload cannot be stopped. The store may still accept it after this wait.
  if (uploads.length > 0) await uploadsEnded(running.control, longestUploadMs)
  return uploads
}

/** Removes the store's objects of the files that {@link callOff} returned. */
export async function removeStored({ running, cancelled }: Open, uploads: readonly string[], operation: string) {
  await explained(operation, () => cancelled.removeStored(uploads, running))
}

/** Moves the files that {@link callOff} returned. Afterwards the store has no object at the old name, but has the new object if needed. */
export async function moveCalledOff(
  open: Open,
  uploads: readonly string[],
  { source, destination }: { readonly source: MountPath; readonly destination: MountPath },
  move: () => Promise<unknown>,
): Promise<void> {
  try {
    await move().catch(async (error: unknown) => {
      const isPossible = uploads.includes(source) && (await mayHaveMetUpload(open, error, destination))
      if (!isPossible || !(await moveAgain(open, source, move))) throw error
    })
  } catch (error) {
    // After these errors, the progress of the move is unknown, so the notes remain.
    const isUnknown = isWorkspaceError(error, 'EIO') || isWorkspaceError(error, 'ETIMEDOUT')
    if (!isUnknown) open.cancelled.noteMoved(uploads, destination)
    throw error
  }
  await removeStored(open, uploads, 'move')
  open.cancelled.noteMoved(uploads, destination)
  if (uploads.length > 0) await assureStored(open, destination, 'move')
}

/** Copies. If the temporary file was renamed during its own upload, the copy is repeated, since that file was removed. */
export async function copyAgainstUploads<Result>(
  open: Open,
  destination: MountPath,
  copy: () => Promise<Result>,
): Promise<Result> {
  try {
    return await copy()
  } catch (error) {
    if (!(await mayHaveMetUpload(open, error, destination))) throw error
    await open.running.control.call('vfs/forget').catch(() => {
      throw error // it says why
    })
    return await copy()
  }
}

/**
 * Whether a repeated rename may succeed after a failure. The destination must be free: rclone would apply its cached state of
 * an existing file to the new file.
 */
async function mayHaveMetUpload({ metadata }: Open, error: unknown, destination: MountPath): Promise<boolean> {
  return isWorkspaceError(error, 'EIO') && (await readCachedFile(join(metadata, destination))) === undefined
}

/**
 * Repeats a rename that failed because the upload ended during it, so that rclone compared two states of the file. rclone then
 * has one file under both names, and a change of one name affects the other. To correct this, rclone forgets the name that the
 * store does not have, and the file is renamed again. Returns true if this second rename has moved the file.
 */
async function moveAgain({ running, files }: Open, source: MountPath, move: () => Promise<unknown>): Promise<boolean> {
  try {
    await uploadsEnded(running.control, longestBeforeRetryMs)
    await running.control.call('vfs/forget')
    await move()
  } catch {
    return false // ignored, because the caller throws the first error
  }
  // If the kernel knows both names as one file, it does nothing and reports success.
  return await files.stat(source).then(
    () => false,
    (error: unknown) => isWorkspaceError(error, 'ENOENT'),
  )
}

/**
 * Makes sure that the store has a file under its new name if its upload coincided with a rename: rclone may have used the old
 * name. Only a file that is not waiting for its upload can have the old name.
 */
export async function assureStored({ running, metadata }: Open, path: MountPath, operation: string): Promise<void> {
  const remote = relative(running.metadata, join(metadata, path))
  await explained(operation, () => supplyStore(running, remote))
}

function isInside(path: string): boolean {
  return !path.startsWith('/../')
}

/** Removes surplus objects of the store, and adds missing objects. Call this after a flush. */
export async function settleUploads(
  { running, metadata, cancelled }: Open,
  signal: AbortSignal | undefined,
): Promise<void> {
  await explained('flush', async () => {
    const doubtful = await settleStaleNames(running, signal)
    await cancelled.settle({ ...running, signal })
    const path = doubtful.map((name) => `/${relative(metadata, join(running.metadata, name))}`).find(isInside)
    if (path === undefined) return
    const reason = 'may differ in the store from what programs see: its directory was renamed before its upload'
    const remedy = 'write the file again, or remove it, then flush again'
    throw failure('EIO', reason, { operation: 'flush', path: path as MountPath, remedy })
  })
}

/** True for a directory that moves to another place, but not into itself. */
export async function isOtherDirectory(files: StorageAdapter, source: MountPath, destination: MountPath) {
  const { type } = await files.stat(source)
  return type === 'directory' && !paths.isWithin(destination, source)
}

/** @throws WorkspaceError `ENOTEMPTY` for a non-empty directory: rclone would merge another directory into it. */
export async function refuseFull(files: StorageAdapter, destination: MountPath): Promise<void> {
  const entries = files.list(destination)
  let isEmpty: boolean | undefined
  try {
    isEmpty = (await entries.next()).done
  } catch (error) {
    // the move itself reports this error
    if (isWorkspaceError(error, 'ENOENT') || isWorkspaceError(error, 'ENOTDIR')) return
    throw error
  } finally {
    await entries.return?.()
  }
  if (isEmpty === true) return
  throw contractError('ENOTEMPTY', 'move', destination)
}
