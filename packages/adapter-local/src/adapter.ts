import {
  type AdapterCapabilities,
  type AppendOptions,
  type CopyOptions,
  type CreateDirectoryOptions,
  type DeleteOptions,
  type Entry,
  type HostDirectory,
  type HostPath,
  type ListOptions,
  type MountPath,
  type MoveOptions,
  type Owner,
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
  WorkspaceError,
  assertMountPath,
} from '@ws/core'

import type { Task } from './confine/task.ts'
import type { Tree } from './confine/tree.ts'
import { failure, translate } from './errors.ts'
import type { Engines } from './host/engine.ts'
import { ownTurn } from './host/pace.ts'
import { describeHostDirectory } from './place/host-directory.ts'
import { Listing } from './read/listing.ts'
import { readFile } from './read/read.ts'
import { readFileStream } from './read/read-stream.ts'
import { statEntry } from './read/stat.ts'
import { Resources } from './resources.ts'
import { searchTree } from './search/search.ts'
import { appendToFile } from './write/append.ts'
import { copyEntry } from './write/copy.ts'
import { createDirectoryAt } from './write/create-directory.ts'
import { deleteEntry } from './write/delete.ts'
import { moveEntry } from './write/move.ts'
import { createSymlinkAt, readSymlinkAt } from './write/symlinks.ts'
import { holdsTempName } from './write/temp.ts'
import { writeFile } from './write/write.ts'

export interface LocalAdapterParts {
  readonly tree: Tree
  readonly engines: Engines
  readonly capabilities: AdapterCapabilities
  readonly owner: Owner | undefined
  /** Runs once, when nothing of the adapter is in use any more. */
  readonly onClose: () => Promise<void>
  readonly createScratch: (options?: SignalOption) => Promise<StorageAdapter>
}

/** A directory of this machine. Made by `createLocalAdapter`. */
export class LocalAdapter implements StorageAdapter {
  readonly name = 'local'
  readonly capabilities: AdapterCapabilities
  readonly #parts: LocalAdapterParts
  readonly #resources = new Resources()
  #closed: Promise<void> | undefined

  constructor(parts: LocalAdapterParts) {
    this.capabilities = parts.capabilities
    this.#parts = parts
  }

  async stat(path: MountPath, options: StatOptions = {}): Promise<Stat> {
    return await this.#run('stat', path, options, statEntry)
  }

  async read(path: MountPath, options: ReadOptions = {}): Promise<ReadResult> {
    return await this.#run('read', path, options, (task) => readFile(task, options))
  }

  async readStream(path: MountPath, options: ReadOptions = {}): Promise<ReadStreamResult> {
    return await this.#run('readStream', path, options, (task) => readFileStream(task, options, this.#resources))
  }

  async write(path: MountPath, data: WriteData, options: WriteOptions = {}): Promise<WriteResult> {
    return await this.#run('write', path, options, (task) => writeFile(task, data, options), 'creates')
  }

  list(path: MountPath, options: ListOptions = {}): AsyncIterableIterator<Entry> {
    return new Listing({
      ...options,
      maxPathBytes: this.capabilities.maxPathBytes,
      resources: this.#resources,
      begin: () => this.#begin('list', path, options),
    })
  }

  async createDirectory(path: MountPath, options: CreateDirectoryOptions = {}): Promise<void> {
    await this.#run('createDirectory', path, options, (task) => createDirectoryAt(task, options), 'creates')
  }

  async delete(path: MountPath, options: DeleteOptions = {}): Promise<void> {
    const access = options.force === true ? 'creates' : 'reads'
    await this.#run('delete', path, options, (task) => deleteEntry(task, options), access)
  }

