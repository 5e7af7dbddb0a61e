import { dirname, join } from 'node:path'

import { hashInNote, readCachedFile } from './cached-file.ts'
import { type Control, isNotFound } from '../control/client.ts'
import { type RemoteFile, hashInStore } from '../control/hash.ts'

export interface StoredPart {
  readonly control: Control
  /** The store's part as rclone names it. */
  readonly fs: string
  /** Host path of the cache's notes on files. */
  readonly metadata: string
  /** Host path of the cache's contents of files. */
  readonly content: string
  /** Host path of the mount. */
  readonly root: string
  readonly signal?: AbortSignal | undefined
}

export interface FollowedPart extends StoredPart {
  /** Resolves when all messages that rclone has written so far were read. */
  readonly catchUp: () => Promise<void>
  /** Milliseconds for which the kernel remembers a path. */
  readonly attributeCache: number
}

/** Removes a file from the store, without the mount. A missing file is fine. */
export async function deleteStored(control: Control, file: RemoteFile, signal: AbortSignal | undefined): Promise<void> {
  try {
    await control.call('operations/deletefile', file, { signal })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** Copies a file of the cache to the store if both differ. Returns true after a copy. A file that waits for its upload is skipped. */
export async function supplyStore(part: StoredPart, path: string): Promise<boolean> {
  const { control, fs, metadata, signal } = part
  const said = await readCachedFile(join(metadata, path))
  if (said === undefined || said.dirty || !said.complete) return false
  const hash = hashInNote(said)
  if (hash === undefined || (await hashInStore(control, { fs, remote: path }, signal)) === hash) return false
  if (!(await supplyPlace(part, path, path))) return false
  // until rclone lists the directory, it uses the object of the old name for this file
  const directory = dirname(path)
  await control.call('vfs/forget', directory === '.' ? {} : { dir: directory }, { signal })
  return true
}

/** Without this option, rclone only deletes the source: it treats files of equal size and time as equal, and store times are in seconds. */
const anyway = { IgnoreTimes: true }

/** Milliseconds to copy one file. */
const copyMs = 600_000

/** Copies a file of the cache to the store, under the name that programs see. Returns false if the file has vanished. */
export async function supplyPlace(part: StoredPart, item: string, place: string): Promise<boolean> {
  const { control, fs, content, signal } = part
  const copy = { srcFs: content, srcRemote: item, dstFs: fs, dstRemote: place, _config: anyway }
  try {
    await control.call('operations/copyfile', copy, { signal, timeout: copyMs })
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}
