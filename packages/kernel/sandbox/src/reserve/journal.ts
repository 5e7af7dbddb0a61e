import { lstatSync, readdirSync, readFileSync, rmSync, type BigIntStats, statSync } from 'node:fs'
import { join } from 'node:path'

import { isSettled } from '@ws/core/inner'

import { isShort } from '../run/room.ts'

import { reservedDirectory, WatchedDirectory } from './state-directory.ts'

interface Reserved {
  /** `parent`: a directory above a reserved name. The directory remains if a program puts an entry in it. */
  readonly kind: 'leaf' | 'file' | 'parent'
  readonly path: string
  readonly dev: bigint
  readonly ino: bigint
  readonly mtimeNs: bigint
}

type Status = Pick<BigIntStats, 'dev' | 'ino' | 'mode' | 'mtimeNs' | 'isDirectory'>

const directoryType = 0o040000n
const fileMode = 0o100444n

/** Reads the reserved names of all processes of this user from the journal. If the journal is unchanged, this takes one system call. */
export class ReservedNames {
  readonly #watched = new WatchedDirectory()
  #directory = ''
  #mtimeNs = -1n
  #settled = false
  #files = new Map<string, Reserved | undefined>()
  /** Entries by identity. An identity has several entries if an inode number was reused before the note of a removed entry was deleted. */
  #byIdentity = new Map<string, readonly Reserved[]>()
  #paths = new Set<string>()
  #generation = 0

  /** Returns a number that changes whenever reservations may have changed. */
  generation(): number {
    this.#refresh()
    return this.#generation
  }

  /** The latest known {@link ReservedNames.generation}. Does not read the journal. */
  get lastGeneration(): number {
    return this.#generation
  }

  /** Returns whether a host path was reserved when the journal was last read, by {@link ReservedNames.holds}. Does not read the journal. */
  names(path: string): boolean {
    return this.#paths.size > 0 && this.#paths.has(path)
  }

  get empty(): boolean {
    this.#refresh()
    return this.#paths.size === 0
  }

  /** Returns the reserved names at or below a host path, the deepest first. */
  within(path: string): string[] {
    this.#refresh()
    const found = [...this.#paths].filter((one) => one === path || one.startsWith(`${path}/`))
    return found.sort((left, right) => right.length - left.length)
  }

  /** Returns the reserved names at or above a host path, the deepest last. */
  above(path: string): string[] {
    this.#refresh()
    return [...this.#paths]
      .filter((one) => path === one || path.startsWith(`${one}/`))
      .sort((a, b) => a.length - b.length)
  }

  /** Returns true for an unchanged reserved entry. `self`: a path to the entry. */
  holds(status: Status, self: string): boolean {
    if (status.mode === fileMode && status.mtimeNs % 1_000_000_000n === 0n) return this.#holdsFile(status, self)
    if ((status.mode & 0o7777n) !== 0o555n && (status.mode & 0o7777n) !== 0o755n) return false
    if ((status.mode & 0o170000n) !== directoryType) return false
    const isNew = this.#refresh()
    const found = this.#byIdentity.get(identityOf(status))
    // the keeper may have released the name meanwhile: it removes the directory first, then its note in the journal
    if (found === undefined) return (isNew || (status.mode & 0o7777n) === 0o555n) && isGone(status, self)
    return found.some(({ kind, mtimeNs }) =>
      kind === 'leaf'
        ? (status.mode & 0o7777n) === 0o555n && status.mtimeNs === mtimeNs
        : (status.mode & 0o7777n) === 0o755n && this.#holdsOnlyReserved(self),
    )
  }

  #holdsFile(status: Status, self: string): boolean {
    const isNew = this.#refresh()
    const found = this.#byIdentity.get(identityOf(status))
    if (found === undefined) return isNew && isGone(status, self)
    return found.some(({ kind, mtimeNs }) => kind === 'file' && status.mtimeNs === mtimeNs)
  }

  /** Returns unused names that could not be removed yet. Each start tries to remove them again. */
  left(): string[] {
    this.#refresh()
    const found = [...this.#files].flatMap(([name, entry]) =>
      /-left\.\d+$/.test(name) && entry !== undefined ? [entry.path] : [],
    )
    return [...new Set(found)].sort()
  }

  /** Call this when a reserved name becomes a real entry, so that the keeper does not remove the entry. */
  forget(path: string): void {
    this.#refresh()
    for (const [name, entry] of this.#files) {
      if (entry?.path !== path) continue
      rmSync(join(this.#directory, name), { force: true })
    }
  }

  #holdsOnlyReserved(self: string): boolean {
    try {
      return readdirSync(self).every((name) => {
        const path = `${self}/${name}`
        const status = lstatSync(path, { bigint: true, throwIfNoEntry: false })
        return status === undefined || this.holds(status, path)
      })
    } catch (error) {
      if (isShort(error)) throw error
      return false
    }
  }

  #refresh(): boolean {
    const directory = reservedDirectory()
    const status = this.#watched.status(directory)
    if (status === undefined) {
      if (this.#paths.size > 0) this.#set(new Map())
      this.#mtimeNs = -1n
      return false
    }
    if (this.#settled && status.mtimeNs === this.#mtimeNs && directory === this.#directory) return false
    this.#directory = directory
    this.#mtimeNs = status.mtimeNs
    this.#settled = false
    const lookedAt = Date.now()
    this.#read(directory)
    this.#settled = isSettled(Number(status.mtimeNs / 1_000_000n), lookedAt)
    return true
  }

  #read(directory: string): void {
    const files = new Map<string, Reserved | undefined>()
    let changed = false
    for (const name of readdirSync(directory)) {
      if (!/^[\w-]+\.\d+$/.test(name)) continue
      const known = this.#files.get(name)
      // The note with the final file name replaces the note with a temporary name.
      const entry = known ?? readEntry(join(directory, name))
      if (known === undefined && entry !== undefined) changed = true
      files.set(name, entry)
    }
    for (const [name, entry] of this.#files) if (entry !== undefined && files.get(name) === undefined) changed = true
    this.#files = files
    if (changed) this.#set(files)
  }

  #set(files: ReadonlyMap<string, Reserved | undefined>): void {
    const entries = [...files.values()].filter((entry) => entry !== undefined)
    this.#files = new Map(files)
    this.#byIdentity = Map.groupBy(entries, identityOf)
    this.#paths = new Set(entries.map(({ path }) => path))
    this.#generation++
  }
}

function identityOf({ dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): string {
  return `${dev}:${ino}`
}

/** Returns whether an entry no longer exists, or another entry has replaced it at its path. */
function isGone({ dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>, self: string): boolean {
  const now = statSync(self, { bigint: true, throwIfNoEntry: false })
  return now === undefined || now.nlink === 0n || now.dev !== dev || now.ino !== ino
}

function readEntry(file: string): Reserved | undefined {
  try {
    const line = readFileSync(file, 'latin1')
    const found = /^(leaf|file|parent) ([0-9a-f]+) (\d+) (\d+) (\d+)\n$/.exec(line)
    if (found === null) return undefined
    const [, kind, path = '', dev = '', ino = '', seconds = ''] = found
    return {
      kind: kind as Reserved['kind'],
      path: Buffer.from(path, 'hex').toString(),
      dev: BigInt(dev),
      ino: BigInt(ino),
      mtimeNs: BigInt(seconds) * 1_000_000_000n,
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined // removed since the listing
    throw error // without its note, a reserved name would look like a user's directory
  }
}

export const reservedNames = new ReservedNames()
