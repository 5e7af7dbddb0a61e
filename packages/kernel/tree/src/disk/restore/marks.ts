import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  futimesSync,
  openSync,
  type Stats,
  utimesSync,
} from 'node:fs'

import { type Facts, inodeOf, isSameTime, typeOf } from '../facts.ts'
import { giveAttributes } from '../attributes.ts'
import { O_PATH, selfOf } from '../root.ts'
import { pathOf, type Place, Unexpected } from './place.ts'

const anyEntry = O_PATH | constants.O_NOFOLLOW
const isRoot = process.getuid?.() === 0

/** Returns the mode bits of a restored entry. Files never get setuid or setgid: old bytes must not run with another user's rights. */
function bitsOf({ type, mode }: Facts): number {
  return type === 'directory' ? mode & 0o3777 : mode & 0o1777
}

/** Returns the time in seconds, as text: Node would replace a negative number by the current time. */
export function secondsOf({ mtime }: Facts): string {
  return String(mtime / 1_000) // @defence `String` a time that no Date holds: before 1970
}

export function markNew(fd: number, facts: Facts): void {
  if (isRoot) fchownSync(fd, facts.uid, facts.gid)
  giveAttributes(fd, facts.attributes)
  fchmodSync(fd, bitsOf(facts))
  futimesSync(fd, secondsOf(facts), secondsOf(facts))
}

/** The expected inode of an entry, and its new owner, if any. */
interface Known {
  readonly ino: string
  readonly uid?: number | undefined
}

export function mark(place: Place, facts: Facts, known: Known): void {
  const fd = openSync(pathOf(place), anyEntry)
  try {
    const status = fstatSync(fd)
    const ino = inodeOf(status, () => fstatSync(fd, { bigint: true }))
    if (typeOf(status) !== facts.type || known.ino !== ino) throw new Unexpected()
    const self = selfOf(fd)
    const isOthers = status.uid !== facts.uid || status.gid !== facts.gid
    if (isRoot && isOthers && known.uid === status.uid) chownSync(self, facts.uid, facts.gid)
    giveBits(fd, status, facts)
    if (!isSameTime(status.mtimeMs, facts.mtime)) utimesSync(self, secondsOf(facts), secondsOf(facts))
  } finally {
    closeSync(fd)
  }
}

function giveBits(fd: number, { mode }: Stats, facts: Facts): void {
  // before the mode, since access lists contain mode bits
  giveAttributes(fd, facts.attributes)
  const areBitsOff = (mode & 0o7777) !== bitsOf(facts) || facts.attributes !== undefined
  if (facts.type !== 'symlink' && areBitsOff) chmodSync(selfOf(fd), bitsOf(facts))
}

/** Gives an entry, which must be our own and new, to its owner, and a directory its mode. */
export function giveNew(place: Place, facts: Facts, start: number): string {
  const fd = openSync(pathOf(place), anyEntry)
  try {
    const status = fstatSync(fd)
    const born = status.birthtimeMs > 0 ? status.birthtimeMs : status.ctimeMs
    if (status.uid !== process.getuid?.() || born < start || typeOf(status) !== facts.type) throw new Unexpected()
    if (isRoot) chownSync(selfOf(fd), facts.uid, facts.gid)
    if (facts.type === 'directory') giveBits(fd, status, facts)
    return inodeOf(status, () => fstatSync(fd, { bigint: true }))
  } finally {
    closeSync(fd)
  }
}
