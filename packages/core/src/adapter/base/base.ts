import { mountRoot, type HostPath, type MountPath } from '../../path/virtual-path.ts'
import type { AdapterCapabilities } from '../capabilities.ts'
import type { StorageAdapter } from '../contract.ts'
import type { Driver } from '../driver.ts'
import { assertContent, contractError, invalidArgument } from '../failures.ts'
import { operations, type AdapterOperation, type OperationFacts } from '../operations.ts'
import type {
  AppendOptions,
  CopyOptions,
  CreateDirectoryOptions,
  DeleteOptions,
  EntryIterator,
  HostDirectory,
  ListOptions,
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
  TransferResult,
  WriteData,
  WriteOptions,
  WriteResult,
} from '../types.ts'
import { checkLimits, checkPath, checkRange, checkTarget } from './arguments.ts'
import { Iteration, Listing } from './iteration.ts'
import { streamOf, whileOpen } from './stream.ts'
import { orAbort } from './wait.ts'

const none = Object.freeze({})
const defaultHits = 1_000
const defaultFileBytes = 32 * 1024 * 1024

/** The base of all adapters. It checks synchronously, and gives the driver's own promise. */
export class Base implements StorageAdapter {
  readonly name: string
  readonly capabilities: AdapterCapabilities
  readonly append?: NonNullable<StorageAdapter['append']>
  readonly search?: NonNullable<StorageAdapter['search']>
  readonly createSymlink?: NonNullable<StorageAdapter['createSymlink']>
  readonly readSymlink?: NonNullable<StorageAdapter['readSymlink']>
  readonly flush?: NonNullable<StorageAdapter['flush']>
  readonly hostPath?: NonNullable<StorageAdapter['hostPath']>
  readonly hostDirectory?: NonNullable<StorageAdapter['hostDirectory']>
  readonly createScratch?: NonNullable<StorageAdapter['createScratch']>
  readonly #driver: Driver
  #closed: Promise<void> | undefined

  constructor(driver: Driver) {
    this.name = driver.name
    this.capabilities = driver.capabilities
    this.#driver = driver
    if (driver.append !== undefined) this.append = this.#append.bind(this)
    if (driver.search !== undefined) this.search = this.#search.bind(this)
    if (driver.createSymlink !== undefined) this.createSymlink = this.#createSymlink.bind(this)
    if (driver.readSymlink !== undefined) this.readSymlink = this.#readSymlink.bind(this)
    if (driver.flush !== undefined) this.flush = this.#flush.bind(this)
    if (driver.hostPath !== undefined) this.hostPath = this.#hostPath.bind(this)
    if (driver.hostDirectory !== undefined) this.hostDirectory = this.#hostDirectory.bind(this)
    if (driver.createScratch !== undefined) this.createScratch = this.#createScratch.bind(this)
  }

  // These two are the most frequent by far: they take no closure and no second promise.
  stat(path: MountPath, options: StatOptions = none): Promise<Stat> {
    const { signal } = options
    try {
      this.#admit('stat', path, signal)
      const found = this.#driver.stat(path, options)
      return signal === undefined ? found : orAbort(found, signal)
    } catch (error) {
      return Promise.reject(error as Error)
    }
  }

  read(path: MountPath, options: ReadOptions = none): Promise<ReadResult> {
    const { signal } = options
    try {
      this.#admit('read', path, signal)
      checkRange(options.range, 'read', path)
      const result = this.#driver.read(path, options)
      return signal === undefined ? result : orAbort(result, signal)
    } catch (error) {
      return Promise.reject(error as Error)
    }
  }

