import { lstat, readdir } from 'node:fs/promises'

import { tempPrefix } from '@ws/adapter-local/internal'

import { readCachedFile } from './cached-file.ts'
import { unlessMissing } from './disk.ts'

/** Milliseconds of tolerance, because clocks of file systems count in steps. */
const slackMs = 2_000
const slash = Buffer.from('/')

interface Note {
  /** The path from the root as text. The name itself need not be valid text. */
  readonly path: string
  /** The host path of the note in bytes, which also finds a name that is not UTF-8. */
  readonly file: Buffer
}

/** Finds files that are not in the store yet. */
export class DirtyFiles {
  readonly #root: string
  readonly #unfinished: boolean
  /** Files that were found dirty. While one of them is dirty, no scan of all files is needed. */
  readonly #found = new Map<string, Note>()
  #cleanSince = Number.NEGATIVE_INFINITY

  /**
   * `root`: host path of the metadata of the part.
   *
   * `unfinished: false` leaves out files under construction, whose writes are not acknowledged yet or have failed. On a full disk,
   * the partial or whole note of such a file remains after the file was removed.
   */
  constructor(root: string, { unfinished = true }: { readonly unfinished?: boolean } = {}) {
    this.#root = root
    this.#unfinished = unfinished
  }

  /** The first dirty file, as a path from the root; `undefined`: everything is in the store. */
  async first(): Promise<string | undefined> {
    await this.#forgetClean()
    for (const { path } of this.#found.values()) return path
    const start = Date.now()
    for await (const note of this.#dirty()) {
      this.#keep(note)
      return note.path
    }
    this.#cleanSince = start - slackMs
    return undefined
  }

  /** All dirty files, as paths from the root. */
  async *all(): AsyncGenerator<string> {
    for await (const { path } of this.#dirty()) yield path
  }

  /** The number of dirty files. */
  async count(): Promise<number> {
    let count = 0
    for await (const _path of this.all()) count += 1
    return count
  }

  async areAtLeast(count: number): Promise<boolean> {
    await this.#forgetClean()
    if (this.#found.size >= count) return true
    for await (const note of this.#dirty()) {
      this.#keep(note)
      if (this.#found.size >= count) return true
    }
    return false
  }

  async *#dirty(): AsyncGenerator<Note> {
    for await (const note of this.#changed(Buffer.from(this.#root), '')) if (await isDirty(note)) yield note
  }

  #keep(note: Note): void {
    this.#found.set(note.file.toString('latin1'), note)
  }

  async #forgetClean(): Promise<void> {
    for (const [key, note] of this.#found) if (!(await isDirty(note))) this.#found.delete(key)
  }

  /** Yields rclone's notes that are newer than the last moment without dirty files. A file that becomes dirty gets a new note. */
  async *#changed(directory: Buffer, path: string): AsyncGenerator<Note> {
    // one call for each directory, since a flush scans all directories again and again
    const listing = await readdir(directory, { encoding: 'buffer', withFileTypes: true }).catch(unlessMissing)
    for (const entry of listing ?? []) {
      const name = entry.name.toString()
      if (!this.#unfinished && name.startsWith(tempPrefix)) continue
      const note = { path: `${path}/${name}`, file: Buffer.concat([directory, slash, entry.name]) }
      if (entry.isDirectory()) yield* this.#changed(note.file, note.path)
      else if (await this.#isChanged(note.file)) yield note
    }
  }

  async #isChanged(file: Buffer): Promise<boolean> {
    const status = await lstat(file).catch(unlessMissing)
    return status !== undefined && status.mtimeMs >= this.#cleanSince
  }
}

async function isDirty({ file }: Note): Promise<boolean> {
  return (await readCachedFile(file))?.dirty === true
}
