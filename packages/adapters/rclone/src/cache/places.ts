import { join } from 'node:path'

import type { Expected, Item } from './item.ts'
import { LostNames } from './lost-names.ts'
import { Renames } from './renames.ts'

/** Maps files of rclone's cache to the paths that programs see. rclone's messages about changes by programs contain rclone's own paths. */
export class Places {
  readonly renames = new Renames()
  /** Files that wait for their upload, or for a later comparison with the store, by their names in the cache. */
  readonly items = new Map<string, Item>()
  /** Names found in messages and scans. True for a name that programs can see, false for a name that has vanished. */
  readonly told = new Map<string, boolean>()
  /** Names under which this mount gave content to the store. */
  readonly given = new Set<string>()
  /** Names that programs gave to files and directories. */
  readonly moved = new Set<string>()
  /** Names at which rclone has shown files. */
  readonly files = new Set<string>()
  /** Paths that programs renamed, and the new paths. */
  readonly renamed: string[] = []
  /** Counts the changes of names. */
  changed = 0
  readonly lost: LostNames
  /** Changes of programs that have not ended, by directory. */
  readonly #changing = new Map<string, { path: string; isRemoval: boolean; end: () => void }>()
  #closed = 0

  /** `cache`: host path of the cache. */
  constructor(cache: string) {
    this.lost = new LostNames(cache)
  }

