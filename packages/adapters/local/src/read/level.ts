import type { FileType } from '@ws/core'
import type { Entry, MountPath } from '@ws/core/adapter'
import type { InnerListOptions } from '@ws/core/inner'
import { Reserve } from '@ws/sandbox'

import type { Handle } from '../confine/handle.ts'
import { statOf } from '../confine/status.ts'
import type { Task } from '../confine/task.ts'
import {
  type DirectoryEntry,
  type HostName,
  type ImmediateCalls,
  type OpenListing,
  type Status,
  isImmediate,
} from '../host/calls.ts'
import { under } from '../host/name.ts'
import { knownEntries, mostEntries } from './known-entries.ts'

export class WholeListing implements OpenListing {
  readonly #entries: readonly DirectoryEntry[]
  #next = 0

  constructor(entries: readonly DirectoryEntry[]) {
    this.#entries = entries
  }

  readSync(): DirectoryEntry | null {
    const entry = this.#entries[this.#next] ?? null
    this.#next += 1
    return entry
  }

  read(): Promise<DirectoryEntry | null> {
    return Promise.resolve(this.readSync())
  }

  closeSync(): void {
    // a remembered listing has no open descriptor
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

/** A listing that is read in parts. `keep` receives all entries after the last part. */
class RecordedListing implements OpenListing {
  readonly #listing: OpenListing
  readonly #keep: (entries: readonly DirectoryEntry[]) => void
  readonly #entries: DirectoryEntry[] = []

  constructor(listing: OpenListing, keep: (entries: readonly DirectoryEntry[]) => void) {
    this.#listing = listing
    this.#keep = keep
  }

  readSync(): DirectoryEntry | null {
    return this.#note(this.#listing.readSync())
  }

  async read(): Promise<DirectoryEntry | null> {
    return this.#note(await this.#listing.read())
  }

  closeSync(): void {
    this.#listing.closeSync()
  }

  close(): Promise<void> {
    return this.#listing.close()
  }

  #note(entry: DirectoryEntry | null): DirectoryEntry | null {
    if (entry === null) this.#keep(this.#entries)
    else if (this.#entries.length < mostEntries) this.#entries.push(entry)
    return entry
  }
}

export interface Level {
  readonly path: MountPath
  handle: Handle
  listing: OpenListing
  /** True in the second pass, which lists only names that are not plain UTF-8, as bytes. */
  asBytes: boolean
  /** True if the first pass found a name with U+FFFD, which may stand for invalid bytes. */
  doubtful: boolean
  readonly temps: string[]
  /** The generation of reserved names when the listing was opened. */
  readonly reserved: number
  /** True if reserved names were read after all entries: no later reservation can be among these entries. */
  isChecked: boolean
}

/** The handle of a distant level whose remaining entries were read. */
export const releasedHandle: Handle = { fd: -1, self: '/dev/null' }

export function levelOf(path: MountPath, handle: Handle, listing: OpenListing): Level {
  // Reserved names were read a moment ago: at the start of the listing, or at this directory's entry.
  const reserved = Reserve.reservedNames.lastGeneration
  return { path, handle, listing, asBytes: false, doubtful: false, temps: [], reserved, isChecked: false }
}

/** A directory known by its names, without an open handle. */
export function knownLevel(path: MountPath, names: readonly string[]): Level {
  return levelOf(path, { fd: -1, self: '' }, new WholeListing(names.map(knownDirectory)))
}

export function isKnown({ handle }: Level): boolean {
  return handle.self === ''
}

function knownDirectory(name: string): DirectoryEntry {
  return { name, isFile: () => false, isDirectory: () => true, isSymbolicLink: () => false }
}

/** The known names in a directory, by the stamp of its status. */
export function namesKnown(
  { known, details }: Pick<InnerListOptions, 'known' | 'details'>,
  { calls, tree }: Task,
  path: MountPath,
  look: (calls: ImmediateCalls) => Status | undefined,
): readonly string[] | undefined {
  if (known === undefined || details === true || !tree.verified || !isImmediate(calls)) return undefined
  const status = look(calls)
  if (status === undefined || status.dev !== tree.exactDevice || !status.isDirectory()) return undefined
  return known(path, knownEntries.stampOf(tree.id, status))
}

/** Size in bytes up to which a directory is read at once: a few hundred entries. */
const smallDirectoryBytes = 4_096n

/** Lists a small or remembered directory whole. `undefined` if the entries must be read in parts. */
export function listWhole(task: Task, handle: Handle): OpenListing | undefined {
  const { calls, tree } = task
  const status = exactStatus(task, handle)
  if (status === undefined || !isImmediate(calls)) return undefined
  if (status.size <= smallDirectoryBytes)
    return new WholeListing(knownEntries.of(tree.id, status, () => calls.listSmall(handle.self)))
  const entries = knownEntries.recall(tree.id, status)
  return entries && new WholeListing(entries)
}

/** Remembers the entries of a listing that was just opened, once it has ended. */
export function recorded(task: Task, handle: Handle, listing: OpenListing): OpenListing {
  const status = exactStatus(task, handle)
  const keep = status && knownEntries.recorder(task.tree.id, status)
  return keep === undefined ? listing : new RecordedListing(listing, keep)
}

/** The status of a directory with exact times, if reading it needs no wait. */
function exactStatus({ calls, tree }: Task, { fd }: Handle): Status | undefined {
  if (fd < 0 || tree.exactDevice === undefined || !isImmediate(calls)) return undefined
  const status = calls.fstat(fd)
  return status.dev === tree.exactDevice ? status : undefined
}

/** Reads details without waiting. `undefined` for a missing entry and every error: the thorough way repeats the error. */
export function detailsAtOnce(
  calls: ImmediateCalls,
  { handle }: Level,
  path: MountPath,
  name: string,
): Entry | undefined {
  try {
    const status = calls.lookUp(under(handle.self, name))
    return status && { path, name, ...statOf(status) }
  } catch {
    return undefined
  }
}

/** Whether an entry may be a reserved name, now or when it was read. `place`: host path of the level. */
export function mayBeReserved(level: Level, place: string, name: HostName): boolean {
  const generation = level.isChecked ? Reserve.reservedNames.lastGeneration : Reserve.reservedNames.generation()
  level.isChecked = level.listing instanceof WholeListing
  return (
    generation !== level.reserved || Reserve.reservedNames.names(`${place === '/' ? '' : place}/${name.toString()}`)
  )
}

const held: ReadonlySet<string> = new Set(['commondir', 'config', 'config.worktree'])
/** Lengths of the names in `held`. The length is compared first, because most names have another length. */
const heldLengths: ReadonlySet<number> = new Set([...held].map(({ length }) => length))

/** True if the entry may reserve a name. Only git's reserved names are files, since programs must read them. */
export function mayHoldName(dirent: DirectoryEntry): boolean {
  return (
    dirent.isDirectory() || (heldLengths.has(dirent.name.length) && dirent.isFile() && held.has(String(dirent.name)))
  )
}

export function typeOfDirent(dirent: DirectoryEntry): FileType {
  if (dirent.isFile()) return 'file'
  if (dirent.isDirectory()) return 'directory'
  return dirent.isSymbolicLink() ? 'symlink' : 'other'
}