  async readStream(path: MountPath, options: ReadOptions = none): Promise<ReadStreamResult> {
    const { signal } = options
    this.#admit('readStream', path, signal)
    checkRange(options.range, 'readStream', path)
    const { readStream } = this.#driver
    const opening =
      readStream === undefined
        ? streamOf(this.#driver.read(path, options), signal)
        : readStream.call(this.#driver, path, options)
    const result = signal === undefined ? opening : orAbort(opening, signal, ({ stream }) => void stream.return?.())
    const { stat, stream } = await result
    return {
      stat,
      stream: new Iteration({ source: stream, check: () => this.#goOn('readStream', path, signal), signal }),
    }
  }

  async write(path: MountPath, data: WriteData, options: WriteOptions = none): Promise<WriteResult> {
    const { ifVersion, parents = false, mode, signal } = options
    this.#admit('write', path, signal)
    assertContent(data, 'write', path)
    const body = data instanceof Uint8Array ? data : whileOpen(data, () => this.#goOn('write', path, undefined))
    return await this.#driver.write(path, body, { ifVersion, parents, mode, signal })
  }

  async #append(path: MountPath, data: Uint8Array, options: AppendOptions = none): Promise<WriteResult> {
    const { ifVersion, parents = false, signal } = options
    this.#admit('append', path, signal)
    if (!(data instanceof Uint8Array)) {
      throw invalidArgument('append', path, 'was given content that is not a Uint8Array', 'pass a Uint8Array')
    }
    return await this.#offered(this.#driver.append)(path, data, { ifVersion, parents, signal })
  }

  list(path: MountPath, options: ListOptions = none): EntryIterator {
    const { recursive = false, exclude = [], details = false, signal, skips, onUnreadable } = options
    return new Listing({
      source: () => {
        this.#admit('list', path, signal)
        return this.#driver.list(path, { recursive, exclude, details, signal, skips, onUnreadable })
      },
      check: () => this.#goOn('list', path, signal),
      signal,
    })
  }

  #search(query: SearchQuery, options: SearchOptions = none): AsyncIterableIterator<SearchHit> {
    const { signal } = options
    const { regex = false, caseSensitive = true, exclude = [] } = query
    const { maxHits = defaultHits, maxFileBytes = defaultFileBytes } = query
    const path = query.in
    return new Iteration({
      source: () => {
        this.#admit('search', path, signal)
        checkLimits(query)
        const whole = { ...query, regex, caseSensitive, exclude, maxHits, maxFileBytes }
        return this.#offered(this.#driver.search)(whole, options)
      },
      check: () => this.#goOn('search', path, signal),
      signal,
    })
  }

  async createDirectory(path: MountPath, options: CreateDirectoryOptions = none): Promise<void> {
    const { recursive = false, signal } = options
    this.#admit('createDirectory', path, signal)
    await this.#driver.createDirectory(path, { recursive, signal })
  }

  async delete(path: MountPath, options: DeleteOptions = none): Promise<void> {
    const { recursive = false, force = false, ifVersion, signal } = options
    this.#admit('delete', path, signal)
    await this.#driver.delete(path, { recursive, force, ifVersion, signal })
  }

  async move(source: MountPath, destination: MountPath, options: MoveOptions = none): Promise<TransferResult> {
    const { overwrite = false, ifSource, ifDestination, parents = false, signal } = options
    this.#admit('move', source, signal, destination)
    return await this.#driver.move(source, destination, { overwrite, ifSource, ifDestination, parents, signal })
  }

  async copy(source: MountPath, destination: MountPath, options: CopyOptions = none): Promise<TransferResult> {
    const { overwrite = false, recursive = false, ifSource, ifDestination, parents = false, signal } = options
    this.#admit('copy', source, signal, destination)
    return await this.#driver.copy(source, destination, {
      overwrite,
      recursive,
      ifSource,
      ifDestination,
      parents,
      signal,
    })
  }

  async #createSymlink(path: MountPath, target: string, { signal }: SignalOption = none): Promise<void> {
    this.#admit('createSymlink', path, signal)
    checkTarget(target, path)
    await this.#offered(this.#driver.createSymlink)(path, target, { signal })
  }

  async #readSymlink(path: MountPath, { signal }: SignalOption = none): Promise<string> {
    this.#admit('readSymlink', path, signal)
    const target = this.#offered(this.#driver.readSymlink)(path, { signal })
    return await (signal === undefined ? target : orAbort(target, signal))
  }

  async #flush(options: SignalOption = none): Promise<void> {
    this.#admit('flush', mountRoot, options.signal)
    await this.#offered(this.#driver.flush)(options)
  }

  #hostPath(path: MountPath): HostPath {
    this.#admit('hostPath', path)
    return this.#offered(this.#driver.hostPath)(path)
  }

  async #hostDirectory(path: MountPath): Promise<HostDirectory> {
    this.#admit('hostDirectory', path)
    return await this.#offered(this.#driver.hostDirectory)(path)
  }

  async #createScratch({ signal }: SignalOption = none): Promise<StorageAdapter> {
    this.#admit('createScratch', mountRoot, signal)
    return await this.#offered(this.#driver.createScratch)({ signal })
  }

  close(): Promise<void> {
    this.#closed ??= this.#driver.close?.() ?? Promise.resolve()
    return this.#closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** The checks of every operation, in this order, before the driver hears of it. */
  #admit(operation: AdapterOperation, path: MountPath, signal?: AbortSignal, destination?: MountPath): void {
    const { creates, changes }: OperationFacts = operations[operation]
    const { maxPathBytes, readOnly } = this.capabilities
    checkPath(path, operation, maxPathBytes)
    this.#driver.checkPath?.(path, operation, creates === 'path')
    if (destination !== undefined) {
      checkPath(destination, operation, maxPathBytes)
      this.#driver.checkPath?.(destination, operation, true)
    }
    this.#goOn(operation, path, signal)
    if (changes && readOnly) throw contractError('EROFS', operation, path)
  }

  #goOn(operation: AdapterOperation, path: MountPath, signal: AbortSignal | undefined): void {
    if (this.#closed !== undefined) throw contractError('ECLOSED', operation, path)
    signal?.throwIfAborted()
  }

  #offered<Method extends (...args: never[]) => unknown>(method: Method | undefined): Method {
    if (method === undefined) throw new TypeError('the driver has lost a method')
    return method.bind(this.#driver) as Method
  }
}