  nextOrder(): number {
    return (this.#closed += 1)
  }

  /** Follows a file, or starts again. */
  add(name: string, isRewritten: boolean, begins: number): Item {
    const item = {
      place: this.seenAs(name),
      begins,
      isSure: false,
      order: this.nextOrder(),
      isRewritten,
      key: undefined,
    }
    this.items.set(name, item)
    return item
  }

  /** Follows a file that programs do not see any more. */
  addGone(name: string): void {
    const gone = { place: undefined, last: name, begins: 0, isSure: true, order: 0 }
    this.items.set(name, { ...gone, isRewritten: false, key: undefined })
  }

  /** Whether rclone must report all changes of names. */
  get isFollowing(): boolean {
    return this.items.size > 0 || this.lost.all.length > 0
  }

  /** Whether a file is not uploaded yet. */
  get isPending(): boolean {
    return [...this.items.values()].some(({ key }) => key === undefined)
  }

  clear(): void {
    for (const names of [this.items, this.told, this.given, this.moved, this.files]) names.clear()
    this.renamed.length = 0
  }

  /** The known part of the content that the store must have. */
  expected(): Expected {
    const latest = new Map<string, Item & { readonly name: string }>()
    const keys = new Set(this.given)
    const unsure: string[] = []
    for (const [name, item] of this.items) {
      const { place, isSure, key } = item
      if (!isSure && key !== undefined)
        unsure.push(name, key, item.last ?? key, place ?? key, ...this.renames.later(name))
      else if (key !== undefined) keys.add(key)
      if (place === undefined || !isSure) continue
      const other = latest.get(place)
      if (other?.isLost === true && item.isLost === true) unsure.push(place)
      if (item.order >= (other?.order ?? 0)) latest.set(place, { ...item, name })
    }
    return { latest, keys, unsure }
  }

  /** Records that a program has closed a written file. */
  noteClose(name: string): void {
    const seenAs = this.seenAs(name)
    if (!this.items.has(name) && this.#hasPlace(seenAs)) this.add(name, true, 0).isSure = true
    const item = this.items.get(name)
    if (item === undefined) return this.lost.delete(seenAs)
    // another file has its place in the cache
    const isOther = item.place !== undefined && item.place !== seenAs && this.told.get(name) === true
    if (isOther && item.place !== undefined) this.lost.add(item.place)
    item.isSure ||= item.place === undefined
    const place = isOther ? seenAs : (item.place ?? seenAs)
    this.lost.delete(place)
    this.told.set(place, true)
    Object.assign(item, {
      place,
      order: this.nextOrder(),
      isRewritten: true,
      isLost: false,
      isBlind: false,
      key: undefined,
    })
  }

  /** The name that programs see of rclone's new path of a file or a directory. */
  becoming = (to: string): string => (this.#isTold(to) ? to : this.seenAs(to))

  /** Whether the end of a program's change reports the rename to this path. */
  #isTold(to: string): boolean {
    return [...this.#changing.values()].some(({ path }) => path === to || to.startsWith(`${path}/`))
  }

  /** Records that the cache has renamed a file or a directory. */
  noteRename(from: string, to: string): void {
    if (this.isFollowing && !this.#isTold(to)) this.#move(this.#hasPlace(from) ? from : this.seenAs(from), to)
  }

  /** Records that rclone has shown a file at the end of its upload. */
  noteEnd(item: Item, [place, ...others]: readonly string[]): void {
    if (item.isSure) {
      // a message is missing
      if (place === undefined) Object.assign(item, { place: undefined, last: item.place, isSure: false })
      return
    }
    const isThere = place === undefined || others.length > 0 ? undefined : this.told.get(place)
    if (isThere === undefined) return
    Object.assign(item, { place: isThere && place !== item.last ? place : undefined, last: place, isSure: true })
  }

  /** The name that programs see of rclone's path: a directory within a renamed one keeps its earlier path. */
  seenAs = (path: string): string => this.renames.now(path, (name) => this.told.get(name) === true)

  /** Records that a program makes, removes or moves an entry. Paths are rclone's. */
  noteMaking(directory: string, name: string): void {
    const path = this.seenAs(join(directory, name))
    const end = (): void => {
      this.changed += 1
      this.told.set(path, true)
    }
    this.#changing.set(directory, { path, isRemoval: false, end })
  }

  noteOpen(place: string): void {
    if (this.told.get(place) === false) this.changed += 1
    this.told.set(place, true)
  }

  noteRemoving(directory: string, name: string): void {
    const path = this.seenAs(join(directory, name))
    const end = (): void => {
      this.#leave(path)
      for (const one of this.lost.all) if (one.name.startsWith(`${path}/`)) this.lost.delete(one.name)
    }
    this.#changing.set(directory, { path, isRemoval: true, end })
  }

  noteMoving(directory: string, name: string, to: string): void {
    const from = join(directory, name)
    const [path, destination] = [this.seenAs(from), this.seenAs(to)]
    const end = (): void => {
      this.moved.add(destination)
      this.#move(path, destination)
      // rclone moves the objects with these names, whichever files they belong to
      for (const item of this.items.values())
        if (item.key === from || item.key?.startsWith(`${from}/`) === true) item.key = to + item.key.slice(from.length)
    }
    this.#changing.set(directory, { path: destination, isRemoval: false, end })
  }

  /** Records that the last change in a directory has ended. */
  noteChanged(directory: string, isDone: boolean): void {
    const change = this.#changing.get(directory)
    this.#changing.delete(directory)
    if (isDone) change?.end()
  }

  /** True if programs do not see the name, and are not making it at this moment. */
  isGone(name: string): boolean {
    return this.told.get(name) === false && !this.#isChanging(name)
  }

  /** True if programs see a file of the cache at a place, and are not changing the place at this moment. */
  isAt(name: string, place: string): boolean {
    return this.items.get(name)?.place === place && this.told.get(place) === true && !this.#isChanging(place)
  }

  #isChanging(name: string): boolean {
    return [...this.#changing.values()].some(({ path }) => path === name)
  }

  /** Records that the store has received a file of the cache. Another file may have got its place meanwhile. */
  noteGiven(name: string, place: string): void {
    if (!this.isAt(name, place) && !this.isGone(place)) this.lost.add(place)
  }

  /** Records that rclone has removed a file from its cache, perhaps not the file that the program removed. */
  noteUncached(place: string): void {
    const removed = [...this.#changing.values()].flatMap(({ path, isRemoval }) => (isRemoval ? [path] : []))
    if (removed.length > 0 && !removed.includes(place)) this.lost.add(place)
  }

  #hasPlace = (path: string): boolean => [...this.items.values()].some(({ place }) => place === path)

  #leave(path: string): void {
    this.changed += 1
    this.told.set(path, false)
    this.lost.delete(path)
    for (const item of this.items.values())
      if (item.place === path) Object.assign(item, { place: undefined, last: path })
  }

  /** Moves a file, or a directory with everything in it. */
  #move(path: string, to: string): void {
    const isIn = (name: string): boolean => name === path || name.startsWith(`${path}/`)
    const moved = (name: string): string => to + name.slice(path.length)
    this.#leave(to)
    this.renamed.push(path, to)
    for (const { name, isExtra } of this.lost.all.filter((one) => isIn(one.name))) {
      this.lost.delete(name)
      this.lost.add(moved(name), isExtra)
    }
    for (const name of [...this.told.keys()].filter(isIn)) this.#tellMoved(name, moved(name))
    for (const [name, item] of this.items) {
      const { place = '', key } = item
      if (key === to && place === '') this.items.delete(name)
      if (key !== undefined && place === path) item.key = to
      if (!isIn(place)) continue
      item.place = moved(place)
      this.told.set(place, false).set(item.place, true)
    }
    this.told.set(path, false).set(to, true)
  }

  #tellMoved(name: string, to: string): void {
    const isThere = this.told.get(name) === true
    this.told.set(name, false)
    // the cache reports the file before its directory
    if (isThere || !this.told.has(to)) this.told.set(to, isThere)
  }
}
