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
    // nothing is open
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

/** A listing in parts. `keep` gets its entries when the last one was read. */
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
  /** The second pass: only names that are not plain UTF-8, as bytes. */
  asBytes: boolean
  /** The first pass met a name with U+FFFD, which may stand for invalid bytes. */
  doubtful: boolean
  readonly temps: string[]
  /** The last generation of reserved names before the listing was opened. */
  readonly reserved: number
  /** Reserved names were read after all entries, so no later reservation can be among these entries. */
  isChecked: boolean
}

/** The handle of a level far above, whose remaining entries were read. */
export const releasedHandle: Handle = { fd: -1, self: '/dev/null' }

export function levelOf(path: MountPath, handle: Handle, listing: OpenListing): Level {
  // Reserved names were read a moment ago: when the listing began, or at the entry that led here.
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

/** Bytes of a small directory, read at once: a few hundred entries. */
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

/** The status of a directory whose times are exact, where asking needs no wait. */
function exactStatus({ calls, tree }: Task, { fd }: Handle): Status | undefined {
  if (fd < 0 || tree.exactDevice === undefined || !isImmediate(calls)) return undefined
  const status = calls.fstat(fd)
  return status.dev === tree.exactDevice ? status : undefined
}

/** `undefined` for a missing entry and for every error: the thorough way meets the error again. */
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

/** Whether an entry may only reserve a name now, or did when it was read. `place`: host path of the level. */
export function mayBeReserved(level: Level, place: string, name: HostName): boolean {
  const generation = level.isChecked ? Reserve.reservedNames.lastGeneration : Reserve.reservedNames.generation()
  level.isChecked = level.listing instanceof WholeListing
  return (
    generation !== level.reserved || Reserve.reservedNames.names(`${place === '/' ? '' : place}/${name.toString()}`)
  )
}

const held: ReadonlySet<string> = new Set(['commondir', 'config', 'config.worktree'])
/** Asked first: most names have another length. */
const heldLengths: ReadonlySet<number> = new Set([...held].map(({ length }) => length))

/** Only git's reserved names are held by files, which programs must read. */
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
