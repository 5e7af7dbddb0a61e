import type { ReadResult, Stat, TransferResult, WriteResult } from '@ws/core'
import {
  checkReadSize,
  chunksOf,
  collect,
  defineAdapter,
  type Driver,
  type DriverAppendOptions,
  type DriverCapabilities,
  type DriverCopyOptions,
  type DriverDeleteOptions,
  type DriverListOptions,
  type DriverMoveOptions,
  type DriverReadOptions,
  type DriverSearchQuery,
  type DriverWriteOptions,
  type EntryIterator,
  type MountPath,
  type ReadStreamResult,
  type SearchHit,
  type SearchOptions,
  type StorageAdapter,
  type Times,
  type WriteData,
} from '@ws/core/adapter'
import { capabilitiesOf } from './capabilities.ts'
import { failure } from './errors.ts'
import { list } from './listing.ts'
import { checkMemoryOptions, type MemoryAdapterOptions } from './options.ts'
import { search } from './search.ts'
import { seed } from './seed.ts'
import { checkCondition, copy, move } from './transfer.ts'
import type { Node } from './node.ts'
import { MemoryTree } from './tree.ts'
import { appendBytes, prepareWrite, writeBytes } from './write.ts'

/**
 * An adapter whose files live in the memory of this process, gone when it is closed. The reference for fast
 * tests: it keeps every promise of the contract, and checks conditions against every writer, since nothing else runs
 * during an operation. An unused adapter costs next to nothing.
 *
 * @throws WorkspaceError `EINVAL` that names the option; `ENOTDIR`, `EISDIR`, `EEXIST` for `files` that are not a tree.
 */
export function createMemoryAdapter(options: MemoryAdapterOptions = {}): StorageAdapter {
  checkMemoryOptions(options)
  const { files = {}, readOnly = false, now } = options
  const tree = Object.keys(files).length === 0 ? undefined : seed(files, now)
  return defineAdapter(new MemoryDriver(readOnly, tree, now), { trusted: true })
}

class MemoryDriver implements Driver {
  readonly name = 'memory'
  readonly capabilities: DriverCapabilities
  readonly #now: MemoryAdapterOptions['now']
  #made: MemoryTree | undefined

  constructor(readOnly: boolean, tree: MemoryTree | undefined, now: MemoryAdapterOptions['now']) {
    this.#made = tree
    this.#now = now
    this.capabilities = capabilitiesOf(readOnly)
  }

  /** Made by the first operation that needs it. */
  get #tree(): MemoryTree {
    this.#made ??= new MemoryTree(this.#now)
    return this.#made
  }

  async stat(path: MountPath): Promise<Stat> {
    return this.#tree.stat(this.#tree.find(path, { operation: 'stat' }))
  }

  async read(path: MountPath, options: DriverReadOptions): Promise<ReadResult> {
    const { content, stat } = this.#readable(path, options)
    checkReadSize('read', path, content.length, options.maxBytes)
    return { bytes: new Uint8Array(content), stat }
  }

  async readStream(path: MountPath, options: DriverReadOptions): Promise<ReadStreamResult> {
    const { content, stat } = this.#readable(path, options)
    return { stat, stream: chunksOf(content) }
  }

  async write(path: MountPath, data: WriteData, options: DriverWriteOptions): Promise<WriteResult> {
    const place = prepareWrite(this.#tree, path, options)
    if (data instanceof Uint8Array) return writeBytes(this.#tree, path, place, data, options)
    const bytes = await collect(data)
    options.signal?.throwIfAborted()
    // the tree went on meanwhile: everything is checked again
    return writeBytes(this.#tree, path, undefined, bytes, options)
  }

  async append(path: MountPath, data: Uint8Array, options: DriverAppendOptions): Promise<WriteResult> {
    return appendBytes(this.#tree, path, data, options)
  }

  list(path: MountPath, options: DriverListOptions): EntryIterator {
    return list(this.#tree, path, options)
  }

  search(query: DriverSearchQuery, options: SearchOptions): AsyncIterableIterator<SearchHit> {
    return search(this.#tree, query, options)
  }

  async createDirectory(path: MountPath, { recursive }: { readonly recursive: boolean }): Promise<void> {
    const { directory, missing, entry } = this.#tree.locate(path, { operation: 'createDirectory', follow: recursive })
    if (entry !== undefined) {
      if (recursive && entry.isDirectory) return
      throw failure('EEXIST', 'createDirectory', path)
    }
    if (missing.length > 1 && !recursive) throw failure('noParent', 'createDirectory', path)
    this.#tree.createDirectories(directory, missing)
  }

  async delete(path: MountPath, { recursive, force, ifVersion }: DriverDeleteOptions): Promise<void> {
    const place = this.#tree.locate(path, { operation: 'delete' })
    const { entry } = place
    if (entry === undefined) {
      if (force) return
      throw failure('ENOENT', 'delete', path)
    }
    checkCondition(place, ifVersion, 'delete', path)
    if (!recursive && entry.children.size > 0) throw failure('ENOTEMPTY', 'delete', path)
    this.#tree.remove(entry)
  }

  async move(source: MountPath, destination: MountPath, options: DriverMoveOptions): Promise<TransferResult> {
    return move(this.#tree, source, destination, options)
  }

  async copy(source: MountPath, destination: MountPath, options: DriverCopyOptions): Promise<TransferResult> {
    return copy(this.#tree, source, destination, options)
  }

  async createSymlink(path: MountPath, target: string): Promise<void> {
    const { directory, missing, entry } = this.#tree.locate(path, { operation: 'createSymlink' })
    const [name, ...rest] = missing
    if (entry !== undefined || name === undefined) throw failure('EEXIST', 'createSymlink', path)
    if (rest.length > 0) throw failure('noParent', 'createSymlink', path)
    this.#tree.createLink(directory, name, target)
  }

  async readSymlink(path: MountPath): Promise<string> {
    const entry = this.#tree.find(path, { operation: 'readSymlink' })
    if (!entry.isSymlink) throw failure('notALink', 'readSymlink', path)
    return entry.target
  }

  async chmod(path: MountPath, mode: number): Promise<void> {
    const node = this.#marked(path, 'chmod')
    node.mode = mode & 0o777
    this.#tree.touch(node)
  }

  async utimes(path: MountPath, { modifiedAt }: Times): Promise<void> {
    const node = this.#marked(path, 'utimes')
    node.modifiedAt = Math.trunc(modifiedAt)
    this.#tree.touch(node)
  }

  async createScratch(): Promise<StorageAdapter> {
    return createMemoryAdapter({ now: this.#now })
  }

  async close(): Promise<void> {
    this.#made = undefined
  }

  #marked(path: MountPath, operation: string): Node {
    return this.#tree.find(path, { operation, follow: true })
  }

  #readable(path: MountPath, { range, ifVersion }: DriverReadOptions): { content: Uint8Array; stat: Stat } {
    const tree = this.#tree
    const place = tree.locate(path, { operation: 'read', follow: true })
    const { entry } = place
    if (entry === undefined) throw failure('ENOENT', 'read', path)
    if (!entry.isFile) throw failure('EISDIR', 'read', path)
    checkCondition(place, ifVersion, 'read', path)
    const whole = entry.content
    const end = range?.length === undefined ? undefined : range.offset + range.length
    return { content: range === undefined ? whole : whole.subarray(range.offset, end), stat: tree.stat(entry) }
  }
}
