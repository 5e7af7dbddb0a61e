import { isUtf8 } from 'node:buffer'
import { closeSync, lstatSync, type Stats } from 'node:fs'

import { isSettled } from '@ws/core/inner'

import { type Facts, factsOf, inodeOf, isAsBefore, isUntouched, typeOf } from './facts.ts'
import { LeftOut } from './left-out.ts'
import { mountsBelow } from './mounts.ts'
import { namesIn, targetIn } from './names.ts'
import { isCovered, listing, nameOf, openDirectory, parentOf, selfOf } from './root.ts'
import type { ScanOptions, ScanResult } from './scan-options.ts'
import { Strays } from './strays.ts'
import { type Level, walk } from './walk.ts'

const mounted = 'something else is mounted there'
const unentered = 'its directory may not be entered'
const unlisted = 'the directory may not be listed'

export function scan(options: ScanOptions): ScanResult {
  return new Scan(options).run()
}

class Scan {
  readonly #options: ScanOptions
  readonly #started = Date.now()
  readonly #seen = new Set<string>()
  readonly #changed = new Map<string, Facts>()
  readonly #left = new LeftOut()
  readonly #reserved: ReadonlySet<string>
  readonly #mounts: ReadonlySet<string>
  readonly #strays: Strays

  constructor(options: ScanOptions) {
    this.#options = options
    this.#reserved = new Set(options.reserved)
    this.#mounts = mountsBelow(options.root.path)
    this.#strays = new Strays(options.root.device)
  }

