import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { readCachedFile } from './cached-file.ts'
import { compare } from './compare.ts'
import { timeInStore } from '../control/hash.ts'
import { lookFor, tellOfNames } from './look.ts'
import { Places } from './places.ts'
import type { StaleNames } from './stale-names.ts'
import type { FollowedPart } from './stored.ts'

/** Most comparisons while programs keep changing files, and milliseconds between two. */
const mostTimes = 5
const lookEveryMs = 200
/** Milliseconds for which a program can find a file by a path that the kernel remembers. */
const rememberedMs = 10_000

/**
 * Files of a directory that was renamed before their upload, or with an empty directory in it. rclone before 1.62 has them in its
 * cache, and in the store, under other names than programs see. While such files wait, rclone's log reports each change of a name.
 * A scan of the mount finds earlier changes. At the end of an upload, rclone reveals the file's place, even for a removed file.
 * Finally, the mount and the store are compared.
 */
export class RenamedDirectories {
  part: FollowedPart | undefined
  readonly places: Places
  readonly #staleNames: StaleNames
  /** Files that the rename of a directory has moved so far. */
  #moved: string[] = []
  /** Files of the cache that got the place of a file with a later content. */
  #overwritten: string[] = []
  /** Uploads that are about to end, with the names that rclone has shown since. */
  readonly #ending = new Map<string, string[]>()
  /** Waiting files whose place another file is about to take, by the directory of the other file. */
  readonly #replacing = new Map<string, string>()
  readonly #doubtful = new Set<string>()
  /** Empty directories, and files that are not uploaded. rclone still knows their directories by earlier paths. */
  #kept: readonly string[] = []
  #looks = Promise.resolve()
  #work = Promise.resolve()

  constructor(staleNames: StaleNames, cache: string) {
    this.#staleNames = staleNames
    this.places = new Places(cache)
  }

