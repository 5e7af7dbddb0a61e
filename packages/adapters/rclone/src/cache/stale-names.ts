import { rmSync } from 'node:fs'
import { join } from 'node:path'

import { type StaleName, atOnce, lookAt, settleOne } from './settle-names.ts'
import type { StoredPart } from './stored.ts'
import { failure } from '../errors.ts'
import { appendEnd, appendLines, readLines } from './lines.ts'

/** Milliseconds within which a rename and the end of an upload may have met: the log reports them one after the other. */
const meetingMs = 1_000
/** Milliseconds by which rclone's own times may differ from one another. */
const roundingMs = 2
/** Milliseconds for the store to take, or not to take, an upload that has just been called off. */
const shortestQuietMs = 250
const longestQuietMs = 5_000
/** A store that is slow to answer gets so many times that long. */
const slowFactor = 5
/** Each look after the first one found something wrong, or a slow store. */
const mostLooks = 20

/**
 * Files that were renamed or deleted, by any program, while the store may have had something under the old name.
 *
 * - Their upload may have begun. rclone calls it off or sees it fail, and the store may have taken the file all the
 *   same: the old name comes back. Or the upload has just ended, and rclone takes the object of the old name for the
 *   new one: it reports a name as uploaded that the store does not have.
 * - They had replaced another file by renaming. rclone does not know that the store has the other one.
 *
 * No upload begins before the write-back delay of its file is over: the store is asked for each file that goes later.
 */
export class StaleNames {
  readonly #file: string
  readonly #writeBackDelay: number
  /** Files that are not uploaded yet, with the time at which their upload may begin. */
  readonly #waiting = new Map<string, number>()
  /** Uploads that have ended well this moment, with their time. */
  readonly #uploaded = new Map<string, number>()
  /** Names that were given to other files, or whose upload was called off, as long as nothing is uploaded under them. */
  readonly #uncertain = new Set<string>()
  #staleNames: StaleName[]
  #settling: Promise<void> | undefined

  /** `cache`: host path of the cache. `writeBackDelay`: milliseconds from the close of a file to its upload. */
  constructor(cache: string, writeBackDelay: number) {
    this.#writeBackDelay = writeBackDelay
    this.#file = join(cache, 'departures')
    this.#staleNames = readLines<StaleName>(this.#file, ({ from }) => from)
  }

  /** There is nothing to {@link settle}. */
  get isEmpty(): boolean {
    return this.#staleNames.length === 0
  }

  /** A file was closed after it was written. `time`: in milliseconds, as all times of this class, by rclone's clock. */
  noteQueue(name: string, time: number): void {
    this.noteMade(name)
    const mayBegin = time + this.#writeBackDelay
    this.#waiting.set(name, Math.min(mayBegin, this.#waiting.get(name) ?? mayBegin))
  }

  /** A file of an earlier mount whose upload may begin at any time. */
  noteLeftover(name: string): void {
    this.#waiting.set(name, 0)
  }

  isWaiting = (name: string): boolean => this.#waiting.has(name)

  noteEnd(name: string, calledOff: boolean, time: number): void {
    const staleName = this.#staleNames.find(({ from }) => from === name)
    // The store may have taken it only now.
    if (staleName !== undefined) this.#add(staleName)
    if (calledOff) return
    this.#waiting.delete(name)
    this.#uncertain.delete(name)
    this.#noteUploaded(name, time)
  }

