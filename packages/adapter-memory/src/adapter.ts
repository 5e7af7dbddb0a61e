import {
  assertMountPath,
  checkReadSize,
  maxNameBytes,
  maxPathBytes,
  WorkspaceError,
  type AdapterCapabilities,
  type AppendOptions,
  type CopyOptions,
  type CreateDirectoryOptions,
  type DeleteOptions,
  type Entry,
  type ListOptions,
  type MountPath,
  type MoveOptions,
  type ReadOptions,
  type ReadResult,
  type ReadStreamResult,
  type SearchHit,
  type SearchOptions,
  type SearchQuery,
  type SignalOption,
  type Stat,
  type StatOptions,
  type StorageAdapter,
  type TransferResult,
  type WriteData,
  type WriteOptions,
  type WriteResult,
  assertContent,
} from '@ws/core'
import { collect, isBytes, sliceRange, streamOf } from './content.ts'
import { failure, invalid } from './errors.ts'
import { list } from './listing.ts'
import { checkMemoryOptions, type MemoryAdapterOptions } from './options.ts'
import { search } from './search.ts'
import { seed } from './seed.ts'
import { checkCondition, copy, move } from './transfer.ts'
import { isEmpty, MemoryTree, type Link } from './tree.ts'
import { appendBytes, prepareWrite, writeBytes } from './write.ts'

/**
 * An adapter whose files live in the memory of this process, over memfs; gone when it is closed. The reference for fast
 * tests: it keeps every promise of the contract, and checks conditions against all comers, since nothing happens inside
 * an operation. An adapter that nobody has used yet costs next to nothing.
 *
 * @throws WorkspaceError `EINVAL` that names the option; `ENOTDIR`, `EISDIR`, `EEXIST` for `files` that are not a tree.
 */
export function createMemoryAdapter(options: MemoryAdapterOptions = {}): StorageAdapter {
  checkMemoryOptions(options)
  const { files = {}, readOnly = false } = options
  const tree = Object.keys(files).length === 0 ? undefined : seed(files)
  return new MemoryAdapter(readOnly, tree)
}

class MemoryAdapter implements StorageAdapter {
  readonly name = 'memory'
  readonly capabilities: AdapterCapabilities
  #tree: MemoryTree | undefined
  #closed = false

  constructor(readOnly: boolean, tree: MemoryTree | undefined) {
    this.#tree = tree
    this.capabilities = readOnly ? readOnlyCapabilities : capabilities
  }

  async stat(path: MountPath, { signal }: StatOptions = {}): Promise<Stat> {
    const tree = this.#open('stat', path, signal)
    return tree.stat(tree.find(path, { operation: 'stat' }))
  }

  async read(path: MountPath, options: ReadOptions = {}): Promise<ReadResult> {
    const { content, stat } = this.#readable('read', path, options)
    checkReadSize('read', path, content.length, options.maxBytes)
    return { bytes: new Uint8Array(content), stat }
  }

  async readStream(path: MountPath, options: ReadOptions = {}): Promise<ReadStreamResult> {
    const { content, stat } = this.#readable('read', path, options)
    return { stat, stream: streamOf(content, options) }
  }

