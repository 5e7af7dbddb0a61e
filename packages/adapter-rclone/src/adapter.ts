import { createScratchAdapter } from '@ws/adapter-local'
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
  checkOptions,
  durationShape,
  isWithin,
  isWorkspaceError,
  mountRoot,
  option,
} from '@ws/core'
import { join } from 'node:path'

import { capabilitiesOf } from './capabilities.ts'
import { failure } from './errors.ts'
import { isStream, watched } from './files/body.ts'
import { assureStored, callOff, moveCalledOff, refuseFull, removeStored, settleUploads } from './files/departures.ts'
import { trackIterator } from './files/iterate.ts'
import { untilKept } from './files/kept.ts'
import { listed } from './files/listing.ts'
import { PathGate } from './files/path-gate.ts'
import { Replacing } from './files/replacing.ts'
import { openSteadyStream, readSteadily } from './files/steady.ts'
import { settled } from './files/versions.ts'
import { flushBarrier, late } from './flush/barrier.ts'
import type { Mount } from './mount/mount.ts'
import type { Call } from './mount/pending.ts'
import { type Open, openFiles } from './opened.ts'
import { Looks } from './part/looks.ts'
import { MountedPart } from './part/mounted-part.ts'
import { refreshMount } from './refresh.ts'
import { type RcloneStatus, statusOf } from './status.ts'

export interface FlushOptions extends SignalOption {
  /** Milliseconds. Default: the mount's `flushTimeoutMs`. */
  readonly timeoutMs?: number | undefined
}

/** `force`: without waiting for whoever uses the mount. */
export type OnClose = (options: { readonly force: boolean }) => Promise<void>

/** Milliseconds by which a flush may end later than its limit. */
const lateMs = 150

/** A part of a store as rclone mounts it. Made by `createRcloneAdapter`, or by a bucket's `adapter`. */
export class RcloneAdapter implements StorageAdapter {
  readonly name = 'rclone'
  readonly capabilities: AdapterCapabilities
  readonly createSymlink?: (path: MountPath, target: string, options?: SignalOption) => Promise<void>
  readonly readSymlink?: (path: MountPath, options?: SignalOption) => Promise<string>
  readonly #part: MountedPart
  readonly #looks: Looks
  readonly #onClose: OnClose
  readonly #replacing = new Replacing()
  readonly #gate = new PathGate()
  #closing: Promise<void> | undefined

