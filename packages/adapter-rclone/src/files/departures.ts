import type { MountPath, StorageAdapter } from '@ws/core'

import { ControlRefusal } from '../control/client.ts'
import { diagnosed, failure } from '../errors.ts'
import { uploadsEnded } from '../flush/barrier.ts'
import type { Open } from '../opened.ts'

/** Milliseconds for which deleting waits for uploads: a store that is down must not keep it. */
const longestUploadMs = 1_000

/** Before a file or directory goes. Gives what of it may be on its way to the store, and must not come back. */
export async function callOff({ running, cancelled }: Open, path: MountPath): Promise<readonly string[]> {
  const paths = await cancelled.note(path)
  // An upload that is under way cannot be called back; the store may still take it after it was asked.
  if (paths.length > 0) await uploadsEnded(running.control, longestUploadMs)
  return paths
}

/** Removes what the store has of files that go; see {@link callOff}. */
export async function removeStored({ running, cancelled }: Open, paths: readonly string[], operation: string) {
  try {
    await cancelled.removeStored(paths, running)
  } catch (error) {
    if (error instanceof ControlRefusal) throw diagnosed(error.message, operation)
    throw error
  }
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
  const remedy = 'delete it recursively, or empty it first'
  throw failure('ENOTEMPTY', 'is not empty', { operation: 'move', path: destination, remedy })
}
