import { rmSync } from 'node:fs'
import { join } from 'node:path'

import { type StaleName, lookAt } from './settle-names.ts'
import type { StoredPart } from './stored.ts'
import { failure } from '../errors.ts'
import { appendEnd, appendLines, readLines } from './lines.ts'

/** If the log reports a rename and the end of an upload within these milliseconds, both may have happened at the same time. */
const meetingMs = 1_000
/** Milliseconds by which rclone's own times may differ from one another. */
const roundingMs = 2
/** Milliseconds for the store to accept or drop an upload that has just been cancelled. */
const shortestQuietMs = 250
const longestQuietMs = 5_000
/** A slow store gets this many times the duration of its answers. */
const slowFactor = 5
/** Most scans. Each further scan follows a wrong name, or a slow store. */
const mostLooks = 20

/**
 * Files that were renamed or deleted, by any program, while the store may have had something under the old name.
 *
 * - Their upload may have begun. rclone cancels the upload or sees it fail, but the store may have accepted the file. The old
 *   name then reappears. If the upload has just ended, rclone may mistake the object at the old name for the new one. It then
 *   reports a name as uploaded that the store does not have.
 * - They may have replaced another file by a rename. rclone does not know that the store still has this other file.
 *
 * No upload begins before its file's write-back delay is over. The store is queried for each file that leaves its name later.
 */
export class StaleNames {
  readonly #file: string
  readonly #writeBackDelay: number
  /** Files that are not uploaded yet, with the time at which their upload may begin. */
  readonly #waiting = new Map<string, number>()
  /** Uploads that succeeded within the last moment, with their time. */
  readonly #uploaded = new Map<string, number>()
  /** Names that were given to other files, or whose upload was cancelled, until something is uploaded under them. */
  readonly #uncertain = new Set<string>()
  /** Files that wait for their upload, and whose object the store has copied because rclone is moving it. */
  readonly #copied = new Set<string>()
  /** Names of the cache whose content differs from what programs see there. */
  readonly #outdated = new Set<string>()
  #staleNames: StaleName[]

  /** `cache`: host path of the cache. `writeBackDelay`: milliseconds from the close of a file to its upload. */
  constructor(cache: string, writeBackDelay: number) {
    this.#writeBackDelay = writeBackDelay
    this.#file = join(cache, 'departures')
    this.#staleNames = readLines<StaleName>(this.#file, ({ from }) => from)
  }

  /** Whether there is nothing to {@link settle}. */
  get isEmpty(): boolean {
    return this.#staleNames.length === 0
  }

  /** Records that a written file was closed. All times of this class are in milliseconds, by rclone's clock. */
  noteQueue(name: string, time: number): void {
    this.noteMade(name)
    this.#outdated.delete(name)
    const mayBegin = time + this.#writeBackDelay
    this.#waiting.set(name, Math.min(mayBegin, this.#waiting.get(name) ?? mayBegin))
  }

  /** Notes a file of an earlier mount, whose upload may begin at any time. */
  noteLeftover(name: string): void {
    this.#waiting.set(name, 0)
  }

  /** When the upload of a file may begin; 0: it may have begun. */
  mayBegin = (name: string): number => this.#waiting.get(name) ?? 0

  isWaiting = (name: string): boolean => this.#waiting.has(name)

  /** Whether a file has left this name, where the store may still have an object. */
  isStale(name: string): boolean {
    return this.#staleNames.some(({ from }) => from === name)
  }

