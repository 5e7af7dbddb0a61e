import { mountRoot, type HostPath, type MountPath } from '../../path/virtual-path.ts'
import type { AdapterCapabilities } from '../../contract/capabilities.ts'
import type { StorageAdapter } from '../../contract/adapter.ts'
import type { EntryIterator, InnerAdapter, InnerListOptions, ListedOption, TreeWatch } from '../../contract/inner.ts'
import type { Driver } from '../../contract/driver.ts'
import type { ChangeHints, HintOptions } from '../../contract/watching.ts'
import { assertContent, invalidArgument } from '../failures.ts'
import { optionalOperations, type OptionalOperation } from '../../contract/operations.ts'
import type {
  AppendOptions,
  BeginCommandOptions,
  CopyOptions,
  CreateDirectoryOptions,
  DeleteOptions,
  EndCommand,
  ForkOptions,
  HostDirectory,
  MoveOptions,
  ReadOptions,
  ReadResult,
  ReadStreamResult,
  RefreshOptions,
  SearchHit,
  SearchOptions,
  SearchQuery,
  SignalOption,
  Stat,
  StatOptions,
  Times,
  TransferResult,
  WriteData,
  WriteOptions,
  WriteResult,
} from '../../contract/file-types.ts'
import { Admission, checkMode, checkRange, checkTarget, checkTimes, wholeQuery } from './admission.ts'
import { BodyFailure, bodyOf } from './body.ts'
import { capabilitiesOf, type Whole } from './check-driver.ts'
import { Iteration, Listing } from './iteration.ts'
import { streamOf } from './stream.ts'
import { orAbort } from './wait.ts'

const none = Object.freeze({})

type Lacking = { [Name in OptionalOperation]?: unknown }

/** The base of all adapters. Each method checks its arguments synchronously, and returns the driver's own promise. */
export class Base implements InnerAdapter, Required<Pick<InnerAdapter, OptionalOperation>> {
  readonly name: string
  readonly capabilities: AdapterCapabilities
  readonly #driver: Whole
  readonly #admission: Admission
  #bodies: Set<() => void> | undefined
  #closed: Promise<void> | undefined

  constructor(driver: Driver) {
    this.name = driver.name
    this.capabilities = capabilitiesOf(driver)
    this.#driver = driver as Whole
    this.#admission = new Admission(driver)
    for (const operation of optionalOperations) {
      if (driver[operation] === undefined) (this as Lacking)[operation] = undefined
    }
  }

  // `stat` and `read` are the most frequent calls by far, so they avoid a closure.
  stat(path: MountPath, options: StatOptions = none): Promise<Stat> {
    const { signal } = options
    try {
      this.#admission.admit('stat', path, signal)
      const found = this.#driver.stat(path, options)
      return signal === undefined ? found : orAbort(found, signal)
    } catch (error) {
      return Promise.reject(error as Error)
    }
  }

  read(path: MountPath, options: ReadOptions = none): Promise<ReadResult> {
    const { signal } = options
    try {
      this.#admission.admit('read', path, signal)
      checkRange(options.range, 'read', path)
      const result = this.#driver.read(path, options)
      return signal === undefined ? result : orAbort(result, signal)
    } catch (error) {
      return Promise.reject(error as Error)
    }
  }

  async readStream(path: MountPath, options: ReadOptions = none): Promise<ReadStreamResult> {
    const { signal } = options
    this.#admission.admit('readStream', path, signal)
    checkRange(options.range, 'readStream', path)
    const opening = this.#driver.readStream?.(path, options) ?? streamOf(this.#driver.read(path, options))
    const result = signal === undefined ? opening : orAbort(opening, signal, ({ stream }) => void stream.return?.())
    const { stat, stream } = await result
    const admission = this.#admission
    return { stat, stream: new Iteration({ source: stream, admission, operation: 'readStream', path, signal }) }
  }

