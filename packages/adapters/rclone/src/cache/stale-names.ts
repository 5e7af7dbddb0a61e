import { rmSync } from 'node:fs'
import { join } from 'node:path'

import { type StaleName, lookAt } from './settle-names.ts'
import type { StoredPart } from './stored.ts'
import { failure } from '../errors.ts'
import { appendEnd, appendLines, readLines } from './lines.ts'

/** Milliseconds within which a rename may have met the end of an upload, since the log reports events one after another. */
const meetingMs = 1_000
/** Milliseconds by which rclone's own times may differ from one another. */
const roundingMs = 2
/** Milliseconds in which the store may still accept or discard a cancelled upload. */
const shortestQuietMs = 250
const longestQuietMs = 5_000
/** Multiple of a slow store's answer time to wait. */
const slowFactor = 5
/** Limit of scans. Each further scan follows a wrong name, or a slow store. */
const mostLooks = 20

/**
 * Files that any program renamed or deleted while the store may have had an object under the old name.
 *
 * - Their upload may have begun. rclone cancels the upload or sees it fail, but the store may still have accepted the file:
 * the old name reappears. Or the upload has just ended, and rclone mistakes the object of the old name for the new one:
 * rclone reports a name as uploaded that the store does not have.
 * - They had replaced another file by renaming. rclone does not know that the store has the other file.
 *
 * No upload begins before the file's write-back delay has passed. The store is queried for each file that leaves later.
 */
export class StaleNames {
  readonly #file: string
  readonly #writeBackDelay: number
  /** Files that are not uploaded yet, with the time at which their upload may begin. */
  readonly #waiting = new Map<string, number>()
  /** Recent successful uploads, with their time. */
  readonly #uploaded = new Map<string, number>()
  /** Names that were given to other files, or whose upload was cancelled, until an upload under the name succeeds. */
  readonly #uncertain = new Set<string>()
  /** Cache names whose content differs from the file that programs see. */
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

  /** Notes that a written file was closed. All times of this class are in milliseconds, by rclone's clock. */
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

  get allWaiting(): Iterable<string> {
    return this.#waiting.keys()
  }

  isWaiting = (name: string): boolean => this.#waiting.has(name)

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
    if (this.#mayBeStored(from, time)) this.#add({ from, to: now })
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

  /** True if the store may have an object under this name that rclone does not know. */
  #mayBeStored(name: string, time: number): boolean {
    const mayBegin = this.#waiting.get(name) ?? Number.POSITIVE_INFINITY
    const uploaded = this.#uploaded.get(name) ?? Number.NEGATIVE_INFINITY
    return this.#uncertain.has(name) || mayBegin <= time + roundingMs || time - uploaded < meetingMs
  }

  #forget(name: string): void {
    this.#waiting.delete(name)
    this.#uploaded.delete(name)
    this.#uncertain.delete(name)
  }

  #noteUploaded(name: string, time: number): void {
    this.#uploaded.delete(name) // the latest upload comes last
    this.#uploaded.set(name, time)
    for (const [old, at] of this.#uploaded) {
      if (time - at < meetingMs) return
      this.#uploaded.delete(old)
    }
  }

  /** Records that rclone continues to upload under the old name, after a rename that failed halfway or met the end of an upload. */
  noteMisplaced(name: string, under: string): void {
    this.#add({ from: under, to: name, misplaced: true })
  }

  /** Records that the store matches the files that programs see at these paths. */
  noteCompared(isIn: (name: string) => boolean): void {
    this.#staleNames = this.#staleNames.map((one) => (isIn(one.to ?? '') ? { ...one, to: undefined } : one))
  }

  /** Records that rclone has copied an object to rename it. The next message shows whether the cache has the file, too. */
  noteCopied(to: string): void {
    this.noteMade(to)
    this.noteOutdated(to)
  }

  /** Notes that rclone has moved all objects of a directory. Both paths end with a slash. */
  noteDirectory(from: string, to: string): void {
    for (const { from: name } of this.#staleNames)
      if (name.startsWith(from)) this.#add({ from: to + name.slice(from.length) })
  }

  noteOutdated(name: string): void {
    this.#outdated.add(name)
  }

  /** Records that the name has a file again, which must not be removed. */
  noteMade(name: string): void {
    if (!this.#staleNames.some(({ from }) => from === name)) return
    this.#uncertain.add(name) // as long as it is not uploaded
    this.#staleNames = this.#staleNames.filter(({ from }) => from !== name)
    this.#write(() => appendEnd(this.#file, name))
  }

  /** Records that uploads begin at once, without their delay. */
  noteHurry(): void {
    for (const name of this.#waiting.keys()) this.#waiting.set(name, 0)
  }

  /**
   * Queries the store for every name until no name is wrong. Call this when no upload remains: the store may still accept
   * a cancelled upload, and a slow store accepts it later.
   *
   * @param pause waits this many milliseconds
   * @throws WorkspaceError `ETIMEDOUT`: the names are kept for the next call.
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
