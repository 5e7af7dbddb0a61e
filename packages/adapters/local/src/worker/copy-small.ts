import { constants, closeSync, fchmodSync, fchownSync, fstatSync, futimesSync, openSync, readSync } from 'node:fs'
import { type BigIntStats, unlinkSync, writeSync } from 'node:fs'

import { creating, reading, smallBytes } from '../host/constants.ts'

export const readingEntry = reading | constants.O_NOFOLLOW // @defence `| constants.O_NOFOLLOW` a fork of a directory: a file that becomes a link
const permissions = 0o7777
/** Half a microsecond in seconds: the kernel truncates to microseconds, and a double is not exact. */
const halfMicrosecond = 5e-7

/** The marks that a copy gets. Times are in seconds since the epoch. */
export function marksOf({ uid, gid, mode, atimeNs, mtimeNs }: BigIntStats) {
  return {
    ...{ uid: Number(uid), gid: Number(gid), mode: Number(mode) & permissions },
    accessed: Number(atimeNs / 1_000n) / 1e6 + halfMicrosecond,
    modified: Number(mtimeNs / 1_000n) / 1e6 + halfMicrosecond,
  }
}

export interface Batch {
  /** The kernel's paths to the descriptors of both directories. */
  readonly from: string
  readonly to: string
  readonly names: readonly string[]
  readonly device: bigint
  /** The permission bits that the umask leaves in the new directory. */
  readonly kept: number
  readonly uid: number
  readonly gid: number
}

const buffer = Buffer.allocUnsafe(smallBytes + 1)

/** Copies small files with one name. Returns the other names, which have no copy. Never throws. */
export function copySmall(batch: Batch): string[] {
  return batch.names.filter((name) => !copyOne(`${batch.from}/${name}`, `${batch.to}/${name}`, batch))
}

function copyOne(source: string, target: string, batch: Batch): boolean {
  let from = -1
  let to = -1
  let isDone = false
  try {
    from = openSync(source, readingEntry)
    const status = fstatSync(from, { bigint: true })
    const isPlain = status.isFile() && status.nlink === 1n && status.dev === batch.device
    if (!isPlain || status.size > smallBytes) return false
    const { uid, gid, mode, accessed, modified } = marksOf(status)
    to = openSync(target, creating, mode)
    const length = readSync(from, buffer, 0, buffer.length, 0)
    const written = length === 0 ? 0 : writeSync(to, buffer, 0, length, 0)
    const now = fstatSync(from, { bigint: true })
    if (BigInt(written) !== now.size || now.mtimeNs !== status.mtimeNs) return false
    if (uid !== batch.uid || gid !== batch.gid) fchownSync(to, uid, gid)
    if ((mode & ~batch.kept) !== 0) fchmodSync(to, mode)
    futimesSync(to, accessed, modified)
    isDone = true
    return true
  } catch {
    return false // the thorough copy meets the same error
  } finally {
    if (from >= 0) closeSync(from)
    if (to >= 0) closeSync(to)
    if (to >= 0 && !isDone) unlinkSync(target)
  }
}
