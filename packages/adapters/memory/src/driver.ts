import type { ReadResult, Stat, TransferResult, WriteResult } from '@ws/core'
import {
  checkReadSize,
  chunksOf,
  collect,
  type Driver,
  type DriverCapabilities,
  type MountPath,
  type ReadStreamResult,
  type SearchHit,
  type StorageAdapter,
  type Times,
  type WriteData,
  type DriverOptions,
  type AdapterOptions,
} from '@ws/core/adapter'
import type { EntryIterator, InnerListOptions } from '@ws/core/inner'
import { failure } from './errors.ts'
import { list } from './listing.ts'
import { search } from './search.ts'
import { checkCondition, copy, move } from './transfer.ts'
import { isEmpty, statOf, type Tree, typeError } from './tree.ts'
import { appendBytes, prepareWrite, writeBytes } from './write.ts'

export abstract class TreeDriver implements Driver {
  abstract readonly name: string
  abstract readonly capabilities: DriverCapabilities
  #made: Tree | undefined

  protected abstract makeTree(): Tree

  abstract createScratch(): Promise<StorageAdapter>

  /** Called after a call that may have changed entries at or below paths. */
  protected noteChange(..._paths: readonly MountPath[]): void {}

  async stat(path: MountPath): Promise<Stat> {
    return this.#do('stat', path, (tree) => statOf(tree.find(path, { operation: 'stat' })))
  }

  async read(path: MountPath, options: DriverOptions.Read): Promise<ReadResult> {
    const { content, stat } = this.#readable(path, options)
    checkReadSize('read', path, content.length, options.maxBytes)
    return { bytes: new Uint8Array(content), stat }
  }

  async readStream(path: MountPath, options: DriverOptions.Read): Promise<ReadStreamResult> {
    const { content, stat } = this.#readable(path, options)
    return { stat, stream: chunksOf(content) }
  }

  async write(path: MountPath, data: WriteData, options: DriverOptions.Write): Promise<WriteResult> {
    const prepare = (tree: Tree) => prepareWrite(tree, path, options)
    if (data instanceof Uint8Array) {
      return this.#change('write', [path], (tree) => writeBytes(tree, path, prepare(tree), data, options))
    }
    this.#do('write', path, prepare)
    const bytes = await collect(data)
    options.signal?.throwIfAborted()
    // the tree may have changed meanwhile, so everything is checked again
    return this.#change('write', [path], (tree) => writeBytes(tree, path, undefined, bytes, options))
  }

  async append(path: MountPath, data: Uint8Array, options: DriverOptions.Append): Promise<WriteResult> {
    return this.#change('append', [path], (tree) => appendBytes(tree, path, data, options))
  }

  list(path: MountPath, options: DriverOptions.List & InnerListOptions): EntryIterator {
    return list(this.tree, path, options)
  }

  search(query: DriverOptions.Query, options: AdapterOptions.Search): AsyncIterableIterator<SearchHit> {
    return search(this.tree, query, options)
  }

  async createDirectory(path: MountPath, { recursive }: { readonly recursive: boolean }): Promise<void> {
    const operation = 'createDirectory'
    this.#change(operation, [path], (tree) => {
      const { directory, missing, entry } = tree.locate(path, { operation, follow: recursive })
      if (entry !== undefined) {
        if (recursive && entry.type === 'directory') return
        throw failure('EEXIST', operation, path)
      }
      if (missing.length > 1 && !recursive) throw failure('noParent', operation, path)
      tree.createDirectories(directory, missing)
    })
  }

  async delete(path: MountPath, { recursive, force, ifVersion }: DriverOptions.Delete): Promise<void> {
    this.#change('delete', [path], (tree) => {
      const place = tree.locate(path, { operation: 'delete' })
      const { entry } = place
      if (entry === undefined) {
        if (force) return
        throw failure('ENOENT', 'delete', path)
      }
      checkCondition(place, ifVersion, 'delete', path)
      if (!recursive && !isEmpty(entry)) throw failure('ENOTEMPTY', 'delete', path)
      tree.remove(entry)
    })
  }

  async move(source: MountPath, destination: MountPath, options: DriverOptions.Move): Promise<TransferResult> {
    return this.#change('move', [source, destination], (tree) => move(tree, source, destination, options))
  }

  async copy(source: MountPath, destination: MountPath, options: DriverOptions.Copy): Promise<TransferResult> {
    return this.#change('copy', [source, destination], (tree) => copy(tree, source, destination, options))
  }

  async createSymlink(path: MountPath, target: string): Promise<void> {
    const operation = 'createSymlink'
    this.#change(operation, [path], (tree) => {
      const { directory, missing, entry } = tree.locate(path, { operation })
      const [name, ...rest] = missing
      if (entry !== undefined || name === undefined) throw failure('EEXIST', operation, path)
      if (rest.length > 0) throw failure('noParent', operation, path)
      tree.createLink(directory, name, target)
    })
  }

  async readSymlink(path: MountPath): Promise<string> {
    const operation = 'readSymlink'
    return this.#do(operation, path, (tree) => {
      const entry = tree.find(path, { operation })
      if (entry.type !== 'symlink') throw failure('notALink', operation, path)
      return entry.target
    })
  }

  async chmod(path: MountPath, mode: number): Promise<void> {
    this.#change('chmod', [path], (tree) => {
      tree.setMode(tree.find(path, { operation: 'chmod', follow: true }), mode & 0o777)
    })
  }

  async utimes(path: MountPath, { modifiedAt }: Times): Promise<void> {
    this.#change('utimes', [path], (tree) =>
      tree.setTime(tree.find(path, { operation: 'utimes', follow: true }), Math.trunc(modifiedAt)),
    )
  }

  async close(): Promise<void> {
    this.#made = undefined
  }

  protected get tree(): Tree {
    this.#made ??= this.makeTree()
    return this.#made
  }

  #do<Result>(operation: string, path: MountPath, work: (tree: Tree) => Result): Result {
    const tree = this.tree
    try {
      return work(tree)
    } catch (error) {
      throw tree.explain(error, operation, path)
    }
  }

  #change<Result>(
    operation: string,
    [path, ...others]: readonly [MountPath, ...MountPath[]],
    work: (tree: Tree) => Result,
  ): Result {
    try {
      return this.#do(operation, path, work)
    } finally {
      this.noteChange(path, ...others)
    }
  }

  #readable(path: MountPath, { range, ifVersion }: DriverOptions.Read): { content: Uint8Array; stat: Stat } {
    return this.#do('read', path, (tree) => {
      const place = tree.locate(path, { operation: 'read', follow: true })
      const { entry } = place
      if (entry === undefined) throw failure('ENOENT', 'read', path)
      if (entry.type !== 'file') throw typeError(entry.type, 'read', path)
      checkCondition(place, ifVersion, 'read', path)
      const whole = entry.content
      const end = range?.length === undefined ? undefined : range.offset + range.length
      return { content: range === undefined ? whole : whole.subarray(range.offset, end), stat: statOf(entry) }
    })
  }
}