  write(path: MountPath, data: WriteData, options: WriteOptions & ListedOption = none): Promise<WriteResult> {
    const { ifVersion, listed = false, parents = false, mode, modifiedAt, durable = false, signal } = options
    return attempt(() => {
      this.#admission.admit('write', path, signal)
      assertContent(data, 'write', path)
      if (mode !== undefined) checkMode(mode, 'write', path)
      if (modifiedAt !== undefined) checkTimes({ modifiedAt }, 'write', path)
      if (ifVersion !== undefined) this.#admission.checkConditional('write', path)
      const whole = { ifVersion, listed, parents, mode, modifiedAt, durable, signal }
      if (data instanceof Uint8Array) return this.#driver.write(path, data, whole)
      this.#bodies ??= new Set()
      const body = bodyOf(data, { path, signal, open: this.#bodies })
      return this.#driver.write(path, body, whole).catch(throwReason)
    })
  }

  append(path: MountPath, data: Uint8Array, options: AppendOptions = none): Promise<WriteResult> {
    const { ifVersion, parents = false, signal } = options
    return attempt(() => {
      this.#admission.admit('append', path, signal)
      if (!(data instanceof Uint8Array)) {
        throw invalidArgument('append', path, 'was given content that is not a Uint8Array', 'pass a Uint8Array')
      }
      if (ifVersion !== undefined) this.#admission.checkConditional('append', path)
      return this.#driver.append(path, data, { ifVersion, parents, signal })
    })
  }

  list(path: MountPath, options: InnerListOptions = none): EntryIterator {
    const { recursive = false, exclude = [], details = false, written, signal } = options
    const { skips, onUnreadable, known, onHidden } = options
    const inner = { written, skips, onUnreadable, known, onHidden }
    return new Listing({
      source: () => {
        this.#admission.admit('list', path, signal)
        return this.#driver.list(path, { recursive, exclude, details, signal, ...inner })
      },
      admission: this.#admission,
      operation: 'list',
      path,
      signal,
    })
  }

  search(query: SearchQuery, options: SearchOptions = none): AsyncIterableIterator<SearchHit> {
    const { signal } = options
    const path = query.in
    return new Iteration({
      source: () => {
        this.#admission.admit('search', path, signal)
        return this.#driver.search(wholeQuery(query), options)
      },
      admission: this.#admission,
      operation: 'search',
      path,
      signal,
    })
  }

  createDirectory(path: MountPath, options: CreateDirectoryOptions & ListedOption = none): Promise<void> {
    const { recursive = false, listed = false, signal } = options
    return attempt(() => {
      this.#admission.admit('createDirectory', path, signal)
      return this.#driver.createDirectory(path, { recursive, listed, signal })
    })
  }

  delete(path: MountPath, options: DeleteOptions = none): Promise<void> {
    const { recursive = false, force = false, ifVersion, signal } = options
    return attempt(() => {
      this.#admission.admit('delete', path, signal)
      if (ifVersion !== undefined) this.#admission.checkConditional('delete', path)
      return this.#driver.delete(path, { recursive, force, ifVersion, signal })
    })
  }

  move(source: MountPath, destination: MountPath, options: MoveOptions = none): Promise<TransferResult> {
    const { overwrite = false, ifSource, ifDestination, parents = false, signal } = options
    return attempt(() => {
      this.#admission.admit('move', source, signal, destination)
      if (ifSource !== undefined || ifDestination !== undefined) this.#admission.checkConditional('move', source)
      return this.#driver.move(source, destination, { overwrite, ifSource, ifDestination, parents, signal })
    })
  }

  copy(source: MountPath, destination: MountPath, options: CopyOptions = none): Promise<TransferResult> {
    const { overwrite = false, recursive = false, ifSource, ifDestination, parents = false, signal } = options
    return attempt(() => {
      this.#admission.admit('copy', source, signal, destination)
      if (ifSource !== undefined || ifDestination !== undefined) this.#admission.checkConditional('copy', source)
      const whole = { overwrite, recursive, ifSource, ifDestination, parents, signal }
      return this.#driver.copy(source, destination, whole)
    })
  }

  async createSymlink(
    path: MountPath,
    target: string,
    { listed = false, signal }: ListedOption = none,
  ): Promise<WriteResult | void> {
    this.#admission.admit('createSymlink', path, signal)
    checkTarget(target, path)
    return this.#driver.createSymlink(path, target, { listed, signal })
  }

  chmod(path: MountPath, mode: number, { signal }: SignalOption = none): Promise<void> {
    return attempt(() => {
      this.#admission.admit('chmod', path, signal)
      checkMode(mode, 'chmod', path)
      return this.#driver.chmod(path, mode, { signal })
    })
  }

  utimes(path: MountPath, times: Times, { signal }: SignalOption = none): Promise<void> {
    return attempt(() => {
      this.#admission.admit('utimes', path, signal)
      checkTimes(times, 'utimes', path)
      return this.#driver.utimes(path, times, { signal })
    })
  }

  async readSymlink(path: MountPath, { signal }: SignalOption = none): Promise<string> {
    this.#admission.admit('readSymlink', path, signal)
    const target = this.#driver.readSymlink(path, { signal })
    return await (signal === undefined ? target : orAbort(target, signal))
  }

  async flush(options: SignalOption = none): Promise<void> {
    this.#admission.admit('flush', mountRoot, options.signal)
    await this.#driver.flush(options)
  }

  async sync(options: SignalOption = none): Promise<void> {
    this.#admission.admit('sync', mountRoot, options.signal)
    await this.#driver.sync(options)
  }

  async refresh(options: RefreshOptions = none): Promise<void> {
    this.#admission.admit('refresh', options.path ?? mountRoot, options.signal)
    await this.#driver.refresh(options)
  }

  async watch(path: MountPath, options: HintOptions = none): Promise<ChangeHints> {
    this.#admission.admit('watch', path, options.signal)
    return await this.#driver.watch(path, options)
  }

  hostPath(path: MountPath): HostPath {
    this.#admission.admit('hostPath', path)
    return this.#driver.hostPath(path)
  }

  async hostDirectory(path: MountPath): Promise<HostDirectory> {
    this.#admission.admit('hostDirectory', path)
    return await this.#driver.hostDirectory(path)
  }

  watchTree(): TreeWatch | undefined {
    return this.#driver.watchTree?.()
  }

  async beginCommand(options: BeginCommandOptions = none): Promise<EndCommand> {
    this.#admission.admit('beginCommand', mountRoot, options.signal)
    return await this.#driver.beginCommand(options)
  }

  async createScratch({ signal }: SignalOption = none): Promise<StorageAdapter> {
    this.#admission.admit('createScratch', mountRoot, signal)
    return await this.#driver.createScratch({ signal })
  }

  async createFork(options: ForkOptions = none): Promise<StorageAdapter> {
    this.#admission.admit('createFork', mountRoot, options.signal)
    return await this.#driver.createFork(options)
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#admission.isClosed = true
    for (const end of this.#bodies ?? []) end()
    await this.#driver.close?.()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

/** Returns the driver's own promise. A wrapping promise would cost as much as some drivers' whole call. */
function attempt<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return work()
  } catch (error) {
    return Promise.reject(error as Error)
  }
}

function throwReason(error: unknown): never {
  throw error instanceof BodyFailure ? error.reason : error
}
