import { existsSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'

import { tempPrefix } from '@ws/adapter-local'

import { hashInStore } from '../control/hash.ts'
import { type StoredPart, deleteStored, supplyStore } from '../control/stored.ts'
import { hashOf } from './content-hash.ts'
import { appendLines, readLines } from './lines.ts'

/** Milliseconds within which two things may have met: the log tells of them one after the other. */
const meetingMs = 5_000

/** A file that went from a name while it was being uploaded. Paths are the store's part's. */
interface Meeting {
  readonly from: string
  /** Where it is now; deleted files are nowhere. */
  readonly to?: string | undefined
  /** MD5 of its content, in hexadecimal. */
  readonly hash?: string | undefined
}

/** A name has a file again: what is there is not ours to remove. */
interface Made {
  readonly made: string
}

/**
 * Files that were renamed or deleted, by whomever, while they were being uploaded. rclone calls such an upload off, and the
 * store may have taken it all the same: the old name comes back. Or it has just ended, and rclone takes what the
 * store has under the old name for the new one: it says "uploaded" of a name that the store does not have. rclone's log
 * tells of each; where they met, the store is asked. The list is on the disk, as the cache is.
 */
export class Meetings {
  readonly #file: string
  /** Uploads that have ended, with the time; true: they were called off. */
  readonly #ended = new Map<string, { readonly calledOff: boolean; readonly at: number }>()
  readonly #renamed = new Map<string, { readonly to: string; readonly at: number }>()
  readonly #hashing = new Set<Promise<void>>()
  #meetings: Meeting[]
  #content: string | undefined

  /** `cache`: host path of the cache. */
  constructor(cache: string) {
    this.#file = join(cache, 'meetings')
    this.#meetings = readMeetings(this.#file)
  }

  /** There is nothing to {@link settle}. */
  get isEmpty(): boolean {
    return this.#meetings.length === 0 && this.#hashing.size === 0
  }

  /** Host path of the cache's content, as soon as it is known. */
  set content(path: string) {
    this.#content = path
  }

  noteEnd(name: string, calledOff: boolean): void {
    const renamed = this.#renamed.get(name)
    if (renamed !== undefined) this.#note(name, renamed.to)
    remember(this.#ended, name, { calledOff, at: performance.now() })
  }

  noteRename(from: string, to: string): void {
    this.noteMade(to)
    if (this.#ended.has(from)) this.#note(from, to)
    else remember(this.#renamed, from, { to, at: performance.now() })
  }

  /** rclone removes what was uploaded in full. */
  noteDelete(name: string): void {
    const ended = this.#ended.get(name)
    this.#ended.delete(name)
    if (ended?.calledOff === true) this.#add({ from: name })
  }

  noteMade(name: string): void {
    if (!this.#meetings.some(({ from }) => from === name)) return
    this.#meetings = this.#meetings.filter(({ from }) => from !== name)
    this.#write({ made: name })
  }

  /** To be called when nothing is to be uploaded any more. */
  async settle(part: StoredPart): Promise<void> {
    while (this.#hashing.size > 0) await Promise.all(this.#hashing)
    const meetings = this.#meetings
    for (const meeting of meetings) await settleOne(part, meeting)
    this.#meetings = this.#meetings.filter((one) => !meetings.includes(one))
    if (this.isEmpty) rmSync(this.#file, { force: true })
  }

  #note(from: string, to: string): void {
    this.#ended.delete(from)
    this.#renamed.delete(from)
    if (isTemp(from) || this.#content === undefined) return this.#add({ from, to })
    const hashing: Promise<void> = hashOf(join(this.#content, to))
      .then((hash) => this.#add({ from, to, hash }))
      .finally(() => this.#hashing.delete(hashing))
    this.#hashing.add(hashing)
  }

  #add(meeting: Meeting): void {
    this.#meetings.push(meeting)
    this.#write(meeting)
  }

  #write(line: Meeting | Made): void {
    try {
      appendLines(this.#file, [line])
    } catch {
      // a full disk: it is still known here
    }
  }
}

async function settleOne(part: StoredPart, { from, to, hash }: Meeting): Promise<void> {
  if (to !== undefined) await supplyStore(part, to)
  // It has been made anew; or it is still to get its real name, by which rclone takes it along.
  if (existsSync(join(part.metadata, from))) return
  const where = { fs: part.fs, remote: from }
  const stored = await hashInStore(part.control, where, part.signal)
  if (stored === undefined || (to !== undefined && !isTemp(from) && stored !== hash)) return
  await deleteStored(part.control, where, part.signal)
}

function isTemp(path: string): boolean {
  return basename(path).startsWith(tempPrefix)
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

function readMeetings(file: string): Meeting[] {
  let meetings: Meeting[] = []
  for (const line of readLines(file) as readonly (Meeting | Made)[]) {
    if ('made' in line) meetings = meetings.filter(({ from }) => from !== line.made)
    else meetings.push(line)
  }
  return meetings
}
