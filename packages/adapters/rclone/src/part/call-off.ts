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

/** Milliseconds for which deleting waits for uploads: a store that is down must not keep it. */
const longestUploadMs = 1_000
/** The same before a move is tried again. It met the end of an upload: so the store answers, if slowly. */
const longestBeforeRetryMs = 10_000

/** Before a move to `destination` or a delete: gives what may be on its way to the store and must not come back. */
export async function callOff(
  { running, cancelled }: Open,
  path: MountPath,
  destination?: MountPath,
): Promise<readonly string[]> {
  const uploads =
    destination === undefined ? await cancelled.note(path) : await cancelled.noteMove(path, destination, running)
  // An upload that is under way cannot be called back; the store may still take it after it was asked.
  if (uploads.length > 0) await uploadsEnded(running.control, longestUploadMs)
  return uploads
}

/** Removes what the store has of files that go; see {@link callOff}. */
export async function removeStored({ running, cancelled }: Open, uploads: readonly string[], operation: string) {
  await explained(operation, () => cancelled.removeStored(uploads, running))
}

/** Moves what {@link callOff} gave. Afterwards the store has nothing under the old name, and the new one if it is to have it. */
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
    // After these errors, it is unknown how far the move got: the notes stay.
    const isUnknown = isWorkspaceError(error, 'EIO') || isWorkspaceError(error, 'ETIMEDOUT')
    if (!isUnknown) open.cancelled.noteMoved(uploads, destination)
    throw error
  }
  await removeStored(open, uploads, 'move')
  open.cancelled.noteMoved(uploads, destination)
  if (uploads.length > 0) await assureStored(open, destination, 'move')
}

/** Copies. Once more, where the temporary file met its own upload when it got its name: that file was removed. */
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
 * Whether another attempt may help a rename that failed. The destination must be free: rclone would use its cached state of
 * a file there for the file that comes.
 */
async function mayHaveMetUpload({ metadata }: Open, error: unknown, destination: MountPath): Promise<boolean> {
  return isWorkspaceError(error, 'EIO') && (await readCachedFile(join(metadata, destination))) === undefined
}

/**
 * A rename that meets the end of the file's upload fails: rclone compares two states of the file. From then on it has
 * one file under both names, and a change of one of them happens to the other. When it has forgotten the name that the
 * store does not have, another rename puts that right. True when that has moved the file.
 */
async function moveAgain({ running, files }: Open, source: MountPath, move: () => Promise<unknown>): Promise<boolean> {
  try {
    await uploadsEnded(running.control, longestBeforeRetryMs)
    await running.control.call('vfs/forget')
    await move()
  } catch {
    return false // the first error says why
  }
  // The kernel does nothing, and says that all is well, where it knows both names for one file.
  return await files.stat(source).then(
    () => false,
    (error: unknown) => isWorkspaceError(error, 'ENOENT'),
  )
}

/**
 * Makes sure that a file that was uploaded just when it got its name is in the store under that name: rclone may have
 * used the old one. Only a file that is not waiting for its upload can be wrong.
 */
export async function assureStored({ running, metadata }: Open, path: MountPath, operation: string): Promise<void> {
  const remote = relative(running.metadata, join(metadata, path))
  await explained(operation, () => supplyStore(running, remote))
}

function isInside(path: string): boolean {
  return !path.startsWith('/../')
}

/** After the barrier: surplus objects of the store go, and missing ones come. */
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

/** A directory that is to be moved elsewhere, and not into itself. */
export async function isOtherDirectory(files: StorageAdapter, source: MountPath, destination: MountPath) {
  const { type } = await files.stat(source)
  return type === 'directory' && !paths.isWithin(destination, source)
}

/** @throws WorkspaceError `ENOTEMPTY` for a directory with something in it: rclone would merge another one into it. */
export async function refuseFull(files: StorageAdapter, destination: MountPath): Promise<void> {
  const entries = files.list(destination)
  let isEmpty: boolean | undefined
  try {
    isEmpty = (await entries.next()).done
  } catch {
    return // there is nothing, or no directory: moving says what that means
  } finally {
    await entries.return?.()
  }
  if (isEmpty === true) return
  throw contractError('ENOTEMPTY', 'move', destination)
}
