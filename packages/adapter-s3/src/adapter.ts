import type {
  AdapterCapabilities,
  AppendOptions,
  CopyOptions,
  CreateDirectoryOptions,
  DeleteOptions,
  EntryIterator,
  ListOptions,
  MountPath,
  MoveOptions,
  ReadOptions,
  ReadResult,
  ReadStreamResult,
  SearchHit,
  SearchOptions,
  SearchQuery,
  SignalOption,
  Stat,
  StatOptions,
  StorageAdapter,
  TransferResult,
  WriteData,
  WriteOptions,
  WriteResult,
} from '@ws/core'
import { capabilitiesOf } from './capabilities.ts'
import { translate } from './client/failures.ts'
import type { Task } from './client/requests.ts'
import { remove } from './delete/delete.ts'
import { createDirectory } from './directories/create.ts'
import { failure, invalid } from './errors.ts'
import { createSymlink, readSymlink } from './links/links.ts'
import { entriesOf, S3Listing } from './listing/list.ts'
import { append } from './objects/append.ts'
import { lookUp } from './objects/lookup.ts'
import { parseChangeId } from './objects/outcome.ts'
import { read } from './objects/read.ts'
import { readStream } from './objects/read-stream.ts'
import { resolve, type ResolvedChange, type S3StorageAdapter } from './objects/resolve.ts'
import { write } from './objects/write.ts'
import { createScratch } from './scratch.ts'
import { search } from './search/search.ts'
import { wrapSearch } from './search/iterator.ts'
import type { Store } from './store.ts'
import { copy, move } from './transfer/transfer.ts'

export interface S3AdapterParts {
  readonly name: string
  readonly store: Store
  readonly readOnly: boolean
  /** Ends what the adapter started, and the client if that is its own. */
  readonly release: () => void | Promise<void>
}

/** The contract on one store: checks what is common to all operations, and leaves the rest to their folders. */
export class S3Adapter implements S3StorageAdapter {
  readonly name: string
  readonly capabilities: AdapterCapabilities
  readonly append?: NonNullable<StorageAdapter['append']>
  readonly createSymlink?: NonNullable<StorageAdapter['createSymlink']>
  readonly readSymlink?: NonNullable<StorageAdapter['readSymlink']>
  readonly #store: Store
  readonly #release: S3AdapterParts['release']
  #closed = false

  constructor({ name, store, readOnly, release }: S3AdapterParts) {
    this.name = name
    this.#store = store
    this.#release = release
    this.capabilities = capabilitiesOf({ dialect: store.dialect, keys: store.keys, links: store.links, readOnly })
    if (this.capabilities.append) this.append = this.#append.bind(this)
    if (!store.links) return
    this.createSymlink = this.#createSymlink.bind(this)
    this.readSymlink = this.#readSymlink.bind(this)
  }

  async stat(path: MountPath, { signal }: StatOptions = {}): Promise<Stat> {
    return this.#run('stat', path, signal, async (task) => {
      const found = await lookUp(this.#store, path, task)
      if (found === undefined) throw failure('ENOENT', 'stat', path)
      return found.stat
    })
  }

  async read(path: MountPath, options: ReadOptions = {}): Promise<ReadResult> {
    return this.#run('read', path, options.signal, (task) => read(this.#store, path, options, task))
  }

  async readStream(path: MountPath, options: ReadOptions = {}): Promise<ReadStreamResult> {
    return this.#run('readStream', path, options.signal, (task) => readStream(this.#store, path, options, task))
  }

  async write(path: MountPath, data: WriteData, options: WriteOptions = {}): Promise<WriteResult> {
    return this.#change('write', path, options.signal, (task) => write(this.#store, path, data, options, task))
  }

  async #append(path: MountPath, data: Uint8Array, options: AppendOptions = {}): Promise<WriteResult> {
    return this.#change('append', path, options.signal, (task) => append(this.#store, path, data, options, task))
  }

  list(path: MountPath, options: ListOptions = {}): EntryIterator {
    const check = (): void => this.#check('list', path, options.signal)
    return new S3Listing(check, path, options.signal, () => entriesOf(this.#store, path, options))
  }

  search(query: SearchQuery, options: SearchOptions = {}): AsyncIterableIterator<SearchHit> {
    const check = (): void => this.#check('search', query.in, options.signal)
    return wrapSearch(() => search(this.#store, query, options), { check, path: query.in, signal: options.signal })
  }

  async createDirectory(path: MountPath, options: CreateDirectoryOptions = {}): Promise<void> {
    return this.#change('createDirectory', path, options.signal, (task) =>
      createDirectory(this.#store, path, options, task),
    )
  }

  async delete(path: MountPath, options: DeleteOptions = {}): Promise<void> {
    return this.#change('delete', path, options.signal, (task) => remove(this.#store, path, options, task))
  }

  async move(source: MountPath, destination: MountPath, options: MoveOptions = {}): Promise<TransferResult> {
    return this.#change('move', source, options.signal, (task) => {
      this.#store.keys.check(destination, 'move')
      return move(this.#store, source, destination, options, task)
    })
  }

  async copy(source: MountPath, destination: MountPath, options: CopyOptions = {}): Promise<TransferResult> {
    return this.#change('copy', source, options.signal, (task) => {
      this.#store.keys.check(destination, 'copy')
      return copy(this.#store, source, destination, options, task)
    })
  }

  async #createSymlink(path: MountPath, target: string, { signal }: SignalOption = {}): Promise<void> {
    return this.#change('createSymlink', path, signal, (task) => createSymlink(this.#store, path, target, task))
  }

  async #readSymlink(path: MountPath, { signal }: SignalOption = {}): Promise<string> {
    return this.#run('readSymlink', path, signal, (task) => readSymlink(this.#store, path, task))
  }

  async createScratch({ signal }: SignalOption = {}): Promise<StorageAdapter> {
    this.#check('createScratch', '/', signal)
    return createScratch(this.#store, (parts) => new S3Adapter({ ...parts, name: this.name, readOnly: false }))
  }

  async resolve(id: string, { signal }: SignalOption = {}): Promise<ResolvedChange> {
    const change = parseChangeId(id)
    if (change === undefined) throw invalid('resolve', '/', 'was given an id that is not a `changeId`')
    const { path } = change
    return this.#run('resolve', path as MountPath, signal, (task) => resolve(this.#store, change, task))
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#release()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #check(operation: string, path: string, signal: AbortSignal | undefined): asserts path is MountPath {
    this.#store.keys.check(path, operation)
    if (this.#closed) throw failure('ECLOSED', operation, path)
    signal?.throwIfAborted()
  }

  async #run<Result>(
    operation: string,
    path: MountPath,
    signal: AbortSignal | undefined,
    run: (task: Task) => Promise<Result>,
  ): Promise<Result> {
    this.#check(operation, path, signal)
    return this.#attempt({ operation, path, signal, until: this.#store.requests.begin() }, run)
  }

  async #attempt<Result>(task: Task, run: (task: Task) => Promise<Result>): Promise<Result> {
    try {
      return await run(task)
    } catch (error) {
      throw translate(error, task.operation, task.path, task.signal)
    }
  }

  async #change<Result>(
    operation: string,
    path: MountPath,
    signal: AbortSignal | undefined,
    run: (task: Task) => Promise<Result>,
  ): Promise<Result> {
    this.#check(operation, path, signal)
    if (this.capabilities.readOnly) throw failure('EROFS', operation, path)
    return this.#attempt({ operation, path, signal, until: this.#store.requests.begin() }, run)
  }
}
