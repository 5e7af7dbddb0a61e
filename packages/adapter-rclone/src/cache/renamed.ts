import { dirname } from 'node:path'

import type { Departures } from './departures.ts'

/** The mount, while rclone is not to be believed. */
export interface Watched {
  /** Has rclone tell of each name that is made or removed from now on. */
  readonly begin: () => Promise<void>
  /** The names that a directory has now, as paths. */
  readonly list: (directory: string) => Promise<readonly string[]>
  /** All is uploaded: the store is put right, and rclone forgets what it knows of names. */
  readonly end: () => Promise<void>
}

/**
 * Files of a directory that was renamed before their upload. rclone before 1.62 uploads them under the new path, but
 * does all that programs do with them under the old one. An upload goes on when its file is deleted or moved, and what is
 * written to the file is uploaded under the old path. So the mount is looked at once, and then listened to until all
 * are uploaded. When an upload ends, rclone tells under which name it shows the file.
 */
export class RenamedDirectories {
  readonly #departures: Departures
  readonly #mount: Watched
  /** Files that the rename of a directory has moved so far. */
  #moved: string[] = []
  /** Earlier paths of directories. */
  readonly #earlier = new Set<string>()
  readonly #waiting = new Set<string>()
  /** Names that were removed since. */
  readonly #gone = new Set<string>()
  /** Uploads that are about to end, each with the name of the store's object and the names that were shown since. */
  readonly #ending = new Map<string, { readonly under: string; readonly shown: string[] }>()
  #work = Promise.resolve()

  constructor(departures: Departures, mount: Watched) {
    this.#departures = departures
    this.#mount = mount
  }

  noteRename(from: string, to: string): void {
    const isGone = this.#gone.delete(from)
    if (isGone) this.#gone.add(to)
    else this.#gone.delete(to)
    if (this.#waiting.delete(from)) this.#waiting.add(to)
    if (this.#departures.isWaiting(to)) this.#moved.push(to)
  }

  /** Both with a slash at the end. */
  noteDirectory(from: string, to: string): void {
    const moved = this.#moved.filter((name) => name.startsWith(to))
    this.#moved = []
    if (moved.length === 0) return
    this.#earlier.add(from.slice(0, -1))
    this.#watch(moved)
  }

  noteQueue(name: string): void {
    this.#gone.delete(name)
    for (let above = dirname(name); above !== '.'; above = dirname(above))
      if (this.#earlier.has(above)) return this.#watch([name])
  }

  noteShown(name: string, isShown: boolean): void {
    if (!isShown) return void this.#gone.add(name)
    for (const { shown } of this.#ending.values()) shown.push(name)
    // At the end of its upload, a deleted file is shown once more.
    const isAgain = this.#ending.has(name) || (this.#ending.size > 0 && !this.#waiting.has(name))
    if (!isAgain) this.#gone.delete(name)
  }

  /** @param under the name of the store's object, where it is another one */
  noteStored(name: string, under: string | undefined): void {
    if (this.#waiting.has(name)) this.#ending.set(name, { under: under ?? name, shown: [] })
    else if (under !== undefined) this.#departures.noteMisplaced(name, under)
  }

  noteEnd(name: string): void {
    const { under = name, shown = [] } = this.#ending.get(name) ?? {}
    this.#ending.delete(name)
    if (shown.includes(under)) {
      if (this.#gone.has(name)) this.#departures.noteUnseen(under, [])
    } else if (under !== name) this.#departures.noteMisplaced(name, under)
    // without any name, rclone was not asked for them in time
    else if (shown.length > 0)
      this.#departures.noteUnseen(
        name,
        shown.filter((one) => !this.#gone.has(one)),
      )
    this.noteDelete(name)
  }

  noteDelete(name: string): void {
    if (!this.#waiting.delete(name) || this.#waiting.size > 0) return
    this.#gone.clear()
    void this.#then(() => this.#mount.end())
  }

  #watch(names: readonly string[]): void {
    for (const name of names) this.#waiting.add(name)
    const begun = this.#then(() => this.#mount.begin())
    for (const [directory, files] of Map.groupBy(names, (name) => dirname(name)))
      begun.then(() => this.#look(directory, files)).catch(() => undefined)
  }

  async #look(directory: string, names: readonly string[]): Promise<void> {
    const shown = await this.#mount.list(directory)
    for (const name of names) if (this.#waiting.has(name) && !shown.includes(name)) this.#gone.add(name)
  }

  /** One after the other. What fails is left to the next flush. */
  async #then(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(work).catch(() => undefined)
    await this.#work
  }
}
