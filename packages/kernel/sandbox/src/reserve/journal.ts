import { lstatSync, readdirSync, readFileSync, rmSync, type BigIntStats, statSync } from 'node:fs'
import { join } from 'node:path'

import { isSettled } from '@ws/core/inner'

import { isShort } from '../run/room.ts'

import { reservedDirectory, WatchedDirectory } from './state-directory.ts'

/** A directory, or a file, that holds a name free of anything else. */
interface Reserved {
  /** `parent`: a directory above such a name. It stays when a program makes something in it. */
  readonly kind: 'leaf' | 'file' | 'parent'
  readonly path: string
  readonly dev: bigint
  readonly ino: bigint
  readonly mtimeNs: bigint
}

type Status = Pick<BigIntStats, 'dev' | 'ino' | 'mode' | 'mtimeNs' | 'isDirectory'>

const directoryType = 0o040000n
const fileMode = 0o100444n

/** The names that all processes of this user have reserved, by their journal. Looked at each time: one system call if nothing changed. */
export class ReservedNames {
  readonly #watched = new WatchedDirectory()
  #directory = ''
  #mtimeNs = -1n
  #settled = false
  #files = new Map<string, Reserved | undefined>()
  /** Several, where one of them has gone and its number is another's: its note stays for as long as its user does. */
  #byIdentity = new Map<string, readonly Reserved[]>()
  #paths = new Set<string>()
  #generation = 0

  /** A number that is another one when what is reserved may have changed. */
  generation(): number {
    this.#refresh()
    return this.#generation
  }

  /** The {@link ReservedNames.generation} as it was when anything was last asked for. Looks at nothing. */
  get lastGeneration(): number {
    return this.#generation
  }

  /** A host path that was reserved when anything was last asked for: see {@link ReservedNames.holds}. Looks at nothing. */
  names(path: string): boolean {
    return this.#paths.size > 0 && this.#paths.has(path)
  }

  get empty(): boolean {
    this.#refresh()
    return this.#paths.size === 0
  }

  /** Reserved names at or below a host path, the deepest first. */
  within(path: string): string[] {
    this.#refresh()
    const found = [...this.#paths].filter((one) => one === path || one.startsWith(`${path}/`))
    return found.sort((left, right) => right.length - left.length)
  }

  /** Reserved names at or above a host path, the deepest last. */
  above(path: string): string[] {
    this.#refresh()
    return [...this.#paths]
      .filter((one) => path === one || path.startsWith(`${one}/`))
      .sort((a, b) => a.length - b.length)
  }

  /** True for the status of a reserved entry that no other program has changed. `self`: a path that leads to that entry. */
  holds(status: Status, self: string): boolean {
    if (status.mode === fileMode && status.mtimeNs % 1_000_000_000n === 0n) return this.#holdsFile(status, self)
    if ((status.mode & 0o7777n) !== 0o555n && (status.mode & 0o7777n) !== 0o755n) return false
    if ((status.mode & 0o170000n) !== directoryType) return false
    const isNew = this.#refresh()
    const found = this.#byIdentity.get(identityOf(status))
    // its keeper may have dropped it since the status was taken: the directory first, then its name in the journal
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

  /** Host paths of names that no command uses any more and that could not be removed yet. Each next start tries again. */
  left(): string[] {
    this.#refresh()
    const found = [...this.#files].flatMap(([name, entry]) =>
      /-left\.\d+$/.test(name) && entry !== undefined ? [entry.path] : [],
    )
    return [...new Set(found)].sort()
  }

  /** To be called when something is made of a reserved name of this user: the name is then no longer removed. */
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
      // A note of a temporary name is replaced by that of the final one.
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

/** True when an entry is not there any more, or another one is at its path. */
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
    if (isShort(error)) throw error // taken for no note, it would show a reserved name as a user's directory
    return undefined
  }
}

export const reservedNames = new ReservedNames()
