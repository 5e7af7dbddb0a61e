import { closeSync, constants, fdatasyncSync, fstatSync, openSync, readSync, type Stats } from 'node:fs'

import { nativeCode } from '../errors.ts'

const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY
/** How often a file is read that changes meanwhile. The last reading is taken, and the next scan reads it again. */
const attempts = 3

export interface Content {
  readonly bytes: Uint8Array
  /** The status of the very file that was read. */
  readonly status: Stats
  /** It changed while it was read. */
  readonly torn: boolean
}

/**
 * Reads a file that was seen at a path: the same inode, whole. `undefined` where it is not that file any more, or may not be read.
 *
 * @param path below the descriptor of a verified directory
 * @param mapped a program may have the file mapped: its next store then shows in the times of the file
 */
export function readContent(path: string, seen: Stats, maxBytes: number, mapped = false): Content | undefined {
  let fd: number
  try {
    fd = openSync(path, flags)
  } catch (error) {
    const code = nativeCode(error)
    if (code === 'ENOENT' || code === 'ELOOP' || code === 'EACCES' || code === 'EPERM' || code === 'ENXIO')
      return undefined
    throw error
  }
  try {
    if (mapped) fdatasyncSync(fd) // before that, a store changes no time
    let before = fstatSync(fd)
    if (!before.isFile() || before.ino !== seen.ino || before.dev !== seen.dev) return undefined
    for (let attempt = 1; ; attempt += 1) {
      if (before.size > maxBytes) return undefined
      const bytes = readWhole(fd, before.size)
      const after = fstatSync(fd)
      const torn = !isSame(before, after) || bytes.length !== after.size
      if (!torn || attempt === attempts) return { bytes, status: after, torn }
      before = after
    }
  } finally {
    closeSync(fd)
  }
}

function isSame(one: Stats, other: Stats): boolean {
  return one.size === other.size && one.mtimeMs === other.mtimeMs && one.ctimeMs === other.ctimeMs
}

function readWhole(fd: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  let done = 0
  while (done < size) {
    const count = readSync(fd, bytes, done, size - done, done)
    if (count === 0) break
    done += count
  }
  return done === size ? bytes : bytes.subarray(0, done)
}
