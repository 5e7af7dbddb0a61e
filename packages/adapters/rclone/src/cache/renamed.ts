import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { readCachedFile } from './cached-file.ts'
import { type Compared, compare } from './compare.ts'
import { timeInStore } from '../control/hash.ts'
import { lookFor, tellOfNames } from './look.ts'
import { MovedFiles } from './moved.ts'
import { Places } from './places.ts'
import type { StaleNames } from './stale-names.ts'
import type { FollowedPart } from './stored.ts'

/** Limit of comparisons, and milliseconds between two of them while programs keep changing files. */
const mostLooks = 5
const lookEveryMs = 200
/** Milliseconds for which a program can find a file by a path that the kernel remembers. */
const rememberedMs = 10_000

/**
 * Handles files of a directory that was renamed before their upload, or with an empty directory inside. rclone before 1.62 keeps these
 * files in its cache and in the store under other names than programs see. While such files wait, rclone's log reports name changes.
 * A scan of the mount finds earlier changes. At the end of an upload, rclone shows the file at its path, even a removed file.
 * At the end, the mount and the store are compared.
 */
export class RenamedDirectories {
  part: FollowedPart | undefined
  readonly places: Places
  readonly #staleNames: StaleNames
  readonly #moved = new MovedFiles()
  /** Uploads that are about to end, with the names that rclone has shown since. */
  readonly #ending = new Map<string, string[]>()
  /** Waiting files whose place another file is about to take, by the directory of the other file. */
  readonly #replacing = new Map<string, string>()
  readonly #doubtful = new Set<string>()
  /** Empty directories, and files that are not uploaded. rclone still has earlier paths for the directories of these files. */
  #kept: readonly string[] = []
  #looks = Promise.resolve()
  #work = Promise.resolve()

  constructor(staleNames: StaleNames, cache: string) {
    this.#staleNames = staleNames
    this.places = new Places(cache)
  }