  noteRename(from: string, to: string, time: number): void {
    const mayBegin = this.#waiting.get(from)
    this.#staleNames = this.#staleNames.map((one) => (one.to === from ? { ...one, to } : one))
    if (this.#mayBeStored(from, time)) this.#add({ from, to })
    this.#forget(from)
    this.noteMade(to)
    this.#uncertain.add(to)
    if (mayBegin !== undefined) this.#waiting.set(to, mayBegin)
  }

  /** rclone removes what it has uploaded in full. */
  noteDelete(name: string, time: number): void {
    if (this.#mayBeStored(name, time)) this.#add({ from: name })
    this.#forget(name)
  }

  /** The store may have something under this name that rclone does not know of. */
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
    this.#uploaded.delete(name) // the latest comes last
    this.#uploaded.set(name, time)
    for (const [old, at] of this.#uploaded) {
      if (time - at < meetingMs) return
      this.#uploaded.delete(old)
    }
  }

  /** After a rename that failed in the middle, or met the end of an upload, rclone goes on uploading under the old name. */
  noteMisplaced(name: string, under: string): void {
    this.#add({ from: under, to: name, misplaced: true })
  }

  /** The upload of a file has ended that rclone still takes to be at `from`. `shown`: see {@link StaleName}. */
  noteUnseen(from: string, shown: readonly string[]): void {
    this.noteReplaced(from)
    this.#add({ from, shown })
  }

  /** The store has an object under this name that the cache has under another one. */
  noteReplaced(name: string): void {
    this.#staleNames = this.#staleNames.map((one) => (one.to === name ? { ...one, to: undefined } : one))
  }

  /** The name has a file again, which is not ours to remove. */
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
   * @param pause waits so many milliseconds
   * @throws WorkspaceError `ETIMEDOUT`: the names are kept for the next time.
   */
  async settle(part: StoredPart, pause: (ms: number) => Promise<unknown>): Promise<void> {
    // the rest may have rclone forget where it shows a file
    await this.settleUnseen(part)
    await this.#settle(part, pause, this.#staleNames)
  }

  /** The same of what {@link noteUnseen} was told of, at once: their uploads have ended. Those of others need not. */
  async settleUnseen(part: StoredPart): Promise<void> {
    await this.#settling?.catch(() => undefined)
    if (this.#unseen.length > 0) await (this.#settling = this.#settleUnseen(part))
  }

  get #unseen(): readonly StaleName[] {
    return this.#staleNames.filter(({ shown }) => shown !== undefined)
  }

  async #settleUnseen(part: StoredPart): Promise<void> {
    const claims = this.#unseen.flatMap(({ from, shown = [] }) => shown.filter((name) => name !== from))
    const claimed = Map.groupBy(claims, (name) => name)
    for (let left = this.#unseen; left.length > 0; left = this.#unseen) {
      const froms = new Set(left.map(({ from }) => from))
      // a file goes to a name that another one leaves when that has left
      const free = left.filter(({ from, shown = [] }) => shown.every((name) => name === from || !froms.has(name)))
      const now = (free.length > 0 ? free : left).slice(0, atOnce)
      await Promise.all(now.map((one) => settleOne(part, one, (name) => (claimed.get(name)?.length ?? 0) < 2)))
      this.#drop(now)
    }
    await part.control.call('vfs/forget', {}, { signal: part.signal })
  }

  async #settle(part: StoredPart, pause: (ms: number) => Promise<unknown>, staleNames: readonly StaleName[]) {
    let quietMs = shortestQuietMs
    for (let look = 0; ; look += 1) {
      if (look === mostLooks) throw unsettled()
      await pause(quietMs)
      const { isRight, slowestMs } = await lookAt(part, staleNames)
      const enoughMs = Math.min(slowestMs * slowFactor, longestQuietMs)
      if (isRight && enoughMs <= quietMs) break
      quietMs = Math.max(quietMs, enoughMs)
    }
    this.#drop(staleNames)
  }

  #drop(settled: readonly StaleName[]): void {
    this.#staleNames = this.#staleNames.filter((one) => !settled.includes(one))
    if (this.isEmpty) rmSync(this.#file, { force: true })
    else for (const { from } of settled) this.#write(() => appendEnd(this.#file, from))
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
      // a full disk: it is still known here
    }
  }
}

function unsettled(): Error {
  const remedy = 'flush again when the store has less to do'
  return failure('ETIMEDOUT', 'the store goes on taking uploads that were called off', { operation: 'flush', remedy })
}
