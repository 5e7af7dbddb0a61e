import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs'

import { nativeCode } from '../../errors.ts'
import { type Facts, inodeOf, typeOf } from '../facts.ts'
import { O_PATH, selfOf } from '../root.ts'
import { newTemporary } from '../temporary.ts'
import { giveNew, markNew, secondsOf } from './marks.ts'
import { pathOf, type Place, Unexpected } from './place.ts'

const creating = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
const anyEntry = O_PATH | constants.O_NOFOLLOW
/** Milliseconds by which a file system's clock may be behind. */
const clockSlackMs = 100

/** @throws Unexpected if the entry has changed since it was seen */
export function assertAsSeen(place: Place, seen: Facts): void {
  const status = statusAt(place)
  if (status === undefined) throw new Unexpected('it was removed meanwhile')
  const isSame =
    isEntry(place, status, seen) &&
    // the ctime of a file with hard links is ignored: it changes when another name of the file appears or vanishes
    (seen.type !== 'file' || seen.links !== undefined || seen.ctime === status.ctimeMs) &&
    (seen.type !== 'symlink' || readlinkSync(pathOf(place)) === seen.target) &&
    (seen.type === 'directory' || isUnwritten(status, seen))
  if (!isSame) throw new Unexpected() // @defence another writer's work that a restore would overwrite or remove: UN3
}

function statusAt(place: Place): Stats | undefined {
  return lstatSync(pathOf(place), { throwIfNoEntry: false })
}

function isEntry(place: Place, status: Stats, seen: Facts): boolean {
  const ino = inodeOf(status, () => lstatSync(pathOf(place), { bigint: true }))
  return typeOf(status) === seen.type && ino === seen.ino
}

function isUnwritten(status: Stats, { type, size, mtime }: Facts): boolean {
  return (type !== 'file' || status.size === size) && status.mtimeMs === mtime
}

/** Removes an unchanged file or link. Renames it first, so that no other entry can be removed. */
export function removeFile(place: Place, seen: Facts): void {
  assertAsSeen(place, seen)
  const taken: Place = { parent: place.parent, name: newTemporary() }
  renameSync(pathOf(place), pathOf(taken))
  const status = statusAt(taken)
  if (status !== undefined && isEntry(taken, status, seen) && isUnwritten(status, seen)) {
    unlinkSync(pathOf(taken))
    return
  }
  putBack(taken, place)
  throw new Unexpected()
}

function putBack(taken: Place, place: Place): void {
  linkSync(pathOf(taken), pathOf(place))
  unlinkSync(pathOf(taken))
}

export function removeDirectory(place: Place, seen: Facts): void {
  assertAsSeen(place, seen)
  try {
    rmdirSync(pathOf(place))
  } catch (error) {
    if (nativeCode(error) === 'ENOTEMPTY') throw new Unexpected('it holds something that is new')
    throw error
  }
}

/** Creates a directory with its mode, since a merge after a kill compares modes. Returns its inode. */
export function makeDirectory(place: Place, facts: Facts): string {
  const start = Date.now() - clockSlackMs
  // an access list comes later, and could let fewer users in
  once(place, () => mkdirSync(pathOf(place), facts.attributes ? 0o700 : facts.mode & 0o777))
  return giveNew(place, facts, start)
}

export function create(place: Place, facts: Facts, source: Uint8Array | Place | undefined): void {
  if (facts.type === 'symlink') return once(place, () => makeLink(place, facts))
  const temp = prepare(place, facts, source)
  try {
    once(place, () => linkSync(pathOf(temp), pathOf(place)))
  } finally {
    unlinkSync(pathOf(temp))
  }
}

/** Replaces an unchanged file or link in one step. Keeps the old entry meanwhile, and restores it if its bytes have changed. */
export function replace(place: Place, facts: Facts, seen: Facts, source: Uint8Array | Place | undefined): void {
  const temp = prepare(place, facts, source)
  const held: Place = { parent: place.parent, name: newTemporary() }
  try {
    assertAsSeen(place, seen)
    linkSync(pathOf(place), pathOf(held))
    assertHeld(held, seen)
    renameSync(pathOf(temp), pathOf(place))
  } catch (error) {
    removeQuietly(temp)
    removeQuietly(held)
    throw error
  }
  try {
    assertHeld(held, seen)
  } catch (error) {
    renameSync(pathOf(held), pathOf(place))
    throw error
  }
  unlinkSync(pathOf(held))
}

function assertHeld(held: Place, seen: Facts): void {
  const status = statusAt(held)
  if (status === undefined || !isEntry(held, status, seen) || !isUnwritten(status, seen)) throw new Unexpected()
}

function removeQuietly(place: Place): void {
  try {
    unlinkSync(pathOf(place))
  } catch {
    // the entry was already renamed, or was never created
  }
}

/** Creates a complete entry under a hidden name in the same directory. `source`: its bytes, or an entry to link to. */
function prepare({ parent }: Place, facts: Facts, source: Uint8Array | Place | undefined): Place {
  const temp: Place = { parent, name: newTemporary() }
  if (facts.type === 'symlink') {
    makeLink(temp, facts)
    return temp
  }
  if (source !== undefined && !(source instanceof Uint8Array)) {
    linkSync(pathOf(source), pathOf(temp))
    return temp
  }
  const fd = openSync(pathOf(temp), creating, 0o600)
  try {
    const bytes = source ?? new Uint8Array()
    let done = 0
    while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done)
    markNew(fd, facts)
    return temp
  } catch (error) {
    removeQuietly(temp)
    throw error
  } finally {
    closeSync(fd)
  }
}

function makeLink(place: Place, facts: Facts): void {
  const start = Date.now() - clockSlackMs
  symlinkSync(facts.target ?? '', pathOf(place))
  giveNew(place, facts, start)
  const fd = openSync(pathOf(place), anyEntry)
  try {
    // the path in /proc leads to the entry itself, so a symbolic link is not followed
    if (fstatSync(fd).isSymbolicLink()) utimesSync(selfOf(fd), secondsOf(facts), secondsOf(facts))
  } finally {
    closeSync(fd)
  }
}

function once(place: Place, make: () => void): void {
  try {
    make()
  } catch (error) {
    if (nativeCode(error) !== 'EEXIST') throw error
    if (!removeEmptied(place)) throw new Unexpected('something else was made there meanwhile')
    make()
  }
}

/** Removes a FIFO or a socket, which contains no bytes. Returns false for any other entry. */
function removeEmptied(place: Place): boolean {
  const holdsNothing = (at: Place): boolean => {
    const status = statusAt(at)
    return status?.isFIFO() === true || status?.isSocket() === true
  }
  if (!holdsNothing(place)) return false
  const taken: Place = { parent: place.parent, name: newTemporary() }
  renameSync(pathOf(place), pathOf(taken))
  if (holdsNothing(taken)) {
    unlinkSync(pathOf(taken))
    return true
  }
  putBack(taken, place)
  return false
}
