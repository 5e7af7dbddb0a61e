import { join } from 'node:path'

import { isThere } from './disk.ts'
import { timeInStore } from '../control/hash.ts'
import { type StoredPart, deleteStored, supplyStore } from './stored.ts'

/** Limit of store queries at once. */
const atOnce = 8
/** Milliseconds by which the store's clock may be ahead of this machine's clock. */
const slackMs = 10_000

/** A name that a file has left, while the store may still have an object there. Paths are relative to the store's part. */
export interface StaleName {
  readonly from: string
  /** The present path of the file; `undefined` for a deleted file. */
  readonly to?: string | undefined
  /** When the file left the name, in milliseconds since the epoch. */
  readonly at: number
  /** The store's object at `from` was uploaded for `to`. */
  readonly misplaced?: boolean
  /** The rename happened during the upload, so the store may have an earlier content at `to`, or nothing. */
  readonly hasMet?: boolean
}

/** Corrects the store. `isRight`: the store had no object at the old names. `slowestMs`: the store's longest answer time for one name. */
export async function lookAt(part: StoredPart, staleNames: readonly StaleName[]) {
  let isRight = true
  let slowestMs = 0
  const one = async (staleName: StaleName): Promise<void> => {
    const start = performance.now()
    if (await settleOne(part, staleName)) isRight = false
    slowestMs = Math.max(slowestMs, performance.now() - start)
  }
  for (let next = 0; next < staleNames.length; next += atOnce)
    await Promise.all(staleNames.slice(next, next + atOnce).map(one))
  return { isRight, slowestMs }
}

/** True if the store had an object under the old name. */
async function settleOne(part: StoredPart, { from, to, at, misplaced }: StaleName): Promise<boolean> {
  if (to !== undefined) await supplyStore(part, to)
  // A program has made the file again, or a file under construction will be renamed, and rclone renames its object too.
  // A late upload can leave a note about a removed file, but no content.
  if (isThere(join(part.metadata, from)) && isThere(join(part.content, from))) {
    if (misplaced === true) await supplyStore(part, from)
    return false
  }
  // rclone's log also uses this character for bytes that are not UTF-8: the object may belong to another file
  if (from.includes('\uFFFD')) return false
  const where = { fs: part.fs, remote: from }
  const time = await timeInStore(part.control, where, part.signal)
  // a later object belongs to another writer
  if (time === undefined || time > at + slackMs) return false
  await deleteStored(part.control, where, part.signal)
  return true
}
