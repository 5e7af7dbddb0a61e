import { createHash } from 'node:crypto'
import { appendFileSync, createReadStream, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { MountPath } from '@ws/core'

import { readCachedFile } from '../cache/cached-file.ts'
import { DirtyFiles } from '../cache/dirty.ts'
import { type Control, ControlRefusal } from '../control/client.ts'
import { type RemoteFile, hashInStore } from '../control/hash.ts'

export interface StoreContext {
  readonly control: Control
  /** The store's part as rclone names it. */
  readonly fs: string
  readonly signal?: AbortSignal | undefined
}

export interface CancelledUploadsOptions {
  readonly cache: string
  readonly metadata: string
  readonly content: string
  readonly below: string
}

/** A file that went while it was not in the store yet. */
interface Gone {
  readonly path: string
  /** MD5 of its content, in hexadecimal. */
  readonly hash: string
}

/**
 * Files that were deleted or moved while they may have been on their way to the store. rclone then calls the upload off,
 * and forgets it; if the store had all of it by then, the file comes back with the next listing. So the store is asked,
 * and what has just that content is removed. The list is on the disk: it outlives the process, as the cache does.
 */
export class CancelledUploads {
  readonly #file: string
  readonly #metadata: string
  readonly #content: string
  /** `""`, or `threads/t1/`. */
  readonly #below: string
  #gone: Gone[]

  /** `cache`: host path of the cache. `metadata`, `content`: of what it says, and holds, of this part. */
  constructor({ cache, metadata, content, below }: CancelledUploadsOptions) {
    const name = createHash('sha256').update(below).digest('hex').slice(0, 16)
    this.#file = join(cache, 'cancelled', name)
    this.#metadata = metadata
    this.#content = content
    this.#below = below
    this.#gone = readList(this.#file)
  }

  /** To be called before a file or directory goes. Gives what of it is not in the store yet. */
  async note(path: MountPath): Promise<readonly string[]> {
    const file = await readCachedFile(join(this.#metadata, path))
    const paths = file === undefined ? await this.#dirtyBelow(path) : file.dirty ? [path] : []
    this.#add(await this.#hashed(paths))
    return paths
  }

  /**
   * Removes from the store what it has of files that are to go. A file that replaced another one by renaming has no
   * object as far as rclone knows, and it would leave the one of its predecessor.
   */
  async removeStored(paths: readonly string[], { control, fs, signal }: StoreContext): Promise<void> {
    for (const path of paths) await deleteStored(control, { fs, remote: `${this.#below}${path.slice(1)}` }, signal)
  }

  async #dirtyBelow(path: MountPath): Promise<string[]> {
    const below = await Array.fromAsync(new DirtyFiles(join(this.#metadata, path)).all())
    return below.map((one) => join(path, one))
  }

  /** Removes from the store what came there in spite of it. True if there was something. */
  async settle(context: StoreContext): Promise<boolean> {
    if (this.#gone.length === 0) return false
    let removed = false
    const settled = this.#gone
    for (const gone of settled) removed = (await this.#settleOne(gone, context)) || removed
    this.#gone = this.#gone.filter((gone) => !settled.includes(gone))
    if (this.#gone.length === 0) rmSync(this.#file, { force: true })
    return removed
  }

  async #settleOne({ path, hash }: Gone, { control, fs, signal }: StoreContext): Promise<boolean> {
    const cached = await readCachedFile(join(this.#metadata, path))
    // Times of the store are whole milliseconds: with a finer one, it was made here since. (An upload that ends late notes
    // what it knew of a file that is gone, without its content.)
    if (cached !== undefined && cached.mtimeNs % nsPerMs !== 0n && existsSync(join(this.#content, path))) return false
    const where = { fs, remote: `${this.#below}${path.slice(1)}` }
    if ((await hashInStore(control, where, signal)) !== hash) return false
    await deleteStored(control, where, signal)
    return true
  }

  async #hashed(paths: readonly string[]): Promise<Gone[]> {
    const gone: Gone[] = []
    for (const path of paths) {
      const hash = await hashOf(join(this.#content, path))
      if (hash !== undefined) gone.push({ path, hash })
    }
    return gone
  }

  #add(gone: readonly Gone[]): void {
    if (gone.length === 0) return
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 })
    appendFileSync(this.#file, gone.map((one) => `${JSON.stringify(one)}\n`).join(''), { mode: 0o600 })
    this.#gone = [...this.#gone, ...gone]
  }
}

async function deleteStored(control: Control, file: RemoteFile, signal: AbortSignal | undefined): Promise<void> {
  try {
    await control.call('operations/deletefile', file, { signal })
  } catch (error) {
    if (!(error instanceof ControlRefusal && /not found/i.test(error.message))) throw error
  }
}

const nsPerMs = 1_000_000n

/** Of a file of the cache; `undefined` when it is not there any more. */
async function hashOf(file: string): Promise<string | undefined> {
  const hash = createHash('md5')
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Uint8Array)
    return hash.digest('hex')
  } catch {
    return undefined
  }
}

function readList(file: string): Gone[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return []
  }
  return text.split('\n').flatMap((line): Gone[] => {
    try {
      return [JSON.parse(line) as Gone]
    } catch {
      return [] // the last line of a process that was killed
    }
  })
}
