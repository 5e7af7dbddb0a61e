import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { timeInStore } from '../control/hash.ts'
import { type StoredPart, deleteStored, supplyStore } from '../control/stored.ts'
import { appendEnd, appendLines, readLines } from './lines.ts'

/** Milliseconds within which a rename and the end of an upload may have met: the log tells of them one after the other. */
const meetingMs = 1_000
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
 * Files that were renamed or deleted, by whomever, and of which rclone does not know what the store has under the old name.
 *
 * - While one is uploaded, rclone calls the upload off, and the store may have taken it all the same: the old name comes
 *   back. Or the upload has just ended, and rclone takes what the store has under the old name for the new one:
 *   it says "uploaded" of a name that the store does not have.
 * - Of one that has replaced another by renaming, rclone does not know that the store has the other.
 *
 * rclone's log tells of each step; where they met, the store is asked. The list is on the disk, as the cache is.
 */
export class Departures {
  readonly #file: string
  /** Uploads that have ended well this moment, and renames of this moment. */
  readonly #uploaded = new Map<string, { readonly at: number }>()
  readonly #renamed = new Map<string, { readonly to: string; readonly at: number }>()
  /** Names that were given to other files, or whose upload was called off, as long as nothing is uploaded under them. */
  readonly #uncertain = new Set<string>()
  #departures: Departure[]

  /** `cache`: host path of the cache. */
  constructor(cache: string) {
    this.#file = join(cache, 'departures')
    this.#departures = readLines<Departure>(this.#file, ({ from }) => from)
  }

  /** There is nothing to {@link settle}. */
  get isEmpty(): boolean {
    return this.#departures.length === 0
  }

  noteEnd(name: string, calledOff: boolean): void {
    const renamed = this.#renamed.get(name)
    if (renamed !== undefined) this.#add(name, renamed.to)
    else if (calledOff) this.#uncertain.add(name)
    if (calledOff) return
    this.#uncertain.delete(name)
    remember(this.#uploaded, name, { at: performance.now() })
  }

  noteRename(from: string, to: string): void {
    if (this.#uploaded.has(from) || this.#uncertain.has(from)) this.#add(from, to)
    else remember(this.#renamed, from, { to, at: performance.now() })
    this.noteMade(to)
    this.#uncertain.add(to)
  }

  /** rclone removes what it has uploaded in full. */
  noteDelete(name: string): void {
    if (this.#uncertain.has(name)) this.#add(name)
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
    this.#uploaded.delete(from)
    this.#renamed.delete(from)
    this.#uncertain.delete(from)
    const departure = { from, to, at: Date.now(), misplaced }
    this.#departures.push(departure)
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

/** Keeps what is recent. */
function remember<Value extends { readonly at: number }>(map: Map<string, Value>, name: string, value: Value): void {
  map.delete(name) // the latest comes last
  map.set(name, value)
  for (const [old, { at }] of map) {
    if (value.at - at < meetingMs) return
    map.delete(old)
  }
}
