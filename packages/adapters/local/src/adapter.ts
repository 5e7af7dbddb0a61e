import { paths, type ReadResult, type Stat, type TransferResult, type WriteResult } from '@ws/core'
import {
  concurrency,
  type Driver,
  type DriverCapabilities,
  type HostDirectory,
  type MountPath,
  type Owner,
  type ReadStreamResult,
  type SearchHit,
  type SignalOption,
  type StorageAdapter,
  type Times,
  type WriteData,
  type DriverOptions,
  type AdapterOptions,
} from '@ws/core/adapter'
import type { HostPath } from '@ws/core/executor'
import type { EntryIterator, InnerListOptions, TreeWatch } from '@ws/core/inner'
import { watchTree } from '@ws/sandbox'

import { holdsTempName, refuseReserved, reservedAbove } from './confine/hidden.ts'
import type { Task } from './confine/task.ts'
import type { Tree } from './confine/tree.ts'
import { contractFailure, failure, translate } from './errors.ts'
import { pathOfDescriptor } from './host/calls.ts'
import type { Engines } from './host/engine.ts'
import { isUrgent, ownTurn } from './host/pace.ts'
import { describeHostDirectory } from './root/host-directory.ts'
import { TreeHints } from './read/hints.ts'
import { Listing } from './read/listing.ts'
import { readFile, statEntry } from './read/read.ts'
import { readFileStream } from './read/read-stream.ts'
import { Resources } from './resources.ts'
import { searchTree } from './search/search.ts'
import { appendToFile } from './write/append.ts'
import { changeMode, changeTimes } from './write/attributes.ts'
import { copyEntry } from './write/copy.ts'
import { createDirectoryAt } from './write/create-directory.ts'
import { deleteEntry } from './write/delete.ts'
import { type WayOptions, makeWay } from './write/make-way.ts'
import { moveEntry } from './write/move.ts'
import { syncTree } from './write/sync.ts'
import { createSymlinkAt, readSymlinkAt } from './write/symlinks.ts'
import { writeFile } from './write/write.ts'

export interface LocalDriverParts {
  readonly tree: Tree
  readonly engines: Engines
  readonly capabilities: DriverCapabilities
  readonly owner: Owner | undefined
  readonly onClose: () => Promise<void>
  readonly createScratch: (options?: SignalOption) => Promise<StorageAdapter>
  readonly createFork: (task: Task, options: AdapterOptions.Fork) => Promise<StorageAdapter>
}

interface TaskOptions {
  readonly operation: string
  readonly path: MountPath
  readonly signal: AbortSignal | undefined
  readonly destination?: MountPath
  readonly creates?: boolean
  /** True for a call that waits for other code, such as a write from a stream. The number of such calls is not limited. */
  readonly unlimited?: boolean
}

/** Limit of operations at once. Each needs a descriptor or two, and thousands of calls must not use up the process's descriptors. */
const operationsAtOnce = 256

/** Limit of attempts to create an entry whose name is being reserved. */
const createAttempts = 3
const listing = new Set(['list', 'search', 'hostDirectory'])

export class LocalDriver implements Driver {
  readonly name = 'local'
  readonly capabilities: DriverCapabilities
  readonly #parts: LocalDriverParts
  readonly #resources = new Resources()
  readonly #semaphore = new concurrency.Semaphore(operationsAtOnce)
  #watch: ReturnType<typeof watchTree> | undefined
  #hints: TreeHints | undefined

  constructor(parts: LocalDriverParts) {
    this.capabilities = parts.capabilities
    this.#parts = parts
  }

  /** Hides files under construction: reads are `ENOENT`, and listings leave them out. */
  checkPath(path: MountPath, operation: string, creates: boolean): void {
    if (!holdsTempName(path)) return
    if (!creates) throw contractFailure({ operation, path }, 'ENOENT')
    throw failure({ operation, path }, 'EINVAL', 'has a name that is kept for temporary files', {
      remedy: 'choose another name',
    })
  }