  /** Notes that the store has copied an object, since rclone moves it. `isLeft`: its file has left it. */
  noteCopied(from: string, to: string, isLeft = false): void {
    if (this.#waiting.has(from)) this.#copied.add(from)
    if (isLeft) this.#add({ from: to })
    else this.noteMade(to)
  }

  noteEnd(name: string, calledOff: boolean, time: number): void {
    const staleName = this.#staleNames.find(({ from }) => from === name)
    // The store may have accepted the file only now.
    if (staleName !== undefined) this.#add(staleName)
    if (calledOff) return
    this.#waiting.delete(name)
    this.#uncertain.delete(name)
    this.#noteUploaded(name, time)
  }

  noteRename(from: string, to: string, time: number): void {
    const mayBegin = this.#waiting.get(from)
    const isOutdated = this.#outdated.delete(from)
    if (isOutdated) this.#outdated.add(to)
    else this.#outdated.delete(to)
    const now = isOutdated ? undefined : to
    this.#staleNames = this.#staleNames.map((one) => (one.to === from ? { ...one, to: now } : one))
    const hasMet = mayBegin === undefined && (this.#copied.has(from) || this.#isUploaded(from, time))
    if (hasMet || this.#mayBeStored(from, time)) this.#add({ from, to: now, hasMet })
    this.#forget(from)
    this.noteMade(to)
    this.#uncertain.add(to)
    if (mayBegin !== undefined) this.#waiting.set(to, mayBegin)
  }

  /** Notes a deletion. rclone itself removes a completely uploaded file from the store. */
  noteDelete(name: string, time: number): void {
    if (this.#mayBeStored(name, time)) this.#add({ from: name })
    this.#forget(name)
  }

  /** The store may have something under this name that rclone does not know of. */
  #mayBeStored(name: string, time: number): boolean {
    const mayBegin = this.#waiting.get(name) ?? Number.POSITIVE_INFINITY
    return this.#uncertain.has(name) || mayBegin <= time + roundingMs || this.#isUploaded(name, time)
  }

  /** The upload has ended within the last moment. */
  #isUploaded(name: string, time: number): boolean {
    return time - (this.#uploaded.get(name) ?? Number.NEGATIVE_INFINITY) < meetingMs
  }

  #forget(name: string): void {
    this.#waiting.delete(name)
    this.#copied.delete(name)
    this.#uploaded.delete(name)
    this.#uncertain.delete(name)
  }

  #noteUploaded(name: string, time: number): void {
    this.#uploaded.delete(name) // the name is deleted first, so that the map lists the latest upload last
    this.#uploaded.set(name, time)
    for (const [old, at] of this.#uploaded) {
      if (time - at < meetingMs) return
      this.#uploaded.delete(old)
    }
  }

  /** Records that rclone still uploads under the old name. This happens after a half-done rename, or a rename at the end of an upload. */
  noteMisplaced(name: string, under: string): void {
    this.#add({ from: under, to: name, misplaced: true })
  }

  /** Records that the store has the files that programs see at these places. */
  noteCompared(isIn: (name: string, hasMet: boolean) => boolean): void {
    this.#staleNames = this.#staleNames.map((one) =>
      isIn(one.to ?? '', one.hasMet === true) ? { ...one, to: undefined } : one,
    )
  }

  noteOutdated(name: string): void {
    this.#outdated.add(name)
  }

  /** Records that a file has this name again. The store's object must then not be removed. */
  noteMade(name: string): void {
    if (!this.#staleNames.some(({ from }) => from === name)) return
    this.#uncertain.add(name) // as long as it is not uploaded
    this.#staleNames = this.#staleNames.filter(({ from }) => from !== name)
    this.#write(() => appendEnd(this.#file, name))
  }

  /** Uploads begin at once, without their delay. */
  noteHurry(): void {
    for (const name of this.#waiting.keys()) this.#waiting.set(name, 0)
  }

  /**
   * Asks the store for every name, until nothing is wrong any more. To be called when nothing is to be uploaded: the store
   * may still take what was called off, and a slow one takes it later.
   *
   * @param pause waits this many milliseconds
   * @throws WorkspaceError `ETIMEDOUT`: the names are kept for the next time.
   */
  async settle(part: StoredPart, pause: (ms: number) => Promise<unknown>): Promise<void> {
    const staleNames = this.#staleNames
    let quietMs = shortestQuietMs
    for (let look = 0; ; look += 1) {
      if (look === mostLooks) throw unsettled()
      await pause(quietMs)
      const { isRight, slowestMs } = await lookAt(part, staleNames)
      const enoughMs = Math.min(slowestMs * slowFactor, longestQuietMs)
      if (isRight && enoughMs <= quietMs) break
      quietMs = Math.max(quietMs, enoughMs)
    }
    this.#staleNames = this.#staleNames.filter((one) => !staleNames.includes(one))
    if (this.isEmpty) rmSync(this.#file, { force: true })
    else for (const { from } of staleNames) this.#write(() => appendEnd(this.#file, from))
  }

  #add(noted: Omit<StaleName, 'at'>): void {
    const staleName = { ...noted, at: Date.now() }
    this.#staleNames = [...this.#staleNames.filter((one) => one.from !== noted.from), staleName]
    this.#write(() => appendLines(this.#file, [staleName]))
  }

  #write(append: () => void): void {
    try {
      append()
    } catch {
      // a full disk: the names are still known in memory
    }
  }
}

function unsettled(): Error {
  const remedy = 'flush again when the store has less to do'
  return failure('ETIMEDOUT', 'the store goes on taking uploads that were called off', { operation: 'flush', remedy })
}
