import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import type { StaleNames } from './stale-names.ts'
import type { StoredPart } from './stored.ts'

/** Renames of directories that are remembered. */
const mostRenames = 1_000

interface FollowedPart extends StoredPart {
  /** Resolves when the messages that rclone has written so far are read. */
  readonly catchUp: () => Promise<void>
}

/**
 * Files of a directory that was renamed before their upload, or with an empty directory in it. rclone before 1.62 uploads them under
 * the new path, and does all that programs do with them under the old one: it does not end the upload of a file that is deleted or
 * moved, and uploads later content under the old path. So one look at the mount tells which names are shown, and then rclone's log,
 * until all files are uploaded. At the end of an upload, rclone shows the file where it is.
 */
export class RenamedDirectories {
  /** The mount, once it is there. */
  part: FollowedPart | undefined
  readonly #staleNames: StaleNames
  /** Files that the rename of a directory has moved so far. */
  #moved: string[] = []
  /** Earlier paths of directories, with those that they got, in the order of the renames. */
  readonly #renames: (readonly [from: string, to: string])[] = []
  /** Earlier paths of directories whose files were not uploaded yet. */
  readonly #watched = new Set<string>()
  readonly #waiting = new Set<string>()
  /** Names that were removed since. */
  readonly #gone = new Set<string>()
  /** Looks that are under way, each with the names that no message has been about since it began. */
  readonly #looks = new Set<Set<string>>()
  /** Uploads that are about to end, each with the name of the store's object and the names that were shown since. */
  readonly #ending = new Map<string, { readonly under: string; readonly shown: string[] }>()
  /** Files whose own name was shown when their upload ended, with all names that were shown. */
  readonly #inPlace = new Map<string, readonly string[]>()
  /** Names that files under other names may have. */
  readonly #wanted = new Set<string>()
  #work = Promise.resolve()

  constructor(staleNames: StaleNames) {
    this.#staleNames = staleNames
  }