  stat(path: MountPath, { signal }: SignalOption): Promise<Stat> {
    return this.#run({ operation: 'stat', path, signal }, statEntry)
  }

  read(path: MountPath, options: DriverOptions.Read): Promise<ReadResult> {
    return this.#run({ operation: 'read', path, signal: options.signal }, (task) => readFile(task, options))
  }

  readStream(path: MountPath, options: DriverOptions.Read): Promise<ReadStreamResult> {
    const call = { operation: 'readStream', path, signal: options.signal }
    return this.#run(call, (task) => readFileStream(task, options, this.#resources))
  }

  write(path: MountPath, data: WriteData, options: DriverOptions.Write): Promise<WriteResult> {
    // A stream may wait for another operation of this adapter, so it must not occupy one of the limited slots.
    const unlimited = !(data instanceof Uint8Array)
    const call = { operation: 'write', path, signal: options.signal, creates: true, unlimited }
    return this.#create(call, options, (task) => writeFile(task, data, options))
  }

  append(path: MountPath, data: Uint8Array, options: DriverOptions.Append): Promise<WriteResult> {
    const call = { operation: 'append', path, signal: options.signal, creates: true }
    return this.#create(call, options, (task) => appendToFile(task, data, options))
  }

  list(path: MountPath, options: DriverOptions.List & InnerListOptions): EntryIterator {
    return new Listing({
      ...options,
      maxPathBytes: this.capabilities.maxPathBytes,
      resources: this.#resources,
      begin: () => this.#begin({ operation: 'list', path, signal: options.signal }),
    })
  }

  search(
    query: DriverOptions.Query,
    { signal, onUnreadable }: AdapterOptions.Search,
  ): AsyncIterableIterator<SearchHit> {
    return searchTree({
      query,
      onUnreadable,
      owner: this.#parts.owner,
      resources: this.#resources,
      maxPathBytes: this.capabilities.maxPathBytes,
      begin: () => this.#begin({ operation: 'search', path: query.in, signal }),
    })
  }

  createDirectory(path: MountPath, options: SignalOption & { readonly recursive: boolean }): Promise<void> {
    const call = { operation: 'createDirectory', path, signal: options.signal, creates: true }
    const way = { parents: options.recursive, directory: true }
    const adopted = (): void => undefined
    return this.#create(call, way, (task) => createDirectoryAt(task, options), adopted)
  }

  delete(path: MountPath, options: DriverOptions.Delete): Promise<void> {
    return this.#run({ operation: 'delete', path, signal: options.signal }, (task) => deleteEntry(task, options))
  }

  move(source: MountPath, destination: MountPath, options: DriverOptions.Move): Promise<TransferResult> {
    const call = { operation: 'move', path: source, destination, signal: options.signal }
    return this.#create(call, options, (task) => moveEntry(task, destination, options))
  }

  copy(source: MountPath, destination: MountPath, options: DriverOptions.Copy): Promise<TransferResult> {
    const call = { operation: 'copy', path: source, destination, signal: options.signal }
    return this.#create(call, options, (task) => copyEntry(task, destination, options))
  }

  createSymlink(path: MountPath, target: string, { signal }: SignalOption): Promise<void> {
    const call = { operation: 'createSymlink', path, signal, creates: true }
    return this.#create(call, {}, (task) => createSymlinkAt(task, target))
  }

  readSymlink(path: MountPath, { signal }: SignalOption): Promise<string> {
    return this.#run({ operation: 'readSymlink', path, signal }, readSymlinkAt)
  }

  chmod(path: MountPath, mode: number, { signal }: SignalOption): Promise<void> {
    return this.#run({ operation: 'chmod', path, signal }, (task) => changeMode(task, mode))
  }

  utimes(path: MountPath, times: Times, { signal }: SignalOption): Promise<void> {
    return this.#run({ operation: 'utimes', path, signal }, (task) => changeTimes(task, times))
  }

  sync({ signal }: SignalOption): Promise<void> {
    return this.#run({ operation: 'sync', path: paths.mountRoot, signal, unlimited: true }, syncTree)
  }

