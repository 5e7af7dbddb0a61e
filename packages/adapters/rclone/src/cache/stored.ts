import { dirname, join } from 'node:path'

import { readCachedFile } from './cached-file.ts'
import { hashOf } from './content-hash.ts'
import { type Control, isNotFound } from '../control/client.ts'
import { type RemoteFile, hashInStore } from '../control/hash.ts'

export interface StoredPart {
  readonly control: Control
  /** The store's part as rclone names it. */
  readonly fs: string
  /** Host path of what the cache says of its files. */
  readonly metadata: string
  /** Host path of their content. */
  readonly content: string
  /** Host path of the mount. */
  readonly root: string
  readonly signal?: AbortSignal | undefined
}

/** Removes a file from the store, without the mount. A missing file is fine. */
export async function deleteStored(control: Control, file: RemoteFile, signal: AbortSignal | undefined): Promise<void> {
  try {
    await control.call('operations/deletefile', file, { signal })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** Gives a file of the store another name, without the mount. */
export async function moveStored({ control, fs, signal }: StoredPart, from: string, to: string): Promise<void> {
  const move = { srcFs: fs, srcRemote: from, dstFs: fs, dstRemote: to, _config: anyway }
  try {
    await control.call('operations/movefile', move, { signal, timeout: copyMs })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** Gives the store what the cache has, if they differ; true then. A file that waits for its upload is left alone. */
export async function supplyStore(part: StoredPart, path: string): Promise<boolean> {
  const { control, fs, metadata, content, signal } = part
  const said = await readCachedFile(join(metadata, path))
  if (said === undefined || said.dirty || !said.complete) return false
  const hash = said.fingerprint.split(',').at(-1) ?? ''
  if (!/^[0-9a-f]{32}$/.test(hash)) return false
  if ((await hashInStore(control, { fs, remote: path }, signal)) === hash) return false
  const copy = { srcFs: content, srcRemote: path, dstFs: fs, dstRemote: path, _config: anyway }
  try {
    await control.call('operations/copyfile', copy, { signal, timeout: copyMs })
  } catch (error) {
    if (isNotFound(error)) return false // it has gone meanwhile
    throw error
  }
  // rclone takes the object of the old name for this file's, until it lists the directory
  const directory = dirname(path)
  await control.call('vfs/forget', directory === '.' ? {} : { dir: directory }, { signal })
  return true
}

/** rclone takes files of one size and time for the same, and times of the store are seconds: it would only delete the source. */
const anyway = { IgnoreTimes: true }

/** Milliseconds for one file. */
const copyMs = 600_000

/** The one of these names that has the store's object in the mount, and that the store does not have yet. */
export async function placeOf(
  { control, fs, root, signal }: StoredPart,
  from: string,
  shown: readonly string[],
  isSure: (only: string) => boolean = () => true,
): Promise<string | undefined> {
  const [only, ...others] = shown
  if (only === from && others.length === 0) return undefined
  if (only !== undefined && others.length === 0 && isSure(only)) return only
  const hash = await hashInStore(control, { fs, remote: from }, signal)
  const has = async (remote: string) => hash !== undefined && (await hashOf(join(root, remote))) === hash
  if (shown.includes(from) && (await has(from))) return undefined
  for (const remote of shown) {
    if (!(await has(remote))) continue
    if ((await hashInStore(control, { fs, remote }, signal)) !== hash) return remote
  }
  return undefined
}
