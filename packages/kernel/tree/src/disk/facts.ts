import { type BigIntStats, constants, lstatSync, type Stats } from 'node:fs'

import type { Status } from './ahead/shared.ts'

export type EntryType = 'file' | 'directory' | 'symlink'
const types: readonly EntryType[] = ['file', 'directory', 'symlink']

/** Facts about a disk entry. Times are milliseconds since the epoch, as doubles with a precision of 0.3 µs. */
export interface Facts {
  readonly type: EntryType
  readonly size: number
  /** Mode bits, including setuid, setgid and sticky. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly mtime: number
  readonly ctime: number
  readonly ino: string
  readonly birth: number
  /** A digest that identifies a file's bytes. Absent if the bytes were not read. */
  readonly content?: string | undefined
  readonly target?: string | undefined
  /** Set for a file with several hard links: its inode. */
  readonly links?: string | undefined
  /** Access lists and attributes that a restore must set again. */
  readonly attributes?: string | undefined
  /** True if a later change could leave the times equal. The next scan then reads the entry again. */
  readonly unsettled: boolean
}

export function typeOf({ mode }: Pick<Status, 'mode'>): EntryType | undefined {
  const format = mode & constants.S_IFMT
  if (format === constants.S_IFREG) return 'file'
  if (format === constants.S_IFDIR) return 'directory'
  return format === constants.S_IFLNK ? 'symlink' : undefined
}

export function factsOf(status: Stats, type: EntryType, ino: string): Omit<Facts, 'content' | 'target' | 'unsettled'> {
  const { mode, uid, gid, mtimeMs, ctimeMs, birthtimeMs, nlink } = status
  return {
    type,
    size: type === 'file' ? status.size : 0,
    mode: mode & 0o7777,
    uid,
    gid,
    mtime: mtimeMs,
    ctime: ctimeMs,
    ino,
    birth: birthtimeMs,
    links: type === 'file' && nlink > 1 ? ino : undefined,
  }
}

/** Returns true for the same entry if its status shows no write. */
export function isUntouched(known: Facts, status: Status, ino: string): boolean {
  return (
    known.mtime === status.mtimeMs &&
    known.ctime === status.ctimeMs &&
    known.ino === ino &&
    known.mode === (status.mode & 0o7777) &&
    (known.type !== 'file' || known.size === status.size) &&
    known.type === typeOf(status)
  )
}

/** Returns whether an entry is unchanged. Checks by path, in half the time. If the result is false, callers check again by descriptor. */
export function isAsBefore(
  before: Facts,
  place: string,
  { device, status }: { readonly device: number; readonly status: Status | undefined },
): boolean {
  try {
    const now = status ?? lstatSync(place, { throwIfNoEntry: false })
    if (now === undefined || now.dev !== device) return false
    const ino = inodeOf(now, () => lstatSync(place, { bigint: true }))
    return isUntouched(before, now, ino)
  } catch {
    // false: the caller opens a descriptor, and reports the error then
    return false
  }
}

/** Allowed difference in milliseconds between a requested time and the stored time. */
const timeSlack = 0.002

export function isSameTime(one: number, other: number): boolean {
  return Math.abs(one - other) < timeSlack
}

export interface EntryRow {
  readonly path: string
  readonly first: number
  readonly last: number
  readonly type: number
  readonly size: number
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly mtime: number
  readonly ctime: number
  readonly ino: string
  readonly birth: number
  readonly content: string | null
  readonly target: string | null
  readonly links: string | null
  readonly unsettled: number
}

export function factsOfRow(row: EntryRow): Facts {
  const { size, mode, uid, gid, mtime, ctime, ino, birth } = row
  return {
    type: types[row.type] ?? 'file',
    size,
    mode,
    uid,
    gid,
    mtime,
    ctime,
    ino,
    birth,
    content: row.content ?? undefined,
    target: row.target ?? undefined,
    links: row.links ?? undefined,
    unsettled: row.unsettled !== 0,
  }
}

export function valuesOf(facts: Facts): (string | number | null)[] {
  const { type, size, mode, uid, gid, mtime, ctime, ino, birth, content, target, links, unsettled } = facts
  return [
    types.indexOf(type),
    size,
    mode,
    uid,
    gid,
    mtime,
    ctime,
    ino,
    birth,
    content ?? null,
    target ?? null,
    links ?? null,
    unsettled ? 1 : 0,
  ]
}

export const entryColumns = 'type, size, mode, uid, gid, mtime, ctime, ino, birth, content, target, links, unsettled'

/** Returns an inode number as text, because a double cannot represent large numbers. */
export function inodeOf({ ino }: Pick<Status, 'ino'>, exact: () => BigIntStats): string {
  return String(Number.isSafeInteger(ino) ? ino : exact().ino)
}