  async write(path: MountPath, data: WriteData, options: WriteOptions = {}): Promise<WriteResult> {
    const tree = this.#change('write', path, options.signal)
    assertContent(data, 'write', path)
    const place = prepareWrite(tree, path, options)
    if (isBytes(data)) return writeBytes(tree, path, place, data, options)
    const bytes = await collect(data, path, options)
    // the tree went on meanwhile: everything is checked again
    return writeBytes(this.#change('write', path, options.signal), path, undefined, bytes, options)
  }

  async append(path: MountPath, data: Uint8Array, options: AppendOptions = {}): Promise<WriteResult> {
    const tree = this.#change('append', path, options.signal)
    if (!isBytes(data)) throw invalid('append', path, 'was given content that is not a Uint8Array')
    return appendBytes(tree, path, data, options)
  }

  list(path: MountPath, options: ListOptions = {}): AsyncIterableIterator<Entry> {
    return list(() => this.#open('list', path), path, options)
  }

  search(query: SearchQuery, options: SearchOptions = {}): AsyncIterableIterator<SearchHit> {
    return search(() => this.#open('search', query.in), query, options)
  }

  async createDirectory(path: MountPath, options: CreateDirectoryOptions = {}): Promise<void> {
    const { recursive = false, signal } = options
    const tree = this.#change('createDirectory', path, signal)
    const { directory, missing, entry } = tree.locate(path, { operation: 'createDirectory', follow: recursive })
    if (entry !== undefined) {
      if (recursive && entry.getNode().isDirectory()) return
      throw failure('EEXIST', 'createDirectory', path)
    }
    if (missing.length > 1 && !recursive) throw failure('noParent', 'createDirectory', path)
    tree.createDirectories(directory, missing)
  }

  async delete(path: MountPath, options: DeleteOptions = {}): Promise<void> {
    const { recursive = false, force = false, ifVersion, signal } = options
    const tree = this.#change('delete', path, signal)
    const place = tree.locate(path, { operation: 'delete' })
    const { entry } = place
    if (entry === undefined) {
      if (force) return
      throw failure('ENOENT', 'delete', path)
    }
    if (entry === tree.root) throw failure('EBUSY', 'delete', path)
    checkCondition(tree, place, ifVersion, 'delete', path)
    if (entry.getNode().isDirectory() && !recursive && !isEmpty(entry)) throw failure('ENOTEMPTY', 'delete', path)
    tree.remove(entry)
  }

  async move(source: MountPath, destination: MountPath, options: MoveOptions = {}): Promise<TransferResult> {
    assertMountPath(destination, 'move')
    return move(this.#change('move', source, options.signal), source, destination, options)
  }

  async copy(source: MountPath, destination: MountPath, options: CopyOptions = {}): Promise<TransferResult> {
    assertMountPath(destination, 'copy')
    return copy(this.#change('copy', source, options.signal), source, destination, options)
  }

  async createSymlink(path: MountPath, target: string, { signal }: SignalOption = {}): Promise<void> {
    const tree = this.#change('createSymlink', path, signal)
    assertTarget(target, path)
    const { directory, missing, entry } = tree.locate(path, { operation: 'createSymlink' })
    const [name, ...rest] = missing
    if (entry !== undefined || name === undefined) throw failure('EEXIST', 'createSymlink', path)
    if (rest.length > 0) throw failure('noParent', 'createSymlink', path)
    tree.createLink(directory, name, target)
  }

  async readSymlink(path: MountPath, { signal }: SignalOption = {}): Promise<string> {
    const tree = this.#open('readSymlink', path, signal)
    const node = tree.find(path, { operation: 'readSymlink' }).getNode()
    if (!node.isSymlink()) throw failure('notALink', 'readSymlink', path)
    return node.symlink
  }

  async createScratch({ signal }: SignalOption = {}): Promise<StorageAdapter> {
    this.#open('createScratch', '/', signal)
    return createMemoryAdapter()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#tree = undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** What every operation checks first; the tree is made by the first that needs it. */
  #open(operation: string, path: string, signal?: AbortSignal): MemoryTree {
    assertMountPath(path, operation)
    if (this.#closed) throw failure('ECLOSED', operation, path)
    signal?.throwIfAborted()
    this.#tree ??= new MemoryTree()
    return this.#tree
  }

  #change(operation: string, path: MountPath, signal: AbortSignal | undefined): MemoryTree {
    const tree = this.#open(operation, path, signal)
    if (this.capabilities.readOnly) throw failure('EROFS', operation, path)
    return tree
  }

  #readable(operation: string, path: MountPath, options: ReadOptions): { content: Uint8Array; stat: Stat } {
    const tree = this.#open(operation, path, options.signal)
    const place = tree.locate(path, { operation, follow: true })
    const { entry } = place
    if (entry === undefined) throw failure('ENOENT', operation, path)
    if (!isFile(entry)) throw failure('EISDIR', operation, path)
    checkCondition(tree, place, options.ifVersion, operation, path)
    return { content: sliceRange(tree.content(entry), options.range, path), stat: tree.stat(entry) }
  }
}

function isFile(entry: Link): boolean {
  return entry.getNode().isFile()
}

function assertTarget(target: string, path: MountPath): void {
  const remedy = 'give the path that the link is to lead to'
  if (typeof target !== 'string' || target === '') throw invalid('createSymlink', path, 'has an empty target', remedy)
  if (target.includes('\0') || !target.isWellFormed()) {
    throw invalid('createSymlink', path, 'has a target that no path can be', remedy)
  }
  if (new TextEncoder().encode(target).length <= maxPathBytes) return
  const reason = `has a target of more than ${maxPathBytes} bytes`
  throw new WorkspaceError({ code: 'ENAMETOOLONG', operation: 'createSymlink', path, reason })
}

const capabilities: AdapterCapabilities = Object.freeze({
  readOnly: false,
  append: true,
  symlinks: true,
  search: true,
  flush: false,
  hostPath: false,
  atomicMove: true,
  atomicDirectoryMove: true,
  enforcesHierarchy: true,
  keepsEmptyDirectories: true,
  modes: true,
  caseSensitive: true,
  controlCharacters: true,
  uniqueVersions: true,
  conditionalWrite: 'server',
  conditionalDelete: 'server',
  conditionalMove: 'server',
  confinement: 'inherent',
  maxStalenessMs: 0,
  maxNameBytes,
  maxPathBytes,
})

const readOnlyCapabilities: AdapterCapabilities = Object.freeze({ ...capabilities, readOnly: true })
