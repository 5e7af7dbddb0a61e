import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'

import type { MountPath } from '@ws/core/adapter'

import { readCachedFile } from './cached-file.ts'
import { hashOf } from './content-hash.ts'
import { isThere } from './disk.ts'
import { DirtyFiles } from './dirty.ts'
import { appendEnd, appendLines, readLines } from './lines.ts'
import type { Control } from '../control/client.ts'
import { hashInStore } from '../control/hash.ts'
import { deleteStored } from './stored.ts'

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

/** A file that was deleted or moved before the store had it. */
interface Gone {
  readonly path: string
  /** MD5 of its content, in hexadecimal. */
  readonly hash: string
  /** MD5 of the store's older content, until that content is removed; see {@link CancelledUploads.noteMove}. */
  readonly before?: string | undefined
}

/**
 * Files that were deleted or moved during a possible upload. rclone then cancels the upload and forgets the file. If the store had
 * received the whole file, the file reappears in the next listing. So the store is queried, and a file with exactly that content
 * is removed. The list is on the disk, and like the cache it outlives the process.
 */
export class CancelledUploads {
  readonly #file: string
  readonly #metadata: string
  readonly #content: string
  /** `""`, or `threads/t1/`. */
  readonly #below: string
  #gone: Gone[]

  /** @param options host paths of the cache, and of this part's notes (`metadata`) and contents */
  constructor({ cache, metadata, content, below }: CancelledUploadsOptions) {
    const name = createHash('sha256').update(below).digest('hex').slice(0, 16)
    this.#file = join(cache, 'cancelled', name)
    this.#metadata = metadata
    this.#content = content
    this.#below = below
    this.#gone = readLines<Gone>(this.#file, ({ path }) => path)
  }

  /** Call this before deleting a file or directory. Returns the affected files that the store does not have yet. */
  async note(path: MountPath): Promise<readonly string[]> {
    const paths = await this.#dirtyAt(path)
    this.#add(await this.#hashed(paths))
    return paths
  }

  /**
   * Records the affected files before a move. The store's objects can be removed only after the move: rclone moves the object that it
   * knows, and then the file. If the process ends in between, the file would reappear, or exist only at the new place. The list
   * shows which of the two happened.
   */
  async noteMove(
    path: MountPath,
    destination: MountPath,
    { control, fs, signal }: StoreContext,
  ): Promise<readonly string[]> {
    const paths = await this.#dirtyAt(path)
    const gone: Gone[] = []
    const isFree = async () =>
      (await hashInStore(control, { fs, remote: this.#remote(destination) }, signal)) === undefined
    for (const one of await this.#hashed(paths)) {
      const before = await hashInStore(control, { fs, remote: this.#remote(one.path) }, signal)
      gone.push({ ...one, before })
      if (one.path === path && before !== undefined && (await isFree())) gone.push({ path: destination, hash: before })
    }
    this.#add(gone)
    return paths
  }

  /** Call this after a move, even a failed one: a later file at the new name belongs to another writer. */
  noteMoved(paths: readonly string[], destination: MountPath): void {
    if (paths.length === 0) return
    if (this.#gone.some(({ path }) => path === destination)) appendEnd(this.#file, destination)
    this.#gone = this.#gone
      .filter(({ path }) => path !== destination)
      .map((one) => (paths.includes(one.path) ? { path: one.path, hash: one.hash } : one))
  }

  #remote(path: string): string {
    return `${this.#below}${path.slice(1)}`
  }

  async #dirtyAt(path: MountPath): Promise<string[]> {
    const file = await readCachedFile(join(this.#metadata, path))
    return file === undefined ? await this.#dirtyBelow(path) : file.dirty ? [path] : []
  }

  /** Removes the store's objects of files that will be deleted: rclone knows no object of a file that replaced another file by renaming. */
  async removeStored(paths: readonly string[], { control, fs, signal }: StoreContext): Promise<void> {
    for (const path of paths) await deleteStored(control, { fs, remote: this.#remote(path) }, signal)
  }

  async #dirtyBelow(path: MountPath): Promise<string[]> {
    const below = await Array.fromAsync(new DirtyFiles(join(this.#metadata, path)).all())
    return below.map((one) => join(path, one))
  }

  /** Removes cancelled uploads that reached the store after all. True if there was one. */
  async settle(context: StoreContext): Promise<boolean> {
    if (this.#gone.length === 0) return false
    let removed = false
    const settled = this.#gone
    for (const gone of settled) removed = (await this.#settleOne(gone, context)) || removed
    this.#gone = this.#gone.filter((gone) => !settled.includes(gone))
    if (this.#gone.length === 0) rmSync(this.#file, { force: true })
    return removed
  }

  async #settleOne({ path, hash, before }: Gone, { control, fs, signal }: StoreContext): Promise<boolean> {
    const cached = await readCachedFile(join(this.#metadata, path))
    // Times of the store are whole milliseconds, so a finer time means that the file was written here since. A late upload can
    // leave a note about a removed file, but no content.
    if (cached !== undefined && cached.mtimeNs % nsPerMs !== 0n && isThere(join(this.#content, path))) return false
    const where = { fs, remote: this.#remote(path) }
    const stored = await hashInStore(control, where, signal)
    if (stored === undefined || (stored !== hash && stored !== before)) return false
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
    appendLines(this.#file, gone)
    this.#gone = [...this.#gone, ...gone]
  }
}

const nsPerMs = 1_000_000n
