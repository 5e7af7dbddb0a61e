import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { MountPath, StorageAdapter, WriteData } from '@ws/core/adapter'

/** The bytes of a file, the target of a link, or a directory. */
type Content = Uint8Array | { readonly target: string } | 'directory'
type Files = Map<string, Content>

interface Change {
  readonly apply: (files: Files) => unknown
  /** The moments at which it was asked for and answered. */
  readonly begun: number
  ended: number
}

/**
 * Notes each change of a store, and so knows every content that a reader can find in it: at any moment, each request on its way has
 * arrived or not. Answers take seeded times, so that requests overtake one another.
 */
export class Moments {
  readonly #before: Files = new Map()
  readonly #changes: Change[] = []
  readonly #pick: (count: number) => number
  #moment = 0

  constructor(store: StorageAdapter, pick: (count: number) => number) {
    this.#pick = pick
    const { write, delete: remove, createSymlink, createDirectory, copy } = store
    const changes = {
      // a large file comes as a stream, and arrives as a whole
      write: async (path: MountPath, data: WriteData, options: object) => {
        const bytes = data instanceof Uint8Array ? data : Buffer.concat(await Array.fromAsync(data))
        return this.#note(
          () => write.call(store, path, bytes, options),
          (files) => files.set(path, bytes),
        )
      },
      delete: (path: MountPath, options: object) =>
        this.#note(
          () => remove.call(store, path, options),
          (files) => files.delete(path),
        ),
      createSymlink: (path: MountPath, target: string, options: object) =>
        this.#note(
          async () => createSymlink?.call(store, path, target, options),
          (files) => files.set(path, { target }),
        ),
      createDirectory: (path: MountPath, options: object) =>
        this.#note(
          () => createDirectory.call(store, path, options),
          (files) => files.set(path, 'directory'),
        ),
      copy: (from: MountPath, to: MountPath, options: object) =>
        this.#note(
          () => copy.call(store, from, to, options),
          (files) => files.set(to, files.get(from) ?? 'directory'),
        ),
    }
    Object.assign(store, changes)
  }

  /** The number of moments since the last `settle`. */
  get count(): number {
    return this.#moment
  }

  /** The changes so far have arrived. */
  settle(): void {
    for (const { apply } of this.#changes.splice(0)) apply(this.#before)
    this.#moment = 0
  }

  /** A content that a reader can find at this moment. */
  at(moment: number): Files {
    const files: Files = new Map(this.#before)
    for (const { begun, ended, apply } of this.#changes)
      if (ended <= moment || (begun <= moment && this.#pick(2) === 0)) apply(files)
    return files
  }

  async #note<Result>(work: () => Promise<Result>, apply: (files: Files) => unknown): Promise<Result> {
    this.#moment += 1
    const change = { apply, begun: this.#moment, ended: Infinity }
    const turns = async (): Promise<void> => {
      for (let turn = this.#pick(20); turn > 0; turn -= 1) await new Promise(setImmediate)
    }
    this.#changes.push(change)
    await turns()
    try {
      return await work()
    } catch (error) {
      this.#changes.splice(this.#changes.indexOf(change), 1)
      throw error
    } finally {
      await turns()
      this.#moment += 1
      change.ended = this.#moment
    }
  }
}

/** Makes real files of a content, below a new directory. */
export function materialize(files: Files, directory: string): void {
  for (const [path, content] of files) {
    const at = join(directory, path)
    mkdirSync(content === 'directory' ? at : dirname(at), { recursive: true })
    if (content instanceof Uint8Array) writeFileSync(at, content)
    else if (content !== 'directory') symlinkSync(content.target, at)
  }
}