  noteRename(from: string, to: string, time: number): void {
    // otherwise rclone still uploads the file that had the name
    if (this.#staleNames.isWaiting(from))
      for (const [directory, name] of this.#replacing) if (name === to) this.#replacing.delete(directory)
    this.#staleNames.noteRename(from, to, time)
    this.#doubt(from)
    this.places.noteRename(from, to)
    const { items } = this.places
    const [item, other] = [items.get(from), items.get(to)]
    if (other?.place !== undefined && other.place !== this.places.becoming(to)) this.places.lost.add(other.place)
    else if (other?.place !== undefined) this.#overwritten.push(to)
    for (const name of [from, to]) items.delete(name)
    if (item !== undefined) items.set(to, item)
    if (this.#staleNames.isWaiting(to)) this.#moved.push(to)
  }

  noteMoving(directory: string, from: string, to: string): void {
    this.places.noteMoving(directory, from, to)
    if (this.#staleNames.isWaiting(to)) this.#replacing.set(directory, to)
  }

  noteChanged(directory: string, isDone: boolean): void {
    this.places.noteChanged(directory, isDone)
    const name = this.#replacing.get(directory)
    this.#replacing.delete(directory)
    // rclone still uploads the earlier file
    if (isDone && name !== undefined && !this.places.items.has(name)) this.places.addGone(name)
  }

  /** Records the rename of a directory. Both paths end with a slash. */
  noteDirectory(from: string, to: string): void {
    const moved = this.#moved.filter((name) => name.startsWith(to) && !this.places.items.has(name))
    this.#moved = []
    // in its cache, rclone has replaced this file by an older one
    for (const name of this.#overwritten) if (name.startsWith(to)) this.places.lost.add(name)
    this.#overwritten = []
    this.places.renames.add(from, to)
    this.places.changed += 1
    this.places.noteRename(from.slice(0, -1), to.slice(0, -1))
    for (const name of [from, to, this.places.seenAs(from), this.places.seenAs(to)]) this.#doubtful.add(name)
    this.#watch(moved)
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

  /** Records that rclone shows a file, either for a program or at the end of an upload. */
  noteShown(path: string): void {
    const { items, seenAs, files } = this.places
    const place = seenAs(path)
    files.add(place)
    const free = [...this.#ending].filter(([, shown]) => shown.length === 0)
    const lastPlace = (name: string) => (items.has(name) ? (items.get(name)?.place ?? items.get(name)?.last) : name)
    const own = free.find(([name]) => lastPlace(name) === place)
    const those = own === undefined ? free.filter(([name]) => items.get(name)?.isSure === false) : [own]
    for (const [, shown] of those) shown.push(place)
    // a program opens the file; it may also be a removed file that an upload shows again
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

  /** Call this when all is uploaded. Returns names at which the store differs from what programs see. */
  async settled(signal: AbortSignal | undefined): Promise<readonly string[]> {
    await this.#work
    await this.#looks
    if (this.part === undefined) return []
    const part = { ...this.part, signal }
    for (const [name, item] of [...this.places.items].filter(([, { key }]) => key === undefined)) {
      const note = await readCachedFile(`${part.metadata}/${name}`)
      if (note?.dirty === false) Object.assign(item, { key: name, isBlind: true })
      // rclone has cancelled its upload
      else if (note === undefined) this.places.items.delete(name)
    }
    for (let times = 1; ; times += 1) {
      const wrong = await this.#compare(part)
      if (wrong.length === 0 || times === mostTimes) return wrong
      await delay(lookEveryMs, undefined, { signal })
    }
  }

  /** Call this when removed files have left the store. Returns names at which the store may differ from what programs see. */
  async lost(signal: AbortSignal | undefined): Promise<readonly string[]> {
    const { lost } = this.places
    for (const { name, isExtra } of lost.all) {
      if (!isExtra || this.part === undefined) continue
      const { control, fs } = this.part
      if ((await timeInStore(control, { fs, remote: name }, signal)) === undefined) lost.delete(name)
    }
    return lost.all.map(({ name }) => name)
  }

  /** Makes rclone look up files and directories again, and then programs: they use earlier paths while the kernel remembers them. */
  async forget(signal: AbortSignal | undefined): Promise<void> {
    const directories = [...this.#doubtful]
    if (this.part === undefined || directories.length === 0 || this.places.items.size > 0) return
    for (const dir of directories) await this.part.control.call('vfs/forget', { dir }, { signal })
    await delay(this.part.attributeCache, undefined, { signal })
    for (const name of directories) this.#doubtful.delete(name)
    this.places.renames.end((to) => this.#kept.some((one) => one.startsWith(to)), Date.now() + rememberedMs)
  }

  /** Returns names that are wrong because programs keep changing files. Later these names are lost. */
  async #compare(part: FollowedPart): Promise<readonly string[]> {
    const { places } = this
    if (this.#doubtful.size === 0 && places.items.size === 0) return []
    await part.catchUp()
    const { changed } = places
    const compared = new Set(this.#doubtful)
    const judged = new Set<string>()
    const { missing, extra, kept } = await compare(part, () => {
      const expected = places.expected()
      for (const place of expected.latest.keys()) this.#staleNames.noteMade(place)
      for (const names of [places.items, expected.latest, expected.keys])
        for (const name of names.keys()) judged.add(name)
      return { ...expected, directories: [...compared], places }
    })
    // a comparison looks at names, and a mount can forget a file that is not in the store
    const isIn = (name: string): boolean => [...compared].some((one) => name.startsWith(one))
    const isKnown = (name: string, hasMet: boolean) => isIn(name) && (!hasMet || places.isGone(name))
    this.#staleNames.noteCompared((name, hasMet) => judged.has(name) || isKnown(name, hasMet))
    await part.catchUp()
    if (places.isPending || changed !== places.changed) return [...missing, ...extra]
    const { latest } = places.expected()
    for (const name of [...places.items.keys(), ...latest.keys()])
      if (latest.get(name)?.name !== name) this.#staleNames.noteOutdated(name)
    for (const name of missing) places.lost.add(name)
    for (const name of extra) places.lost.add(name, true)
    places.clear()
    this.#kept = kept
    this.#looks = this.#then(this.#looks, () => tellOfNames(part, places.isFollowing))
    return []
  }

  #settle(): void {
    this.#work = this.#then(this.#work, async (part) => {
      await this.#looks
      if (!this.places.isPending) await this.#compare(part)
    })
  }

  #watch(names: readonly string[], isRewritten = false): void {
    if (names.length === 0) return
    const added = names.map(
      (name) => [name, this.places.add(name, isRewritten, this.#staleNames.mayBegin(name))] as const,
    )
    this.#looks = this.#then(this.#looks, async (part) => {
      await tellOfNames(part, this.places.isFollowing)
      await lookFor(this.places, part)
      for (const [name, item] of added)
        if (isRewritten && this.places.items.get(name) === item && item.isSure && item.place !== undefined)
          this.places.lost.delete(item.place)
    })
  }

  /** Never rejects: the next flush does again the work that failed. */
  async #then(after: Promise<void>, work: (part: FollowedPart) => Promise<unknown>): Promise<void> {
    await after
    if (this.part !== undefined) await work(this.part).catch(() => undefined)
  }
}
