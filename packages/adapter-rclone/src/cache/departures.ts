import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { timeInStore } from '../control/hash.ts'
import { type StoredPart, deleteStored, supplyStore } from '../control/stored.ts'
import { appendEnd, appendLines, readLines } from './lines.ts'

/** Milliseconds within which a rename and the end of an upload may have met: the log tells of them one after the other. */
const meetingMs = 1_000
/** Milliseconds by which rclone's own times may differ from one another. */
const roundingMs = 2
/** Files that the store is asked about at once. */
const atOnce = 8
/** Milliseconds by which the store's clock may be ahead of ours. */
const slackMs = 10_000

/** A name from which a file went, of which the store may have something. Paths are the store's part's. */
interface Departure {
  readonly from: string
  /** Where the file is now; deleted ones are nowhere. */
  readonly to?: string | undefined
  /** When it went, in milliseconds since the epoch. */
  readonly at: number
  /** What is there now was uploaded for `to`. */
  readonly misplaced?: boolean
}

/**
 * Files that were renamed or deleted, by anybody, while the store may have had something under the old name.
 *
 * - Their upload may have begun. rclone calls it off or sees it fail, and the store may have taken the file all the same:
 *   the old name comes back. Or the upload has just ended, and rclone takes the object of the old name for the new one: it
 *   reports a name as uploaded that the store does not have.
 * - They had replaced another file by renaming. rclone does not know that the store has the other one.
 *
 * An upload never begins before the write-back delay of its file is over. Every file that goes later is asked for in the
 * store, however its upload ended. The times are those of rclone's own log. The list is on the disk, as the cache is.
 */
export class Departures {
  readonly #file: string
  readonly #writeBackMs: number
  /** Files that are not uploaded yet, with the time at which their upload may begin. */
  readonly #waiting = new Map<string, number>()
  /** Uploads that have ended well this moment, with their time. */
  readonly #uploaded = new Map<string, number>()
  /** Names that were given to other files, or whose upload was called off, as long as nothing is uploaded under them. */
  readonly #uncertain = new Set<string>()
  #departures: Departure[]

  /** `cache`: host path of the cache. `writeBackMs`: milliseconds from the close of a file to its upload. */
  constructor(cache: string, writeBackMs: number) {
    this.#writeBackMs = writeBackMs
    this.#file = join(cache, 'departures')
    this.#departures = readLines<Departure>(this.#file, ({ from }) => from)
  }

  /** There is nothing to {@link settle}. */
  get isEmpty(): boolean {
    return this.#departures.length === 0
  }

  /** A file was closed after it was written. `time`: in milliseconds, as all times of this class, by rclone's clock. */
  noteQueue(name: string, time: number): void {
    this.noteMade(name)
    const mayBegin = time + this.#writeBackMs
    this.#waiting.set(name, Math.min(mayBegin, this.#waiting.get(name) ?? mayBegin))
  }

  /** A file of an earlier mount whose upload may begin at any time. */
  noteLeftover(name: string): void {
    this.#waiting.set(name, 0)
  }

  noteEnd(name: string, calledOff: boolean, time: number): void {
    const departure = this.#departures.find(({ from }) => from === name)
    // The store may have taken it only now.
    if (departure !== undefined) this.#add(name, departure.to, departure.misplaced)
    if (calledOff) return
    this.#waiting.delete(name)
    this.#uncertain.delete(name)
    this.#noteUploaded(name, time)
  }

  noteRename(from: string, to: string, time: number): void {
    const mayBegin = this.#waiting.get(from)
    if (this.#mayBeStored(from, time)) this.#add(from, to)
    this.#forget(from)
    this.noteMade(to)
    this.#uncertain.add(to)
    if (mayBegin !== undefined) this.#waiting.set(to, mayBegin)
  }

  /** rclone removes what it has uploaded in full. */
  noteDelete(name: string, time: number): void {
    if (this.#mayBeStored(name, time)) this.#add(name)
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
    this.#add(under, name, true)
  }

  /** The name has a file again: what is there is not ours to remove. */
  noteMade(name: string): void {
    if (!this.#departures.some(({ from }) => from === name)) return
    this.#departures = this.#departures.filter(({ from }) => from !== name)
    this.#write(() => appendEnd(this.#file, name))
  }

  /** To be called when nothing is to be uploaded any more. */
  async settle(part: StoredPart): Promise<void> {
    const departures = this.#departures
    for (let next = 0; next < departures.length; next += atOnce) {
      await Promise.all(departures.slice(next, next + atOnce).map((departure) => settleOne(part, departure)))
    }
    this.#departures = this.#departures.filter((one) => !departures.includes(one))
    if (this.isEmpty) rmSync(this.#file, { force: true })
  }

  #add(from: string, to?: string, misplaced = false): void {
    const departure = { from, to, at: Date.now(), misplaced }
    this.#departures = [...this.#departures.filter((one) => one.from !== from), departure]
    this.#write(() => appendLines(this.#file, [departure]))
  }

  #write(append: () => void): void {
    try {
      append()
    } catch {
      // a full disk: it is still known here
    }
  }
}

async function settleOne(part: StoredPart, { from, to, at, misplaced }: Departure): Promise<void> {
  if (to !== undefined) await supplyStore(part, to)
  // It has been made anew; or a file under construction is still to get its real name, by which rclone takes it along.
  if (existsSync(join(part.metadata, from))) {
    if (misplaced === true) await supplyStore(part, from)
    return
  }
  const where = { fs: part.fs, remote: from }
  const time = await timeInStore(part.control, where, part.signal)
  // what is later is somebody else's
  if (time !== undefined && time <= at + slackMs) await deleteStored(part.control, where, part.signal)
}
