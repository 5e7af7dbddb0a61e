import { paths, type ReadResult, type Stat, type TransferResult, type WriteResult } from '@ws/core'
import {
  defineAdapter,
  type Driver,
  type DriverCapabilities,
  type MountPath,
  type ReadStreamResult,
  type SearchHit,
  type SignalOption,
  type StorageAdapter,
  type WriteData,
  type AdapterOptions,
  type DriverOptions,
} from '@ws/core/adapter'
import type { EntryIterator, ListedOption } from '@ws/core/inner'
import { capabilitiesOf } from './capabilities.ts'
import { translate } from './client/failures.ts'
import type { Task } from './client/requests.ts'
import { remove } from './delete/delete.ts'
import { createDirectory } from './directories/create.ts'
import { failure, invalid } from './errors.ts'
import { createSymlink, readSymlink } from './files/symlinks.ts'
import { entriesOf, S3Listing } from './listing/list.ts'
import { append } from './files/append.ts'
import { lookUp } from './files/lookup.ts'
import { parseChangeId } from './objects/outcome.ts'
import { read } from './files/read.ts'
import { readStream } from './files/read-stream.ts'
import { resolve, type ResolvedChange, type S3StorageAdapter } from './objects/resolve.ts'
import { write } from './files/write.ts'
import { createScratch } from './scratch.ts'
import { search } from './search/search.ts'
import type { Store } from './store/store.ts'
import { keepsAttributes, setAttributes, type FileAttributes } from './transfer/attributes.ts'
import { copy, move } from './transfer/transfer.ts'

export interface S3AdapterParts {
  readonly name: string
  readonly store: Store
  readonly readOnly: boolean
  readonly identity?: string | undefined
  /** Ends the adapter's work, and closes the adapter's own client. `used`: the adapter may have stored objects. */
  readonly release: (used: boolean) => void | Promise<void>
}

export function createAdapter(parts: S3AdapterParts): S3StorageAdapter {
  const driver = new S3Driver(parts)
  return Object.assign(defineAdapter(driver, { trusted: true }), {
    identity: parts.identity,
    resolve: driver.resolve.bind(driver),
  })
}

class S3Driver implements Driver {
  readonly name: string
  readonly capabilities: DriverCapabilities
  readonly append?: NonNullable<Driver['append']>
  readonly createSymlink?: NonNullable<Driver['createSymlink']>
  readonly readSymlink?: NonNullable<Driver['readSymlink']>
  readonly chmod?: NonNullable<Driver['chmod']>
  readonly utimes?: NonNullable<Driver['utimes']>
  readonly close: () => Promise<void>
  readonly #store: Store
  #used = false

  constructor({ name, store, readOnly, release }: S3AdapterParts) {
    this.name = name
    this.#store = store
    this.close = async () => release(this.#used)
    this.capabilities = capabilitiesOf({ dialect: store.dialect, keys: store.keys, readOnly })
    if (store.dialect.conditionalPut) this.append = this.#append.bind(this)
    if (keepsAttributes(store)) {
      this.chmod = (path, mode, options) => this.#set('chmod', path, { mode }, options)
      this.utimes = (path, { modifiedAt }, options) => this.#set('utimes', path, { modifiedAt }, options)
    }
    if (!store.links) return
    this.createSymlink = this.#createSymlink.bind(this)
    this.readSymlink = this.#readSymlink.bind(this)
  }

  checkPath(path: MountPath, operation: string): void {
    this.#store.keys.check(path, operation)
  }

  stat(path: MountPath, { signal }: SignalOption): Promise<Stat> {
    return this.#run('stat', path, signal, async (task) => {
      const found = await lookUp(this.#store, path, task)
      if (found === undefined) throw failure('ENOENT', 'stat', path)
      return found.stat
    })
  }

  read(path: MountPath, options: DriverOptions.Read): Promise<ReadResult> {
    return this.#run('read', path, options.signal, (task) => read(this.#store, path, options, task))
  }

  readStream(path: MountPath, options: DriverOptions.Read): Promise<ReadStreamResult> {
    return this.#run('readStream', path, options.signal, (task) => readStream(this.#store, path, options, task))
  }

  write(path: MountPath, data: WriteData, options: DriverOptions.Write & ListedOption): Promise<WriteResult> {
    return this.#run('write', path, options.signal, (task) => write(this.#store, path, data, options, task))
  }

  #set(operation: string, path: MountPath, attributes: FileAttributes, { signal }: SignalOption): Promise<void> {
    return this.#run(operation, path, signal, (task) => setAttributes(this.#store, path, attributes, task))
  }

  #append(path: MountPath, data: Uint8Array, options: DriverOptions.Append): Promise<WriteResult> {
    return this.#run('append', path, options.signal, (task) => append(this.#store, path, data, options, task))
  }

  list(path: MountPath, options: DriverOptions.List): EntryIterator {
    return new S3Listing(path, options.signal, entriesOf(this.#store, path, options))
  }

  search(query: DriverOptions.Query, options: AdapterOptions.Search): AsyncIterableIterator<SearchHit> {
    return search(this.#store, query, options)
  }

  createDirectory(path: MountPath, options: AdapterOptions.CreateDirectory & ListedOption): Promise<void> {
    return this.#run('createDirectory', path, options.signal, (task) =>
      createDirectory(this.#store, path, options, task),
    )
  }

  delete(path: MountPath, options: DriverOptions.Delete): Promise<void> {
    return this.#run('delete', path, options.signal, (task) => remove(this.#store, path, options, task))
  }

  move(source: MountPath, destination: MountPath, options: DriverOptions.Move): Promise<TransferResult> {
    return this.#run('move', source, options.signal, (task) => move(this.#store, source, destination, options, task))
  }

  copy(source: MountPath, destination: MountPath, options: DriverOptions.Copy): Promise<TransferResult> {
    return this.#run('copy', source, options.signal, (task) => copy(this.#store, source, destination, options, task))
  }

  #createSymlink(path: MountPath, target: string, options: ListedOption): Promise<WriteResult> {
    const { signal } = options
    return this.#run('createSymlink', path, signal, (task) => createSymlink(this.#store, path, target, options, task))
  }

  #readSymlink(path: MountPath, { signal }: SignalOption): Promise<string> {
    return this.#run('readSymlink', path, signal, (task) => readSymlink(this.#store, path, task))
  }

  async createScratch(): Promise<StorageAdapter> {
    return createAdapter({ ...createScratch(this.#store), name: this.name, readOnly: false })
  }

  async resolve(id: string, { signal }: SignalOption = {}): Promise<ResolvedChange> {
    signal?.throwIfAborted()
    const change = parseChangeId(id)
    if (change === undefined) throw invalid('resolve', '/', 'was given an id that is not a `changeId`')
    const path = change.path as MountPath
    paths.assertMount(path, 'resolve')
    this.#store.keys.check(path, 'resolve')
    return this.#run('resolve', path, signal, (task) => resolve(this.#store, change, task))
  }

  async #run<Result>(
    operation: string,
    path: MountPath,
    signal: AbortSignal | undefined,
    run: (task: Task) => Promise<Result>,
  ): Promise<Result> {
    this.#used = true
    const task: Task = { operation, path, signal, until: this.#store.requests.begin() }
    try {
      return await run(task)
    } catch (error) {
      throw translate(error, operation, path, signal)
    }
  }
}