  run(): ScanResult {
    const { root, only, known, ahead } = this.#options
    const starts = only ?? ['/']
    ahead?.begin()
    try {
      for (const start of starts) this.#start(start)
    } finally {
      ahead?.end()
      root.forget()
    }
    for (const path of mountsBelow(root.path)) if (!this.#mounts.has(path)) this.#cover(path)
    const gone = this.#gone(starts)
    if (ahead !== undefined) {
      const created = [...this.#changed.keys()].filter((path) => !known.has(path)).length
      ahead.expect(this.#seen, created + gone.length, (path) => root.placeOf(path))
    }
    return { changed: this.#changed, gone, leftOut: this.#left.named, unknown: this.#left.unknown }
  }

  /** Skips a mount that appeared during the walk, and drops changes of the entries that the mount hides. */
  #cover(path: string): void {
    this.#left.leave(path, mounted)
    for (const one of this.#changed.keys()) if (this.#left.covers(one)) this.#changed.delete(one)
  }

  #gone(starts: readonly string[]): string[] {
    const { known, only, keepMoved = false } = this.#options
    const within = new Set(starts)
    const isGone = (path: string): boolean =>
      !this.#seen.has(path) && (only === undefined || isCovered(within, path)) && !this.#left.covers(path)
    const gone = [...known.keys()].filter(isGone)
    if (!keepMoved || gone.length === 0) return gone
    if (this.#strays.isPartial) {
      this.#left.name('/', 'entries are missing, and may be where this machine cannot look')
      return []
    }
    // parents first: a skipped directory also covers the entries below
    for (const path of gone.sort((one, other) => one.length - other.length))
      if (isGone(path) && this.#strays.has(known.get(path)))
        this.#left.leave(path, 'it was moved to where it cannot be saved')
    return gone.filter(isGone)
  }

  #start(path: string): void {
    const { root, skipped } = this.#options
    const names = path.split('/')
    const above = skipped && names.findIndex((name) => skipped.has(name))
    if (above !== undefined && above > 0) return this.#left.pass(names.slice(0, above + 1).join('/'))
    if (isCovered(this.#mounts, path)) return this.#left.leave(path, mounted)
    if (path === '/') {
      const fd = openDirectory(root.fd, '.', listing)
      if (fd === undefined) return
      this.#seeRoot()
      return this.#walk(this.#levelOf(fd, ''))
    }
    const parent = this.#parentOf(path)
    if (parent !== undefined) this.#walk(this.#entry(parent, path, nameOf(path)))
  }

  /** Returns the parent's descriptor; `undefined` if the parent is missing or must be skipped. */
  #parentOf(path: string): number | undefined {
    const { root } = this.#options
    const above = parentOf(path)
    try {
      const parent = root.directory(above)
      // the path may now lead to another directory, or be in the middle of a move
      if (parent === undefined) return isThere(root.placeOf(above)) ? this.#left.pass(path) : undefined
      return isThere(`${selfOf(parent)}/${nameOf(path)}`) ? parent : undefined
    } catch (error) {
      return this.#left.leaveAfter(error, path, unentered)
    }
  }

  #seeRoot(): void {
    const place = `${selfOf(this.#options.root.fd)}/.`
    const status = lstatSync(place)
    const ino = inodeOf(status, () => lstatSync(place, { bigint: true }))
    this.#see('/', { ...factsOf(status, 'directory', ino), unsettled: false })
  }

  /** Opens a level of the walk. Closes the descriptor if the names cannot be listed. */
  #levelOf(fd: number, path: string): Level {
    try {
      return { fd, path, names: namesIn(fd, (name) => this.#unsavable(fd, path, name)), next: 0 }
    } catch (error) {
      closeSync(fd)
      throw error
    }
  }

  #unsavable(fd: number, path: string, name: Buffer): void {
    if (this.#options.keepMoved === true) this.#strays.take(fd, name)
    if (!isUtf8(name)) this.#left.name(`${path}/${name.toString()}`, 'its name is not valid UTF-8')
  }

  #walk(first: Level | undefined): void {
    walk(first, {
      entry: (parent, path, name) => this.#entry(parent, path, name),
      openAgain: (path) => this.#openAgain(path),
    })
  }

  #openAgain(path: string): number | undefined {
    try {
      const fd = this.#options.root.directory(path === '' ? '/' : path)
      if (fd !== undefined) return openDirectory(fd, '.', listing)
    } catch (error) {
      return this.#left.leaveAfter(error, `${path}/`, unlisted)
    }
    return this.#left.pass(`${path}/`)
  }

  /** Scans an entry. Returns a directory to walk next. */
  #entry(parent: number, path: string, name: string): Level | undefined {
    const { root, known, skipped, ahead } = this.#options
    if (this.#reserved.has(path) || skipped?.has(name) === true) return this.#left.pass(path)
    if (this.#mounts.has(path)) return this.#left.leave(path, mounted) // @defence an entry that cannot be looked at, whose object: what the host mounts over
    if (root.isTooLong(path)) return this.#left.leave(path, 'its path is too long')
    const before = known.get(path)
    // reads an entry without content again, because the limits may have changed
    const settled =
      before !== undefined && !before.unsettled && (before.type !== 'file' || before.content !== undefined)
    if (settled && isAsBefore(before, root.placeOf(path), { device: root.device, status: ahead?.at(path) })) {
      this.#seen.add(path)
      return before.type === 'directory' ? this.#enter(parent, path, name) : undefined
    }
    const place = `${selfOf(parent)}/${name}`
    const status = this.#look(place, path)
    if (status === undefined) return undefined
    if (status.dev !== root.device) return this.#left.leave(path, 'it lies on another file system')
    const type = typeOf(status)
    if (type === undefined) return this.#left.name(path, 'it is a FIFO, a socket or a device')
    const ino = inodeOf(status, () => lstatSync(place, { bigint: true }))
    if (settled && isUntouched(before, status, ino)) this.#seen.add(path)
    else this.#read(place, path, status, ino, before)
    return type === 'directory' ? this.#enter(parent, path, name) : undefined
  }

  #look(place: string, path: string): Stats | undefined {
    try {
      return lstatSync(place)
    } catch (error) {
      return this.#left.leaveAfter(error, path, unentered)
    }
  }

  #enter(parent: number, path: string, name: string): Level | undefined {
    try {
      const fd = openDirectory(parent, name, listing)
      if (fd !== undefined) return this.#levelOf(fd, path)
      this.#left.pass(`${path}/`)
    } catch (error) {
      this.#left.leaveAfter(error, `${path}/`, unlisted)
      // programs of this user may have moved entries into the unreadable directory
      this.#strays.isPartial ||= this.#look(`${selfOf(parent)}/${name}`, path)?.uid === process.getuid?.()
    }
    return undefined
  }

  #read(place: string, path: string, status: Stats, ino: string, known: Facts | undefined): void {
    const type = typeOf(status)
    if (type === 'directory') return this.#see(path, { ...factsOf(status, type, ino), unsettled: false })
    if (type === 'symlink') {
      const target = this.#targetOf(place, path)
      if (target === undefined) return
      return this.#see(path, { ...factsOf(status, type, ino), target, unsettled: this.#isRecent(status) })
    }
    const { maxFileBytes, take } = this.#options
    const taken = status.size > maxFileBytes ? undefined : take(place, status, path)
    if (taken === undefined) {
      this.#left.name(
        path,
        status.size > maxFileBytes ? `it has more than ${maxFileBytes} bytes` : 'it may not be read',
      )
      // as far as the disk shows, the bytes are unchanged
      const same = known?.ino === ino && known.size === status.size && known.mtime === status.mtimeMs
      const facts = factsOf(status, 'file', ino)
      this.#strays.add(facts)
      return this.#see(path, { ...facts, content: same ? known.content : undefined, unsettled: false })
    }
    const unsettled = taken.torn || this.#isRecent(taken.status)
    this.#see(path, { ...factsOf(taken.status, 'file', ino), content: taken.content, unsettled })
  }

  #targetOf(place: string, path: string): string | undefined {
    try {
      return targetIn(place) ?? this.#left.leave(path, 'its target is not valid UTF-8')
    } catch (error) {
      return this.#left.leaveAfter(error, path, unentered)
    }
  }

  #see(path: string, facts: Facts): void {
    this.#seen.add(path)
    this.#changed.set(path, facts)
  }

  #isRecent({ mtimeMs, ctimeMs }: Stats): boolean {
    return !isSettled(Math.max(mtimeMs, ctimeMs), this.#started)
  }
}

function isThere(place: string): boolean {
  return lstatSync(place, { throwIfNoEntry: false }) !== undefined
}
