import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { timeInStore } from '../control/hash.ts'
import { type StoredPart, deleteStored, supplyStore } from './stored.ts'

/** Most files that the store is asked about at once. */
const atOnce = 8
/** Milliseconds by which the store's clock may be ahead of ours. */
const slackMs = 10_000

/** A name that a file has left, while the store may still have an object there. Paths are relative to the store's part. */
export interface StaleName {
  readonly from: string
  /** Where the file is now; `undefined` for a deleted file. */
  readonly to?: string | undefined
  /** When the file left the name, in milliseconds since the epoch. */
  readonly at: number
  /** The store's object at `from` was uploaded for `to`. */
  readonly misplaced?: boolean
}

/** Corrects the store. `isRight`: it had nothing under an old name. `slowestMs`: the longest time of its answers for one name. */
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

/** True when the store had something under the old name. */
async function settleOne(part: StoredPart, { from, to, at, misplaced }: StaleName): Promise<boolean> {
  if (to !== undefined) await supplyStore(part, to)
  // A program has made it again; or a file under construction is still to get its real name, by which rclone takes it along.
  // An upload that ends late notes what it knew of a file that has gone, but has no content of it.
  if (existsSync(join(part.metadata, from)) && existsSync(join(part.content, from))) {
    if (misplaced === true) await supplyStore(part, from)
    return false
  }
  // rclone's log also has this character for bytes that are not UTF-8: the object may belong to another file
  if (from.includes('\uFFFD')) return false
  const where = { fs: part.fs, remote: from }
  const time = await timeInStore(part.control, where, part.signal)
  // a later object belongs to another writer
  if (time === undefined || time > at + slackMs) return false
  await deleteStored(part.control, where, part.signal)
  return true
}
