import { closeSync, constants, fdatasyncSync, fstatSync, openSync, readSync, type Stats } from 'node:fs'

import { isOfOneEntry } from '../errors.ts'
import { ContentName } from '../store/pack.ts'

const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY
/** How often a file is read that changes meanwhile. The last reading is taken, and the next scan reads it again. */
const attempts = 3
/** Files that are too many bytes for one array are read in pieces of this size. */
export const pieceBytes = 1024 * 1024

export interface ReadContentOptions {
  readonly maxBytes: number
  /** A program may have the file mapped: its next store then shows in the times of the file. Default false. */
  readonly mapped?: boolean | undefined
}

interface Read {
  readonly status: Stats
  /** It changed while it was read. */
  readonly torn: boolean
}

export interface Content extends Read {
  readonly bytes: Uint8Array
}

export interface Digest extends Read {
  /** The name of the bytes, as `contentOf` gives it. */
  readonly content: string
}

/** Reads the very file that was seen, whole; `undefined` for another one. @param path below a verified descriptor */
export function readContent(path: string, seen: Stats, options: ReadContentOptions): Content | undefined {
  const found = readSeen(path, seen, options, (fd, size) => {
    const bytes = new Uint8Array(size)
    const count = fill(fd, bytes, 0)
    return { count, result: count === size ? bytes : bytes.subarray(0, count) }
  })
  return found && { bytes: found.result, status: found.status, torn: found.torn }
}

/** The same for the name of the bytes, piece by piece: a file of any size takes the memory of one piece. */
export function digestContent(path: string, seen: Stats, options: ReadContentOptions): Digest | undefined {
  const found = readSeen(path, seen, options, (fd, size) => {
    const name = new ContentName()
    const piece = new Uint8Array(Math.min(size, pieceBytes))
    let count = 0
    while (count < size) {
      const read = fill(fd, size - count < piece.length ? piece.subarray(0, size - count) : piece, count)
      if (read === 0) break
      name.add(read === piece.length ? piece : piece.subarray(0, read))
      count += read
    }
    return { count, result: name.get() }
  })
  return found && { content: found.result, status: found.status, torn: found.torn }
}

/** Opens a file that was seen, for reading. @returns `undefined` for one that is gone, another, or unreadable */
export function openSeen(path: string, seen: Stats): number | undefined {
  let fd: number
  try {
    fd = openSync(path, flags)
  } catch (error) {
    // a lease of another program, for one, is EAGAIN at once
    if (isOfOneEntry(error)) return undefined
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
    if (mapped) fdatasyncSync(fd) // before that, a store changes no time
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

/** Nothing was written between the two. */
export function isSame(one: Stats, other: Stats): boolean {
  return one.size === other.size && one.mtimeMs === other.mtimeMs && one.ctimeMs === other.ctimeMs
}

/** Reads from an offset until the array is full, or the file ends. Answers how much. */
export function fill(fd: number, bytes: Uint8Array, offset: number): number {
  let done = 0
  while (done < bytes.length) {
    const count = readSync(fd, bytes, done, bytes.length - done, offset + done)
    if (count === 0) break
    done += count
  }
  return done
}
