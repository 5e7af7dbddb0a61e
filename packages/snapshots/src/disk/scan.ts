import { closeSync, constants, lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'

import { nativeCode } from '../errors.ts'
import type { Ahead } from './ahead/ahead.ts'
import type { Digest } from './content.ts'
import { type Facts, factsOf, inodeOf, isUntouched, typeOf } from './facts.ts'
import { nameOf, openDirectory, parentOf, type Root, selfOf } from './root.ts'
import { isTemporary } from './temporary.ts'

const listing = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK
/** Milliseconds before the scan in which a change may have been made that the time of another change hides: a tick of the clock. */
const tickMs = 100
/** The same on a disk that keeps whole seconds. */
const tickOfSecondsMs = 2_100
/** Stands in a name for bytes that are not UTF-8. */
const replacement = '\uFFFD'
const mostLeftOut = 1_000

export interface ScanOptions {
  readonly root: Root
  /** The entries as the last scan left them. */
  readonly known: ReadonlyMap<string, Facts>
  readonly maxFileBytes: number
  /** Only these paths, with everything below them. Default: all. */
  readonly only?: readonly string[] | undefined
  /** Paths that commands have reserved: they are taken to be as they were. */
  readonly reserved: readonly string[]
  /** Names at any depth that are not looked at: they are taken to be as they were, with everything below them. */
  readonly skipped?: ReadonlySet<string> | undefined
  /** Looks at entries beside the walk. */
  readonly ahead?: Ahead | undefined
  /** Reads a file that is new or may have changed, and names its bytes. `undefined`: it cannot be read. */
  readonly take: (place: string, seen: Stats) => Digest | undefined
}

/** Entries that a scan could not save. */
interface LeftOut {
  readonly path: string
  readonly reason: string
}

export interface ScanResult {
  /** Entries that are new, or are not as they were. */
  readonly changed: ReadonlyMap<string, Facts>
  readonly gone: readonly string[]
  readonly leftOut: readonly LeftOut[]
}

/** Looks at every entry of a tree, and reads those files that are new or may have changed. */
export function scan(options: ScanOptions): ScanResult {
  return new Scan(options).run()
}

class Scan {
  readonly #options: ScanOptions
  readonly #started = Date.now()
  readonly #seen = new Set<string>()
  /** Nothing is known of what lies below: it is taken to be as it was. */
  readonly #shut: string[] = []
  readonly #changed = new Map<string, Facts>()
  readonly #leftOut: LeftOut[] = []
  readonly #reserved: ReadonlySet<string>

  constructor(options: ScanOptions) {
    this.#options = options
    this.#reserved = new Set(options.reserved)
  }

  run(): ScanResult {
    const { root, only, known, ahead } = this.#options
    const starts = only ?? ['/']
    ahead?.begin()
    try {
      for (const start of starts) this.#start(start)
    } finally {
      ahead?.end()
    }
    root.forget()
    const below = (path: string, start: string): boolean =>
      start === '/' || path === start || (path.startsWith(start) && path[start.length] === '/')
    const covered = (path: string): boolean =>
      (only === undefined || starts.some((start) => below(path, start))) &&
      !this.#shut.some((start) => path !== start && below(path, start))
    const gone: string[] = []
    if (this.#seen.size < known.size || only !== undefined || this.#changed.size > 0)
      for (const path of known.keys()) if (!this.#seen.has(path) && covered(path)) gone.push(path)
    if (ahead !== undefined) {
      const created = [...this.#changed.keys()].filter((path) => !known.has(path)).length
      ahead.expect(this.#seen, created + gone.length, (path) => root.placeOf(path))
    }
    return { changed: this.#changed, gone, leftOut: this.#leftOut }
  }

  #start(path: string): void {
    const { root, skipped } = this.#options
    const names = path.split('/')
    const above = skipped && names.findIndex((name) => skipped.has(name))
    if (above !== undefined && above > 0) return this.#pass(names.slice(0, above + 1).join('/'))
    if (path !== '/') {
      const parent = root.directory(parentOf(path))
      if (parent !== undefined) this.#entry(selfOf(parent), path, nameOf(path), parent)
      return
    }
    const fd = openDirectory(root.fd, '.', listing)
    if (fd === undefined) return
    this.#seeRoot()
    this.#walk(fd, '')
  }

  #seeRoot(): void {
    const place = `${selfOf(this.#options.root.fd)}/.`
    const status = lstatSync(place)
    const ino = inodeOf(status, () => lstatSync(place, { bigint: true }))
    this.#see('/', { ...factsOf(status, 'directory', ino), unsettled: false })
  }

  /** Closes the descriptor. */
  #walk(fd: number, directory: string): void {
    try {
      const self = selfOf(fd)
      for (const name of readdirSync(self)) {
        if (isTemporary(name)) continue
        this.#entry(self, `${directory}/${name}`, name, fd)
      }
    } finally {
      closeSync(fd)
    }
  }

  #entry(self: string, path: string, name: string, parent: number): void {
    if (this.#reserved.has(path) || this.#options.skipped?.has(name) === true) return this.#pass(path)
    if (name.includes(replacement)) return this.#leave(path, 'its name is not valid UTF-8')
    const { root, known } = this.#options
    const before = known.get(path)
    // one that was left out is tried again: the caps may be others today
    const settled =
      before !== undefined && !before.unsettled && (before.type !== 'file' || before.content !== undefined)
    if (settled && this.#isAsBefore(path, before)) {
      this.#seen.add(path)
      if (before.type === 'directory') this.#enter(parent, path, name)
      return
    }
    const place = `${self}/${name}`
    const status = this.#look(place, path)
    if (status === undefined) return
    const type = typeOf(status)
    if (type === undefined) return this.#leave(path, 'it is a FIFO, a socket or a device')
    if (status.dev !== root.device) return this.#leave(path, 'it lies on another file system')
    const ino = inodeOf(status, () => lstatSync(place, { bigint: true }))
    if (settled && isUntouched(before, status, ino)) this.#seen.add(path)
    else this.#read(place, path, status, ino, before)
    if (type === 'directory') this.#enter(parent, path, name)
  }

  /**
   * Most entries are as they were, and a path on this machine shows that in half the time that a descriptor takes. It proves nothing
   * else: another entry may be there by a link that was swapped in, so everything else is looked at by descriptor.
   */
  #isAsBefore(path: string, before: Facts): boolean {
    const { root, ahead } = this.#options
    try {
      const status = ahead?.at(path) ?? lstatSync(root.placeOf(path), { throwIfNoEntry: false })
      if (status === undefined || status.dev !== root.device) return false
      const ino = inodeOf(status, () => lstatSync(root.placeOf(path), { bigint: true }))
      return isUntouched(before, status, ino)
    } catch {
      // too long a path, for one: the descriptor tells why
      return false
    }
  }

  #look(place: string, path: string): Stats | undefined {
    try {
      return lstatSync(place, { throwIfNoEntry: false })
    } catch (error) {
      if (nativeCode(error) !== 'EACCES') throw error
      this.#pass(path)
      this.#leave(path, 'its directory may not be entered')
      return undefined
    }
  }

  #enter(parent: number, path: string, name: string): void {
    try {
      const fd = openDirectory(parent, name, listing)
      if (fd !== undefined) this.#walk(fd, path)
    } catch (error) {
      if (nativeCode(error) !== 'EACCES') throw error
      this.#shut.push(path)
      this.#leave(`${path}/`, 'the directory may not be listed')
    }
  }

  #read(place: string, path: string, status: Stats, ino: string, known: Facts | undefined): void {
    const type = typeOf(status)
    if (type === 'directory') return this.#see(path, { ...factsOf(status, type, ino), unsettled: false })
    if (type === 'symlink') {
      const target = targetOf(place)
      if (target === undefined) return
      if (target.includes(replacement)) return this.#leave(path, 'its target is not valid UTF-8')
      return this.#see(path, { ...factsOf(status, type, ino), target, unsettled: this.#isRecent(status) })
    }
    const { maxFileBytes, take } = this.#options
    const taken = status.size > maxFileBytes ? undefined : take(place, status)
    if (taken === undefined) {
      this.#leave(path, status.size > maxFileBytes ? `it has more than ${maxFileBytes} bytes` : 'it may not be read')
      // its bytes are the known ones, as far as the disk tells
      const same = known?.ino === ino && known.size === status.size && known.mtime === status.mtimeMs
      const facts = factsOf(status, 'file', ino)
      return this.#see(path, { ...facts, content: same ? known.content : undefined, unsettled: false })
    }
    const unsettled = taken.torn || this.#isRecent(taken.status)
    this.#see(path, { ...factsOf(taken.status, 'file', ino), content: taken.content, unsettled })
  }

  #see(path: string, facts: Facts): void {
    this.#seen.add(path)
    this.#changed.set(path, facts)
  }

  /** Another change within the same tick of the disk's clock would leave the same times. */
  #isRecent({ mtimeMs, ctimeMs }: Stats): boolean {
    return Math.max(mtimeMs, ctimeMs) > this.#started - (ctimeMs % 1_000 === 0 ? tickOfSecondsMs : tickMs)
  }

  /** It is taken to be as it was, with everything below it. */
  #pass(path: string): void {
    this.#seen.add(path)
    this.#shut.push(path)
  }

  #leave(path: string, reason: string): void {
    if (this.#leftOut.length < mostLeftOut) this.#leftOut.push({ path, reason })
  }
}

function targetOf(place: string): string | undefined {
  try {
    return readlinkSync(place)
  } catch (error) {
    const code = nativeCode(error)
    if (code === 'ENOENT' || code === 'EINVAL') return undefined
    throw error
  }
}