  hostPath(path: MountPath): HostPath {
    return this.#parts.tree.hostPath(path) as HostPath
  }

  hostDirectory(path: MountPath): Promise<HostDirectory> {
    const call = { operation: 'hostDirectory', path, signal: undefined }
    return this.#run(call, (task) => describeHostDirectory(task, this.#parts.owner))
  }

  watchTree(): TreeWatch | undefined {
    const base = this.#watchable
    return base === undefined ? undefined : (this.#watch ??= watchTree(base))
  }

  watch(path: MountPath, options: AdapterOptions.Watch): Promise<AdapterOptions.Hints> {
    this.#hints ??= new TreeHints({ base: this.#watchable, directoriesIn: (at) => this.#directoriesIn(at) })
    return this.#hints.watch(path, options)
  }

  /** The host path for watches. `undefined`: this system reports no changes of the tree. */
  get #watchable(): string | undefined {
    const { exactDevice, fd, verified } = this.#parts.tree
    const base = pathOfDescriptor(fd)
    // another process must be able to find this process's descriptor
    const isFound = base.startsWith(`/proc/${process.pid}/`)
    return exactDevice === undefined || !verified || !isFound ? undefined : base
  }

  async #directoriesIn(directory: MountPath): Promise<MountPath[]> {
    const found: MountPath[] = []
    try {
      const entries = this.list(directory, { recursive: false, exclude: [], details: false })
      for await (const { path, type } of entries) if (type === 'directory') found.push(path)
    } catch {
      // it has vanished, or cannot be read: then a look finds nothing in it either
    }
    return found
  }

  createScratch(options: SignalOption): Promise<StorageAdapter> {
    return this.#parts.createScratch(options)
  }

  createFork(options: AdapterOptions.Fork): Promise<StorageAdapter> {
    const call = { operation: 'createFork', path: paths.mountRoot, signal: options.signal, unlimited: true }
    return this.#run(call, (task) => this.#parts.createFork(task, options))
  }

  async close(): Promise<void> {
    this.#watch?.end()
    this.#hints?.end()
    await this.#resources.end(contractFailure({ operation: 'list', path: paths.mountRoot }, 'ECLOSED'))
    await this.#parts.onClose()
  }

  /** Runs `work`, which creates an entry, even in place of a reserved name. If that name is a directory already, returns `adopted()`. */
  async #create<Result>(
    call: TaskOptions,
    way: WayOptions,
    work: (task: Task) => Promise<Result>,
    adopted?: () => Result,
  ): Promise<Result> {
    const path = call.destination ?? call.path
    return await this.#run(call, async (task) => {
      for (let attempt = 1; ; attempt++) {
        const making = makeWay(task, path, { parents: way.parents, directory: way.directory })
        if (making !== undefined && (await making) && adopted !== undefined) return adopted()
        try {
          return await work(task)
        } catch (error) {
          // A stream can be read only once, so there is no retry. A name can be reserved after `makeWay`.
          const again = attempt < createAttempts && call.unlimited !== true
          if (!again || reservedAbove(task.tree, path).length === 0) throw error
        }
      }
    })
  }

  async #run<Result>(call: TaskOptions, work: (task: Task) => Promise<Result>): Promise<Result> {
    const task = this.#begin(call)
    this.#resources.enter()
    try {
      for (let turn = ownTurn(call.signal); turn !== undefined; turn = ownTurn()) await turn
      if (call.unlimited === true || isUrgent(call.signal)) return await work(task)
      const waiting = this.#semaphore.acquire()
      if (waiting !== undefined) await waiting
      try {
        return await work(task)
      } finally {
        this.#semaphore.release()
      }
    } catch (error) {
      if (call.creates !== true && call.destination === undefined) refuseReserved(task.tree, call)
      throw translate(error, task)
    } finally {
      this.#resources.leave()
    }
  }

  #begin({ operation, path, signal, destination }: TaskOptions): Task {
    const { tree, engines } = this.#parts
    if (listing.has(operation)) refuseReserved(tree, { operation, path })
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