  async move(source: MountPath, destination: MountPath, options: MoveOptions = {}): Promise<TransferResult> {
    return await this.#run(
      'move',
      source,
      options,
      (task) => moveEntry(task, destination, options),
      'reads',
      destination,
    )
  }

  async copy(source: MountPath, destination: MountPath, options: CopyOptions = {}): Promise<TransferResult> {
    return await this.#run(
      'copy',
      source,
      options,
      (task) => copyEntry(task, destination, options),
      'reads',
      destination,
    )
  }

  async append(path: MountPath, data: Uint8Array, options: AppendOptions = {}): Promise<WriteResult> {
    return await this.#run('append', path, options, (task) => appendToFile(task, data, options), 'creates')
  }

  async createSymlink(path: MountPath, target: string, options: SignalOption = {}): Promise<void> {
    await this.#run('createSymlink', path, options, (task) => createSymlinkAt(task, target), 'creates')
  }

  async readSymlink(path: MountPath, options: SignalOption = {}): Promise<string> {
    return await this.#run('readSymlink', path, options, readSymlinkAt)
  }

  search(query: SearchQuery, options: SearchOptions = {}): AsyncIterableIterator<SearchHit> {
    return searchTree({
      query,
      owner: this.#parts.owner,
      resources: this.#resources,
      maxPathBytes: this.capabilities.maxPathBytes,
      begin: () => this.#begin('search', query.in, options),
    })
  }

  hostPath(path: MountPath): HostPath {
    assertMountPath(path, 'hostPath')
    return this.#parts.tree.hostPath(path) as HostPath
  }

  async hostDirectory(path: MountPath): Promise<HostDirectory> {
    return await this.#run('hostDirectory', path, {}, (task) => describeHostDirectory(task, this.#parts.owner))
  }

  async createScratch(options: SignalOption = {}): Promise<StorageAdapter> {
    this.#assertOpen('createScratch')
    return await this.#parts.createScratch(options)
  }

  close(): Promise<void> {
    this.#closed ??= this.#end()
    return this.#closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #end(): Promise<void> {
    await this.#resources.end(closedError('list'))
    await this.#parts.onClose()
  }

  #assertOpen(operation: string): void {
    if (this.#closed !== undefined) throw closedError(operation)
  }

  async #run<Result>(
    operation: string,
    path: MountPath,
    options: SignalOption,
    work: (task: Task) => Promise<Result>,
    access: 'reads' | 'creates' = 'reads',
    destination?: MountPath,
  ): Promise<Result> {
    const task = await this.#begin(operation, path, options, access, destination)
    this.#resources.enter()
    try {
      return await work(task)
    } catch (error) {
      throw translate(error, task)
    } finally {
      this.#resources.leave()
    }
  }

  async #begin(
    operation: string,
    path: MountPath,
    { signal }: SignalOption,
    access: 'reads' | 'creates' = 'reads',
    destination?: MountPath,
  ): Promise<Task> {
    this.#assertOpen(operation)
    assertMountPath(path, operation)
    refuseTempName(operation, path, access)
    if (destination !== undefined) {
      assertMountPath(destination, operation)
      refuseTempName(operation, destination, 'creates')
    }
    signal?.throwIfAborted()
    await ownTurn()
    this.#assertOpen(operation)
    const { tree, engines } = this.#parts
    const places = destination === undefined ? [tree.hostPath(path)] : [tree.hostPath(path), tree.hostPath(destination)]
    const engine = engines.for(places)
    return {
      tree,
      operation,
      path,
      signal,
      pooled: engine.pooled,
      get calls() {
        return engine.calls
      },
    }
  }
}

function closedError(operation: string): WorkspaceError {
  return new WorkspaceError({
    code: 'ECLOSED',
    operation,
    reason: 'the adapter is closed',
    remedy: 'create a new one',
  })
}

/** Files under construction are nobody's business: they are not there for readers, and their names are not given away. */
function refuseTempName(operation: string, path: MountPath, access: 'reads' | 'creates'): void {
  if (!holdsTempName(path)) return
  if (access === 'reads') throw failure({ operation, path }, 'ENOENT', 'does not exist')
  throw failure({ operation, path }, 'EINVAL', 'has a name that is kept for temporary files', {
    remedy: 'choose another name',
  })
}