  noteRename(from: string, to: string, time: number): void {
    this.#staleNames.noteRename(from, to, time)
    this.#tell(to, this.#gone.has(from))
    this.#tell(from, false)
    if (this.#waiting.delete(from)) this.#waiting.add(to)
    if (this.#staleNames.isWaiting(to)) this.#moved.push(to)
  }

  /** Both with a slash at the end. */
  noteDirectory(from: string, to: string): void {
    const moved = this.#moved.filter((name) => name.startsWith(to))
    this.#moved = []
    if (this.#renames.push([from, to]) > mostRenames) this.#renames.shift()
    if (moved.length === 0) return
    this.#watched.add(from.slice(0, -1))
    this.#watch(moved)
  }

  noteQueue(name: string, time: number): void {
    this.#staleNames.noteQueue(name, time)
    this.#tell(name, false)
    for (let above = dirname(name); above !== '.'; above = dirname(above))
      if (this.#watched.has(above)) return this.#watch([name])
  }

  /** The names that a file can have since directories of its path were renamed. */
  #laterNames(name: string): readonly string[] {
    const names = new Set([name])
    for (const [from, to] of this.#renames)
      for (const one of [...names]) if (one.startsWith(from)) names.add(to + one.slice(from.length))
    names.delete(name)
    return [...names]
  }

  noteShown(name: string, isShown: boolean): void {
    if (!isShown) return this.#tell(name, true)
    for (const { shown } of this.#ending.values()) shown.push(name)
    // At the end of its upload, a deleted file is shown once more.
    const isAgain = this.#ending.has(name) || (this.#ending.size > 0 && !this.#waiting.has(name))
    if (!isAgain) this.#tell(name, false)
  }

  /** A program has given a file this name, which is about to be shown. */
  noteMoved(to: string): void {
    this.#tell(to, false)
  }

  #tell(name: string, isGone: boolean): void {
    for (const names of this.#looks) names.delete(name)
    if (isGone) this.#gone.add(name)
    else this.#gone.delete(name)
  }

  noteStored(name: string, under: string | undefined): void {
    const isLater = under !== undefined && this.#laterNames(name).includes(under)
    if (isLater) this.#staleNames.noteReplaced(under)
    if (this.#waiting.has(name)) this.#ending.set(name, { under: under ?? name, shown: [] })
    else if (under !== undefined && !isLater) this.#staleNames.noteMisplaced(name, under)
  }

  noteEnd(name: string, calledOff: boolean, time: number): void {
    this.#staleNames.noteEnd(name, calledOff, time)
    if (calledOff) return
    const { under = name, shown = [] } = this.#ending.get(name) ?? {}
    this.#ending.delete(name)
    const places = [...new Set(shown)].filter((one) => !this.#gone.has(one))
    const isLater = under !== name && this.#laterNames(name).includes(under)
    if (shown.includes(under)) {
      if (this.#gone.has(isLater ? under : name)) this.#staleNames.noteUnseen(under, [])
      else this.#claim(under, places, true)
    } else if (under !== name && !isLater) this.#staleNames.noteMisplaced(name, under)
    else if (shown.length > 0) this.#claim(under, places, false)
    else if (under === name) this.#noteLater(name)
    this.#forget(name)
  }

  /** Uploads that end together have all names that are shown meanwhile: content tells which of two files is at one name. */
  #claim(name: string, places: readonly string[], isInPlace: boolean): void {
    if (isInPlace) this.#inPlace.set(name, places)
    else {
      for (const place of places) this.#wanted.add(place)
      this.#staleNames.noteUnseen(name, places)
    }
    for (const [one, shown] of this.#inPlace) if (this.#wanted.has(one)) this.#staleNames.noteUnseen(one, shown)
  }

  /** rclone was not asked for names in time: the file may be where its directory went. */
  #noteLater(name: string): void {
    const later = this.#laterNames(name)
    if (later.length > 0) this.#staleNames.noteUnseen(name, [name, ...later])
  }

  noteDelete(name: string, time: number): void {
    this.#staleNames.noteDelete(name, time)
    this.#forget(name)
  }

  #forget(name: string): void {
    if (!this.#waiting.delete(name) || this.#waiting.size > 0) return
    for (const names of [this.#gone, this.#inPlace, this.#wanted]) names.clear()
    void this.#then(async (part) => {
      await this.#staleNames.settleUnseen(part)
      await part.control.call('vfs/forget')
      await tellOfNames(part, false)
    })
  }

  #watch(names: readonly string[]): void {
    for (const name of names) this.#waiting.add(name)
    const { part } = this
    if (part === undefined) return
    const begun = this.#then(() => tellOfNames(part, true))
    for (const [directory, files] of Map.groupBy(names, (name) => dirname(name)))
      begun.then(() => this.#look(part, directory, new Set(files))).catch(() => undefined)
  }

  async #look({ root, catchUp }: FollowedPart, directory: string, names: Set<string>): Promise<void> {
    this.#looks.add(names)
    try {
      const shown = await readdir(join(root, directory)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
        return []
      })
      const seen = new Set(shown.map((name) => join(directory, name)))
      // A message can be read after a look that is older, or newer: messages decide.
      await catchUp()
      for (const name of names) {
        if (!this.#waiting.has(name)) continue
        if (!seen.has(name)) this.#gone.add(name)
        else if (!this.#ending.has(name)) this.#gone.delete(name)
      }
    } finally {
      this.#looks.delete(names)
    }
  }

  /** Runs one work after the other, and never rejects: the next flush does again the work that failed. */
  async #then(work: (part: StoredPart) => Promise<unknown>): Promise<void> {
    const { part } = this
    if (part !== undefined) this.#work = this.#work.then(() => work(part)).then(undefined, () => undefined)
    await this.#work
  }
}

/** Has rclone write into its log which names programs can see, and which not any more. */
export async function tellOfNames({ control }: Pick<StoredPart, 'control'>, on: boolean): Promise<void> {
  await control.call('options/set', { main: { LogLevel: on ? 'DEBUG' : 'INFO' } })
}
