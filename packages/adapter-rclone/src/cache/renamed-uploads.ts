import { existsSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'

import { tempPrefix } from '@ws/adapter-local'

import { hashInStore } from '../control/hash.ts'
import { type StoredPart, deleteStored, supplyStore } from '../control/stored.ts'
import { hashOf } from './content-hash.ts'
import { appendLines, readLines } from './lines.ts'

/** Milliseconds within which a rename and the end of an upload may have met: they are told of one after the other. */
const meetingMs = 5_000

/** A file that was renamed while it was being uploaded. Paths are the store's part's. */
interface Meeting {
  readonly from: string
  readonly to: string
  /** MD5 of the content, in hexadecimal; files under construction need none. */
  readonly hash?: string | undefined
}

/**
 * Files that were renamed, by whomever, while they were being uploaded. rclone calls such an upload off, and the store may
 * have taken it all the same: the old name comes back. Or it has just ended, and rclone takes what the store has under
 * the old name for the new one: it says "uploaded" of a name that the store does not have. rclone's log tells of renames
 * and of the ends of uploads; where the two met, the store is asked. The list is on the disk, as the cache is.
 */
export class RenamedUploads {
  readonly #file: string
  readonly #ended = new Map<string, number>()
  readonly #renamed = new Map<string, { readonly to: string; readonly at: number }>()
  readonly #hashing = new Set<Promise<void>>()
  #meetings: Meeting[]
  #content: string | undefined

  /** `cache`: host path of the cache. */
  constructor(cache: string) {
    this.#file = join(cache, 'renamed')
    this.#meetings = readLines(this.#file) as Meeting[]
  }

  /** There is nothing to {@link settle}. */
  get isEmpty(): boolean {
    return this.#meetings.length === 0 && this.#hashing.size === 0
  }

  /** Host path of the cache's content, as soon as it is known. */
  set content(path: string) {
    this.#content = path
  }

  /** An upload of this name has ended, or was called off. */
  noteEnd(name: string): void {
    const renamed = this.#renamed.get(name)
    if (renamed !== undefined) this.#note(name, renamed.to)
    remember(this.#ended, name, performance.now(), (at) => at)
  }

  noteRename(from: string, to: string): void {
    if (this.#ended.has(from)) this.#note(from, to)
    else remember(this.#renamed, from, { to, at: performance.now() }, ({ at }) => at)
  }

  /** To be called when nothing is to be uploaded any more. True if something was put right: listings are out of date then. */
  async settle(part: StoredPart): Promise<boolean> {
    while (this.#hashing.size > 0) await Promise.all(this.#hashing)
    const meetings = this.#meetings
    let changed = false
    for (const meeting of meetings) changed = (await settleOne(part, meeting)) || changed
    this.#meetings = this.#meetings.filter((one) => !meetings.includes(one))
    if (this.isEmpty) rmSync(this.#file, { force: true })
    return changed
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
    try {
      appendLines(this.#file, [meeting])
    } catch {
      // a full disk: it is still known here
    }
  }
}

async function settleOne(part: StoredPart, { from, to, hash }: Meeting): Promise<boolean> {
  const supplied = await supplyStore(part, to)
  // It has been made anew; or it is still to get its real name, by which rclone takes it along.
  if (existsSync(join(part.metadata, from))) return supplied
  const where = { fs: part.fs, remote: from }
  const stored = await hashInStore(part.control, where, part.signal)
  if (stored === undefined || (!isTemp(from) && stored !== hash)) return supplied
  await deleteStored(part.control, where, part.signal)
  return true
}

function isTemp(path: string): boolean {
  return basename(path).startsWith(tempPrefix)
}

/** Keeps what is recent. */
function remember<Value>(map: Map<string, Value>, name: string, value: Value, timeOf: (value: Value) => number): void {
  map.delete(name) // the latest comes last
  map.set(name, value)
  for (const [old, one] of map) {
    if (timeOf(value) - timeOf(one) < meetingMs) return
    map.delete(old)
  }
}
