import { closeSync, constants, fdatasyncSync, fstatSync, openSync, readSync, type Stats } from 'node:fs'

import { isOfOneEntry } from '../errors.ts'
import { ContentName } from './content-name.ts'

const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY
/** Maximum number of reads of a file that keeps changing. The last result is used until the next scan. */
const attempts = 3
/** Size of the pieces of a file that is too large for one array. */
export const pieceBytes = 1024 * 1024

export interface ReadContentOptions {
  readonly maxBytes: number
  /** True if a program may have mapped the file: the file's times then change only at its next write. Default false. */
  readonly mapped?: boolean | undefined
}

interface Read {
  readonly status: Stats
  /** True if the file changed during the read. */
  readonly torn: boolean
}

export interface Content extends Read {
  readonly bytes: Uint8Array
}

export interface Digest extends Read {
  /** A digest that identifies the bytes: see `contentOf`. */
  readonly content: string
}

/** Reads a whole file; `undefined` if its status is not `seen`. `path` starts at a verified descriptor. */
export function readContent(path: string, seen: Stats, options: ReadContentOptions): Content | undefined {
  const found = readSeen(path, seen, options, (fd, size) => {
    const bytes = new Uint8Array(size)
    const count = readFully(fd, bytes, 0)
    return { count, result: count === size ? bytes : bytes.subarray(0, count) }
  })
  return found && { bytes: found.result, status: found.status, torn: found.torn }
}

/** Works like {@link readContent}, but returns a digest of the bytes. Needs only the memory of one piece. */
export function digestContent(path: string, seen: Stats, options: ReadContentOptions): Digest | undefined {
  const found = readSeen(path, seen, options, (fd, size) => {
    const name = new ContentName()
    const piece = new Uint8Array(Math.min(size, pieceBytes))
    let count = 0
    while (count < size) {
      const read = readFully(fd, size - count < piece.length ? piece.subarray(0, size - count) : piece, count)
      if (read === 0) break
      name.add(read === piece.length ? piece : piece.subarray(0, read))
      count += read
    }
    return { count, result: name.get() }
  })
  return found && { content: found.result, status: found.status, torn: found.torn }
}

/** Opens a file with the status `seen`. Returns `undefined` if the file is gone, replaced or unreadable. */
export function openSeen(path: string, seen: Stats): number | undefined {
  let fd: number
  try {
    fd = openSync(path, flags)
  } catch (error) {
    // an error of this single file, such as EAGAIN because another program has a lease
    if (isOfOneEntry(error)) return undefined // @defence a lease on a file: a lease of another program
    throw error
  }
  const status = fstatSync(fd)
  if (status.isFile() && status.ino === seen.ino && status.dev === seen.dev) return fd
  closeSync(fd)
  return undefined
}

type Reader<Result> = (fd: number, size: number) => { readonly count: number; readonly result: Result }

function readSeen<Result>(
  path: string,
  seen: Stats,
  { maxBytes, mapped = false }: ReadContentOptions,
  read: Reader<Result>,
): (Read & { readonly result: Result }) | undefined {
  const fd = openSeen(path, seen)
  if (fd === undefined) return undefined
  try {
    if (mapped) fdatasyncSync(fd) // until this call, a write through a mapping changes no time
    let before = fstatSync(fd)
    for (let attempt = 1; ; attempt += 1) {
      if (before.size > maxBytes) return undefined
      const { count, result } = read(fd, before.size)
      const after = fstatSync(fd)
      const torn = !isSame(before, after) || count !== after.size
      if (!torn || attempt === attempts) return { result, status: after, torn }
      before = after
    }
  } catch (error) {
    if (isOfOneEntry(error)) return undefined
    throw error
  } finally {
    closeSync(fd)
  }
}

/** Returns true if the file was not written between two statuses. */
export function isSame(one: Stats, other: Stats): boolean {
  return one.size === other.size && one.mtimeMs === other.mtimeMs && one.ctimeMs === other.ctimeMs
}

/** Fills the array from an offset, up to the file's end. Returns the number of bytes. */
export function readFully(fd: number, bytes: Uint8Array, offset: number): number {
  let done = 0
  while (done < bytes.length) {
    const count = readSync(fd, bytes, done, bytes.length - done, offset + done)
    if (count === 0) break
    done += count
  }
  return done
}