  noteRename(from: string, to: string, time: number): void {
    // otherwise rclone still uploads the earlier file with this name
    const isWaiting = this.#staleNames.isWaiting(from)
    for (const [directory, name] of this.#replacing) if (isWaiting && name === to) this.#replacing.delete(directory)
    this.#staleNames.noteRename(from, to, time)
    this.#doubt(from)
    this.places.noteRename(from, to)
    const { items } = this.places
    const [item, other] = [items.get(from), items.get(to)]
    const isOlder = other?.place !== undefined && other.place === this.places.seenAs(to)
    if (other?.place !== undefined && !isOlder) this.places.lost.add(other.place)
    for (const name of [from, to]) items.delete(name)
    if (item !== undefined) items.set(to, item)
    if (isOlder || isWaiting) this.#moved.add(from, to, isOlder)
  }

  noteMoving(directory: string, from: string, to: string): void {
    this.places.noteMoving(directory, from, to)
    if (this.#staleNames.isWaiting(to)) this.#replacing.set(directory, to)
  }

  /** `isMissing`: rclone did not have the entry. */
  noteChanged(directory: string, isDone: boolean, isMissing = false): void {
    const removed = this.places.noteChanged(directory, isDone)
    // rclone had forgotten the directory, and still uploads its files, though the program believes them removed
    if (isMissing && removed !== undefined)
      for (const place of [...this.#staleNames.allWaiting].map((one) => this.places.items.get(one)?.place ?? one))
        if (place.startsWith(`${removed}/`)) this.places.lost.add(place, true)
    const name = this.#replacing.get(directory)
    this.#replacing.delete(directory)
    // rclone still uploads the earlier file
    if (isDone && name !== undefined && !this.places.items.has(name)) this.places.addGone(name)
  }

  /** Notes a rename of a directory. Both paths end with a slash. */
  noteDirectory(from: string, to: string): void {
    const moved = this.#moved.take(from, to, this.#staleNames.isWaiting)
    for (const one of moved) if (one.isOlder) this.places.lost.add(one.to)
    if (moved.length > 0) this.places.told.set(to.slice(0, -1), true)
    this.#staleNames.noteDirectory(from, to)
    this.places.renames.add(from, to)
    this.places.changed += 1
    this.places.noteRename(from.slice(0, -1), to.slice(0, -1))
    for (const name of [from, to, this.places.seenAs(from), this.places.seenAs(to)]) this.#doubtful.add(name)
    this.#watch(moved.flatMap((one) => (this.places.items.has(one.to) ? [] : [one.to])))
  }

  noteQueue(name: string, time: number): void {
    this.#staleNames.noteQueue(name, time)
    const isEarlier = this.#doubt(name)
    if (isEarlier && !this.places.items.has(name)) this.#watch([name], true)
    else this.places.noteClose(name)
  }

  /** True for a path that may be an earlier path of a directory. */
  #doubt(name: string): boolean {
    const places = this.places.renames.later(name)
    for (const place of places) this.#doubtful.add(`${dirname(place)}/`)
    return places.length > 0
  }

  noteStored(name: string, under: string | undefined): void {
    const item = this.places.items.get(name)
    if (item !== undefined) item.under = under ?? name
    // an object without a waiting file was made by this mount
    else if (
      under !== undefined &&
      !this.places.renames.later(name).includes(under) &&
      this.#staleNames.isWaiting(name)
    )
      this.#staleNames.noteMisplaced(name, under)
  }

  noteEnding = (name: string): unknown => this.#ending.set(name, [])

  /** Notes that rclone shows a file: after an upload that ends, or for a program. */
  noteShown(path: string): void {
    const { items, seenAs, files } = this.places
    const place = seenAs(path)
    files.add(place)
    const free = [...this.#ending].filter(([, shown]) => shown.length === 0)
    const lastPlace = (name: string) => (items.has(name) ? (items.get(name)?.place ?? items.get(name)?.last) : name)
    const own = free.find(([name]) => lastPlace(name) === place)
    const those = own === undefined ? free.filter(([name]) => items.get(name)?.isSure === false) : [own]
    for (const [, shown] of those) shown.push(place)
    // a program opens the file; or an upload shows a removed file again
    if (those.length === 0) this.places.noteOpen(place)
  }

  noteEnd(name: string, calledOff: boolean, time: number): void {
    this.#staleNames.noteEnd(name, calledOff, time)
    const shown = this.#ending.get(name)
    this.#ending.delete(name)
    const item = this.places.items.get(name)
    if (calledOff || item === undefined) return
    item.key = item.under ?? name
    if (shown !== undefined) this.places.noteEnd(item, shown)
    this.#settle()
  }

  noteDelete(name: string, time: number): void {
    this.#staleNames.noteDelete(name, time)
    this.#doubt(name)
    const place = this.places.items.get(name)?.place
    if (!this.places.items.delete(name)) return
    if (place !== undefined) this.places.noteUncached(place)
    this.#settle()
  }

  /** Call this after all uploads. Returns names at which the store differs from the files that programs see. */
  async settled(signal: AbortSignal | undefined): Promise<readonly string[]> {
    await this.#work
    await this.#looks
    if (this.part === undefined) return []
    const part = { ...this.part, signal }
    for (const [name, item] of [...this.places.items].filter(([, { key }]) => key === undefined)) {
      const note = await readCachedFile(`${part.metadata}/${name}`)
      if (note?.dirty === false) Object.assign(item, { key: name, isBlind: true })
      // rclone has cancelled the upload of this file
      else if (note === undefined) this.places.items.delete(name)
    }
    const wrong = await this.#compare(part)
    if (wrong.length === 0) await this.#forget(part)
    return wrong
  }

  /** Call this after removed files have left the store. Returns names at which the store may differ from the files that programs see. */
  async lost(signal: AbortSignal | undefined): Promise<readonly string[]> {
    const { lost } = this.places
    for (const { name, isExtra } of lost.all) {
      if (!isExtra || this.part === undefined) continue
      const { control, fs } = this.part
      if ((await timeInStore(control, { fs, remote: name }, signal)) === undefined) lost.delete(name)
    }
    return lost.all.map(({ name }) => name)
  }

  /** Makes rclone look up files and directories again, and then programs, which use earlier paths while the kernel remembers them. */
  async #forget(part: FollowedPart): Promise<void> {
    const directories = [...this.#doubtful]
    if (directories.length === 0 || this.places.items.size > 0) return
    for (const dir of directories) await part.control.call('vfs/forget', { dir }, { signal: part.signal })
    await delay(part.attributeCache, undefined, { signal: part.signal })
    for (const name of directories) this.#doubtful.delete(name)
    this.places.renames.end((to) => this.#kept.some((one) => one.startsWith(to)), Date.now() + rememberedMs)
  }

  /** Compares until the store matches. Returns names that differ because programs keep changing files. Other differing names are lost. */
  async #compare(part: FollowedPart): Promise<readonly string[]> {
    const shown = new Set<string>()
    for (let look = 1; this.#doubtful.size > 0 || this.places.items.size > 0; look += 1) {
      const comparison = { places: this.places, staleNames: this.#staleNames, directories: [...this.#doubtful], shown }
      const { isChanging, ...compared } = await compare(part, comparison)
      const wrong = [...compared.missing, ...compared.extra]
      const isLast = wrong.length === 0 || look === mostLooks
      if (isLast && !isChanging) this.#conclude(part, compared)
      if (isLast) return isChanging ? wrong : []
      for (const dir of new Set(wrong.map((name) => dirname(name))))
        await part.control.call('vfs/forget', dir === '.' ? {} : { dir }, { signal: part.signal })
      if (!isChanging) continue
      shown.clear()
      await delay(lookEveryMs, undefined, { signal: part.signal })
    }
    return []
  }

  #conclude(part: FollowedPart, { missing, extra, kept }: Omit<Compared, 'isChanging'>): void {
    const { places } = this
    const { latest } = places.expected()
    for (const name of [...places.items.keys(), ...latest.keys()])
      if (latest.get(name)?.name !== name) this.#staleNames.noteOutdated(name)
    for (const name of missing) places.lost.add(name)
    for (const name of extra) places.lost.add(name, true)
    places.clear()
    this.#kept = kept
    this.#looks = this.#then(this.#looks, () => tellOfNames(part, places.isFollowing))
  }

  #settle(): void {
    this.#work = this.#then(this.#work, async (part) => {
      await this.#looks
      if (this.places.items.size > 0 && !this.places.isPending) await this.#compare(part)
    })
  }

  #watch(names: readonly string[], isRewritten = false): void {
    if (names.length === 0) return
    const added = names.map(
      (name) => [name, this.places.add(name, isRewritten, this.#staleNames.mayBegin(name))] as const,
    )
    const lost = new Set(this.places.lost.all.map(({ name }) => name))
    this.#looks = this.#then(this.#looks, async (part) => {
      await tellOfNames(part, this.places.isFollowing)
      await lookFor(this.places, part)
      for (const [name, item] of added)
        if (isRewritten && this.places.items.get(name) === item && item.isSure && lost.has(item.place ?? ''))
          this.places.lost.delete(item.place ?? '')
    })
  }

  /** Never rejects: the next flush repeats the work that failed. */
  async #then(after: Promise<void>, work: (part: FollowedPart) => Promise<unknown>): Promise<void> {
    await after
    if (this.part !== undefined) await work(this.part).catch(() => undefined)
  }
}