  private constructor(mount: Mount, below: string, first: Open, onClose: OnClose) {
    this.capabilities = capabilitiesOf(first.files.capabilities, mount.options, mount.features, below)
    this.#part = new MountedPart(mount, below, first, this.capabilities.maxPathBytes)
    this.#looks = new Looks(this.#part, this.#replacing)
    this.#onClose = onClose
    if (this.capabilities.symlinks) {
      this.createSymlink = (path, target, options) =>
        this.#part.run({ operation: 'createSymlink', path, signal: options?.signal }, async ({ files }) =>
          files.createSymlink?.(path, target, options),
        )
      this.readSymlink = (path, options) =>
        this.#part.run({ operation: 'readSymlink', path, signal: options?.signal }, async ({ files }) =>
          String(await files.readSymlink?.(path, options)),
        )
    }
  }

  /** `below`: the part of the mount, which must be there. `onClose`: what ends with this adapter. */
  static async open(mount: Mount, below: string, onClose: OnClose): Promise<RcloneAdapter> {
    return new RcloneAdapter(mount, below, await openFiles(mount, below), onClose)
  }

  stat(path: MountPath, options?: StatOptions): Promise<Stat> {
    return this.#looks.look({ operation: 'stat', path, signal: options?.signal }, ({ direct }, metadata) =>
      this.#gate.shared(path, async () => settled(metadata, await direct.stat(path, options))),
    )
  }

  read(path: MountPath, options: ReadOptions = {}): Promise<ReadResult> {
    const conditions = [{ path, condition: options.ifVersion }]
    const call = { operation: 'read', path, signal: options.signal }
    return this.#looks.conditional(call, conditions, ({ direct }, [ifVersion], metadata) =>
      this.#gate.shared(path, () => readSteadily(direct, metadata, path, { ...options, ifVersion })),
    )
  }

  /** Small files are read at once; should a larger one be replaced while it is read, the stream fails with `ECONFLICT`. */
  async readStream(path: MountPath, options: ReadOptions = {}): Promise<ReadStreamResult> {
    const call = { operation: 'readStream', path, signal: options.signal }
    const conditions = [{ path, condition: options.ifVersion }]
    const { stat, stream } = await this.#looks.conditional(call, conditions, ({ files }, [ifVersion], metadata) =>
      this.#gate.shared(path, () => openSteadyStream(files, metadata, path, { ...options, ifVersion })),
    )
    return { stat, stream: trackIterator(call, this.#part, async () => stream) }
  }

  async write(path: MountPath, data: WriteData, options: WriteOptions = {}): Promise<WriteResult> {
    const call = { operation: 'write', path, signal: options.signal }
    const done = this.#replacing.begin(path)
    let leave: (() => void) | undefined
    const enter = async (): Promise<void> => {
      leave ??= await this.#gate.enter(path, 'exclusive')
    }
    // What a stream waits for may be a reader of this very file: it is alone from its end on.
    const body = watched(data, enter)
    const conditions = [{ path, condition: options.ifVersion }]
    try {
      return await this.#looks.conditional(
        call,
        conditions,
        async (open, [ifVersion]) => {
          if (!isStream(data)) await enter()
          return await keep(open, path, await open.direct.write(path, body.data, { ...options, ifVersion }))
        },
        () => !body.begun,
      )
    } finally {
      leave?.()
      done()
    }
  }

  async append(path: MountPath, data: Uint8Array, options: AppendOptions = {}): Promise<WriteResult> {
    const call = { operation: 'append', path, signal: options.signal }
    const conditions = [{ path, condition: options.ifVersion }]
    return await this.#looks.conditional(call, conditions, (open, [ifVersion]) =>
      this.#gate.exclusive([path], async () => {
        if (open.files.append === undefined) throw failure('ENOTSUP', 'cannot be appended to', call)
        return await keep(open, path, await open.files.append(path, data, { ...options, ifVersion }))
      }),
    )
  }

  list(path: MountPath, options: ListOptions = {}): AsyncIterableIterator<Entry> {
    const call = { operation: 'list', path, signal: options.signal }
    return trackIterator<Entry>(call, this.#part, async () => listed(await this.#part.openedFor(call), path, options))
  }

  search(query: SearchQuery, options: SearchOptions = {}): AsyncIterableIterator<SearchHit> {
    const call = { operation: 'search', path: query.in, signal: options.signal }
    return trackIterator<SearchHit>(call, this.#part, async () => {
      const { files } = await this.#part.openedFor(call)
      if (files.search === undefined) throw failure('ENOTSUP', 'cannot be searched', call)
      return files.search(query, options)
    })
  }

  createDirectory(path: MountPath, options?: CreateDirectoryOptions): Promise<void> {
    const call = { operation: 'createDirectory', path, signal: options?.signal }
    return this.#part.run(call, ({ files }) => files.createDirectory(path, options))
  }

  async delete(path: MountPath, options: DeleteOptions = {}): Promise<void> {
    const conditions = [{ path, condition: options.ifVersion }]
    const call = { operation: 'delete', path, signal: options.signal }
    await this.#looks.conditional(call, conditions, (open, [ifVersion]) =>
      this.#gate.exclusive([path], async () => {
        await removeStored(open, await callOff(open, path), 'delete')
        await open.files.delete(path, { ...options, ifVersion })
      }),
    )
  }

  move(source: MountPath, destination: MountPath, options: MoveOptions = {}): Promise<TransferResult> {
    return this.#transfer('move', source, destination, options)
  }

  copy(source: MountPath, destination: MountPath, options: CopyOptions = {}): Promise<TransferResult> {
    return this.#transfer('copy', source, destination, options)
  }

  /**
   * The barrier: resolves when everything that was acknowledged before, by this adapter and by commands, is in the store.
   *
   * @throws WorkspaceError `EBUSY` (a file is open for writing), `EBACKEND` and others (what the store says), `ETIMEDOUT`.
   */
  async flush(options: FlushOptions = {}): Promise<void> {
    checkOptions<FlushOptions>(options, { signal: option.signal, timeoutMs: durationShape }, { operation: 'flush' })
    const { signal, timeoutMs } = options
    signal?.throwIfAborted()
    const call = { operation: 'flush', path: mountRoot, signal }
    await this.#flush(await this.#part.opened(call), call, timeoutMs)
  }

  /** From now on, what others changed in the store before this call is seen: names, sizes and content. */
  async refresh({ signal }: SignalOption = {}): Promise<void> {
    const call = { operation: 'refresh', path: mountRoot, signal }
    const { below, mount } = this.#part
    const { running } = await this.#part.opened(call)
    const { attributeCacheMs } = mount.options
    await this.#part.track(call, () => refreshMount(running.control, { below, attributeCacheMs, signal }))
  }

  /** How the mount is, and what is not in the store yet. Never waits for the mount itself. */
  async status(): Promise<RcloneStatus> {
    return await statusOf(this.#part.mount, this.#part.now?.dirty)
  }

  /** Mounts again, with the same cache, whatever state the mount is in. @throws WorkspaceError why it cannot. */
  async recover(): Promise<void> {
    this.#part.assertOpen({ operation: 'recover', path: mountRoot })
    await this.#part.mount.recover()
  }

  hostPath(path: MountPath): HostPath {
    return this.#part.hostPath(path)
  }

  async hostDirectory(path: MountPath): Promise<HostDirectory> {
    const call = { operation: 'hostDirectory', path }
    return await this.#part.run(call, async ({ files }) => {
      if (files.hostDirectory === undefined) throw failure('ENOTSUP', 'is not on this machine', call)
      return await files.hostDirectory(path)
    })
  }

  async createScratch({ signal }: SignalOption = {}): Promise<StorageAdapter> {
    this.#part.assertOpen({ operation: 'createScratch', path: mountRoot })
    signal?.throwIfAborted()
    return await createScratchAdapter({ owner: this.#part.mount.options.owner })
  }

  /** Flushes, then unmounts. Should flushing fail, it unmounts all the same, and says so: the cache keeps what is missing. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #close(): Promise<void> {
    const open = this.#part.now
    const problems: unknown[] = []
    const { mount } = this.#part
    const { operationTimeoutMs } = mount.options
    const call = { operation: 'close', path: mountRoot }
    this.#part.refuse()
    const isHung = mount.state === 'hung'
    const canFlush = open !== undefined && mount.state === 'ready'
    if (canFlush && !this.capabilities.readOnly)
      await this.#flush(open, call).catch((error: unknown) => problems.push(error))
    // Nobody is waited for where the store was waited for in vain.
    const isSilent = problems.some((problem) => isWorkspaceError(problem, 'ETIMEDOUT'))
    const isLeft = await this.#part.leave(isSilent ? 0 : operationTimeoutMs)
    await this.#onClose({ force: !isLeft }).catch((error: unknown) => problems.push(error))
    if (!canFlush && !this.capabilities.readOnly && (await this.#part.isDirty(operationTimeoutMs)))
      problems.unshift(unflushed(call, isHung))
    for (const problem of problems) throw problem
  }

  async #flush(open: Open, call: Call, timeoutMs = this.#part.mount.options.flushTimeoutMs): Promise<void> {
    const { running, dirty } = open
    const { control, process, metadata, departures } = running
    const { features } = this.#part.mount
    const { operation, path } = call
    // The barrier ends by itself, and knows more about why.
    const limit = AbortSignal.timeout(timeoutMs + lateMs)
    const signal = call.signal === undefined ? limit : AbortSignal.any([call.signal, limit])
    const flushing = async (): Promise<void> => {
      await flushBarrier({
        ...{ control, log: process.log, dirty, metadata, signal, timeoutMs, operation },
        queue: features.queue,
        onHurry: () => departures.noteHurry(),
      })
      await settleUploads(open, signal)
    }
    try {
      await this.#part.track({ operation, path, signal }, flushing, { hasOwnLimit: true })
    } catch (error) {
      call.signal?.throwIfAborted()
      throw limit.aborted && !isWorkspaceError(error) ? late(process.log, operation) : error
    }
  }

  async #transfer(operation: 'move' | 'copy', source: MountPath, destination: MountPath, options: CopyOptions) {
    this.#part.assertPath({ operation, path: destination })
    const { ifSource, ifDestination } = options
    const conditions = [
      { path: source, condition: ifSource },
      { path: destination, condition: ifDestination },
    ]
    const call = { operation, path: source, signal: options.signal }
    return await this.#looks.conditional(call, conditions, async (open, [first, second]) => {
      const { files } = open
      const isMove = operation === 'move' && source !== destination
      if (isMove) await this.#prepareMove(files, source, destination, options)
      await this.#gate.exclusive(isMove ? [source, destination] : [destination], async () => {
        const transfer = () =>
          files[operation](source, destination, { ...options, ifSource: first, ifDestination: second })
        if (!isMove) await transfer()
        else await moveCalledOff(open, await callOff(open, source, destination), { source, destination }, transfer)
      })
      return {} // the time of a new file is not known at once, and so its version is not
    })
  }

  /**
   * What rclone gets wrong with directories: it merges one into another that is not empty, and what was not uploaded yet
   * is empty or lost after its directory was renamed.
   */
  async #prepareMove(files: StorageAdapter, source: MountPath, destination: MountPath, options: MoveOptions) {
    const { type } = await files.stat(source)
    if (type !== 'directory' || isWithin(destination, source)) return
    if (options.overwrite === true) await refuseFull(files, destination)
    await this.flush({ signal: options.signal })
  }
}

function unflushed(call: Call, isHung: boolean): Error {
  const state = isHung ? 'the mount does not answer' : 'the mount is gone'
  return failure(isHung ? 'ETIMEDOUT' : 'EIO', `could not upload everything: ${state}`, {
    ...call,
    remedy: 'mount the same part again with the same `directory`: the cache keeps it',
  })
}

/** Waits until the cache holds what was written. */
async function keep(open: Open, path: MountPath, written: WriteResult): Promise<WriteResult> {
  const { result, waits } = await untilKept(join(open.metadata, path), written)
  // slower than the upload would begin
  if (!waits) await assureStored(open, path, 'write')
  return result
}
