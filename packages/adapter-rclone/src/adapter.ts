import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { createScratchAdapter } from '@ws/adapter-local'
import {
  type AdapterCapabilities,
  type AppendOptions,
  type Condition,
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
  assertMountPath,
  isWithin,
  isWorkspaceError,
  mountRoot,
} from '@ws/core'

import { lookAtCachedFile } from './cache/cached-file.ts'
import { capabilitiesOf } from './capabilities.ts'
import { failure } from './errors.ts'
import { isStream, watched } from './files/body.ts'
import { assureStored, callOff, refuseFull, removeStored, settleMove, settleUploads } from './files/departures.ts'
import { trackIterator } from './files/iterate.ts'
import { untilKept } from './files/kept.ts'
import { PathGate } from './files/path-gate.ts'
import { Replacing } from './files/replacing.ts'
import { openSteadyStream, readSteadily } from './files/steady.ts'
import { isVersion, sameContentNow, settled } from './files/versions.ts'
import { flushBarrier } from './flush/barrier.ts'
import type { Mount } from './mount/mount.ts'
import type { Call } from './mount/pending.ts'
import { type Open, openFiles } from './opened.ts'
import { type RcloneStatus, statusOf } from './status.ts'
import { refreshMount } from './refresh.ts'

export interface FlushOptions extends SignalOption {
  /** Milliseconds. Default: the mount's `flushTimeoutMs`. */
  readonly timeoutMs?: number | undefined
}

type Conditions = readonly (Condition | undefined)[]

/** A part of a store as rclone mounts it. Made by `createRcloneAdapter`, or by a bucket's `adapter`. */
export class RcloneAdapter implements StorageAdapter {
  readonly name = 'rclone'
  readonly capabilities: AdapterCapabilities
  readonly createSymlink?: (path: MountPath, target: string, options?: SignalOption) => Promise<void>
  readonly readSymlink?: (path: MountPath, options?: SignalOption) => Promise<string>
  readonly #mount: Mount
  /** `""`, or `threads/t1/`. */
  readonly #below: string
  readonly #root: string
  readonly #onClose: () => Promise<void>
  readonly #replacing = new Replacing()
  readonly #gate = new PathGate()
  #open: Open | undefined
  #closing: Promise<void> | undefined

  private constructor(mount: Mount, below: string, first: Open, onClose: () => Promise<void>) {
    this.#mount = mount
    this.#below = below
    this.#open = first
    this.#onClose = onClose
    this.#root = String(first.files.hostPath?.(mountRoot))
    this.capabilities = capabilitiesOf(first.files.capabilities, mount.options, mount.features, below)
    if (this.capabilities.symlinks) {
      this.createSymlink = (path, target, options) =>
        this.#run({ operation: 'createSymlink', path }, async (files) => files.createSymlink?.(path, target, options))
      this.readSymlink = (path, options) =>
        this.#run({ operation: 'readSymlink', path }, async (files) => String(await files.readSymlink?.(path, options)))
    }
  }

  /** `below`: the part of the mount, which must be there. `onClose`: what ends with this adapter. */
  static async open(mount: Mount, below: string, onClose: () => Promise<void>): Promise<RcloneAdapter> {
    const adapter = new RcloneAdapter(mount, below, await openFiles(mount, below), onClose)
    mount.addUser(adapter)
    return adapter
  }

  stat(path: MountPath, options?: StatOptions): Promise<Stat> {
    return this.#look({ operation: 'stat', path }, (files, metadata) =>
      this.#gate.shared(path, async () =>
        settled(metadata, await (this.#open?.questions ?? files).stat(path, options)),
      ),
    )
  }

  read(path: MountPath, options: ReadOptions = {}): Promise<ReadResult> {
    const conditions = [{ path, condition: options.ifVersion }]
    return this.#conditional({ operation: 'read', path }, conditions, (files, [ifVersion], metadata) =>
      this.#gate.shared(path, () =>
        readSteadily(this.#open?.questions ?? files, metadata, path, { ...options, ifVersion }),
      ),
    )
  }

  /** Small files are read at once; should a larger one be replaced while it is read, the stream fails with `ECONFLICT`. */
  async readStream(path: MountPath, options: ReadOptions = {}): Promise<ReadStreamResult> {
    const call = { operation: 'readStream', path }
    const conditions = [{ path, condition: options.ifVersion }]
    const { stat, stream } = await this.#conditional(call, conditions, (files, [ifVersion], metadata) =>
      this.#gate.shared(path, () => openSteadyStream(files, metadata, path, { ...options, ifVersion })),
    )
    return {
      stat,
      stream: trackIterator(
        async () => stream,
        (work) => this.#mount.track(call, work),
      ),
    }
  }

  async write(path: MountPath, data: WriteData, options: WriteOptions = {}): Promise<WriteResult> {
    const call = { operation: 'write', path }
    const done = this.#replacing.begin(path)
    let leave: (() => void) | undefined
    const enter = async (): Promise<void> => {
      leave ??= await this.#gate.enter(path, 'exclusive')
    }
    // What a stream waits for may be a reader of this very file: it is alone from its end on.
    const body = watched(data, enter)
    const conditions = [{ path, condition: options.ifVersion }]
    const attempt = async (files: StorageAdapter, [ifVersion]: Conditions): Promise<WriteResult> => {
      if (!isStream(data)) await enter()
      return await this.#keep(path, await files.write(path, body.data, { ...options, ifVersion }))
    }
    try {
      return await this.#conditional(call, conditions, attempt, () => !body.begun)
    } finally {
      leave?.()
      done()
    }
  }

  async append(path: MountPath, data: Uint8Array, options: AppendOptions = {}): Promise<WriteResult> {
    const conditions = [{ path, condition: options.ifVersion }]
    return await this.#conditional({ operation: 'append', path }, conditions, (files, [ifVersion]) =>
      this.#gate.exclusive([path], async () => {
        if (files.append === undefined) throw failure('ENOTSUP', 'cannot be appended to', { operation: 'append', path })
        return await this.#keep(path, await files.append(path, data, { ...options, ifVersion }))
      }),
    )
  }

  list(path: MountPath, options: ListOptions = {}): AsyncIterableIterator<Entry> {
    const call = { operation: 'list', path }
    return trackIterator<Entry>(
      async () => (await this.#files(call)).list(path, options),
      (work) => this.#mount.track(call, work),
      (entry) => {
        const metadata = this.#open?.metadata
        return metadata === undefined ? entry : settled(join(metadata, entry.path), entry)
      },
    )
  }

  search(query: SearchQuery, options: SearchOptions = {}): AsyncIterableIterator<SearchHit> {
    const call = { operation: 'search', path: query.in }
    return trackIterator<SearchHit>(
      async () => {
        const { search } = await this.#files(call)
        if (search === undefined) throw failure('ENOTSUP', 'cannot be searched', call)
        return search.call(this.#open?.files, query, options)
      },
      (work) => this.#mount.track(call, work),
    )
  }

  createDirectory(path: MountPath, options?: CreateDirectoryOptions): Promise<void> {
    return this.#run({ operation: 'createDirectory', path }, (files) => files.createDirectory(path, options))
  }

  async delete(path: MountPath, options: DeleteOptions = {}): Promise<void> {
    const conditions = [{ path, condition: options.ifVersion }]
    await this.#conditional({ operation: 'delete', path }, conditions, async (files, [ifVersion]) => {
      await this.#gate.exclusive([path], async () => {
        await this.#removeStored(await this.#callOff(path, 'delete'), 'delete')
        await files.delete(path, { ...options, ifVersion })
      })
    })
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
  async flush({ signal, timeoutMs }: FlushOptions = {}): Promise<void> {
    const call = { operation: 'flush', path: mountRoot }
    signal?.throwIfAborted()
    await this.#flush(await this.#opened(call), call, { signal, timeoutMs })
  }

  async #flush(open: Open, call: Call, { signal, timeoutMs = this.#mount.options.flushTimeoutMs }: FlushOptions) {
    const { running, dirty } = open
    const { control, process } = running
    const { queue } = this.#mount.features
    await this.#mount.track(call, async () => {
      await flushBarrier({ control, log: process.log, dirty, metadata: running.metadata, queue, timeoutMs, signal })
      await settleUploads(open, signal)
    })
  }

  /** From now on, what others changed in the store before this call is seen: names, sizes and content. */
  async refresh({ signal }: SignalOption = {}): Promise<void> {
    const call = { operation: 'refresh', path: mountRoot }
    const { running } = await this.#opened(call)
    const { attributeCacheMs } = this.#mount.options
    await this.#mount.track(call, () => refreshMount(running.control, { below: this.#below, attributeCacheMs, signal }))
  }

  /** How the mount is, and what is not in the store yet. Never waits for the mount itself. */
  async status(): Promise<RcloneStatus> {
    return await statusOf(this.#mount, this.#open?.dirty)
  }

  /** Mounts again, with the same cache, whatever state the mount is in. @throws WorkspaceError why it cannot. */
  async recover(): Promise<void> {
    this.#assertOpen({ operation: 'recover', path: mountRoot })
    await this.#mount.recover()
  }

  hostPath(path: MountPath): HostPath {
    const call = { operation: 'hostPath', path }
    this.#assertOpen(call)
    assertMountPath(path, 'hostPath')
    return (path === '/' ? this.#root : join(this.#root, path)) as HostPath
  }

  async hostDirectory(path: MountPath): Promise<HostDirectory> {
    return await this.#run({ operation: 'hostDirectory', path }, async (files) => {
      if (files.hostDirectory === undefined)
        throw failure('ENOTSUP', 'is not on this machine', { operation: 'hostDirectory', path })
      return await files.hostDirectory(path)
    })
  }

  async createScratch({ signal }: SignalOption = {}): Promise<StorageAdapter> {
    this.#assertOpen({ operation: 'createScratch', path: mountRoot })
    signal?.throwIfAborted()
    return await createScratchAdapter({ owner: this.#mount.options.owner })
  }

  /** Flushes, then unmounts. Should flushing fail, it unmounts all the same, and says so: the cache keeps what is missing. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  detach(): void {
    const open = this.#open
    this.#open = undefined
    // What still waits in the kernel is woken by the death of rclone.
    open?.files.close().catch(() => undefined)
  }

  async attach(): Promise<void> {
    this.#open ??= await openFiles(this.#mount, this.#below)
  }

  async #close(): Promise<void> {
    const open = this.#open
    const problems: unknown[] = []
    if (open !== undefined && !this.capabilities.readOnly && this.#mount.state === 'ready') {
      await this.#flush(open, { operation: 'close', path: mountRoot }, {}).catch((error: unknown) =>
        problems.push(error),
      )
    }
    this.#mount.removeUser(this)
    this.#open = undefined
    // A mount that hangs is killed first, and wakes what its descriptors wait for.
    const released = open?.files.close().catch(() => undefined)
    if (this.#mount.state === 'ready') await Promise.race([released, this.#mount.untilHung()])
    await this.#onClose()
    await released
    for (const problem of problems) throw problem
  }

  #assertOpen({ operation, path }: Call): void {
    if (this.#closing === undefined) return
    throw failure('ECLOSED', 'the adapter is closed', { operation, path, remedy: 'create a new one' })
  }

  async #opened(call: Call): Promise<Open> {
    this.#assertOpen(call)
    if (this.#open !== undefined && this.#mount.state === 'ready') return this.#open
    await this.#mount.running(call)
    if (this.#open === undefined)
      throw failure('EIO', 'cannot be reached: the mount is gone', { ...call, remedy: 'call `recover()`' })
    return this.#open
  }

  async #files(call: Call): Promise<StorageAdapter> {
    this.#assertOpen(call)
    assertMountPath(call.path, call.operation)
    this.#refuseLong(call)
    return (await this.#opened(call)).files
  }

  #refuseLong({ operation, path }: Call): void {
    const { maxPathBytes } = this.capabilities
    if (path.length * 3 <= maxPathBytes) return
    const bytes = Buffer.byteLength(path)
    if (bytes <= maxPathBytes) return
    const reason = `is ${bytes} bytes long; the limit of the store is ${maxPathBytes}`
    throw failure('ENAMETOOLONG', reason, { operation, path, remedy: 'use a shorter path' })
  }

  async #run<Result>(call: Call, work: (files: StorageAdapter) => Promise<Result>): Promise<Result> {
    const files = await this.#files(call)
    return await this.#mount.track(call, () => work(files))
  }

  /** For what looks at one path, given also the host path of what the cache says of it. */
  async #look<Result>(call: Call, work: (files: StorageAdapter, metadata: string) => Promise<Result>): Promise<Result> {
    return await this.#run(call, async (files) => {
      const metadata = join(this.#open?.metadata ?? '', call.path)
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await work(files, metadata)
        } catch (error) {
          if (attempt >= momentsAtMost || !this.#isMoment(error, call.path, metadata)) throw error
          await delay(momentMs)
        }
      }
    })
  }

  /** While rclone replaces a file it is not there, or cannot be read. What is being written, and what the cache knows, is there. */
  #isMoment(error: unknown, path: MountPath, metadata: string): boolean {
    const isReplaced = this.#replacing.has(path)
    if (isWorkspaceError(error, 'EIO')) return isReplaced && this.#mount.state === 'ready'
    return isWorkspaceError(error, 'ENOENT') && (isReplaced || lookAtCachedFile(metadata) !== undefined)
  }

  async #transfer(operation: 'move' | 'copy', source: MountPath, destination: MountPath, options: CopyOptions) {
    assertMountPath(destination, operation)
    this.#refuseLong({ operation, path: destination })
    const { ifSource, ifDestination } = options
    const conditions = [
      { path: source, condition: ifSource },
      { path: destination, condition: ifDestination },
    ]
    return await this.#conditional({ operation, path: source }, conditions, async (files, [first, second]) => {
      const isMove = operation === 'move' && source !== destination
      if (isMove) await this.#prepareMove(files, source, destination, options)
      await this.#gate.exclusive(isMove ? [source, destination] : [destination], async () => {
        const left = isMove ? await this.#callOff(source, 'move') : []
        await files[operation](source, destination, { ...options, ifSource: first, ifDestination: second })
        await this.#removeStored(left, operation)
        if (this.#open !== undefined) await settleMove(this.#open, left, destination)
      })
      return {} // the time of a new file is not known at once, and so its version is not
    })
  }

  async #callOff(path: MountPath, operation: 'delete' | 'move'): Promise<readonly string[]> {
    return this.#open === undefined ? [] : await callOff(this.#open, path, operation)
  }

  async #removeStored(paths: readonly string[], operation: string): Promise<void> {
    if (this.#open !== undefined) await removeStored(this.#open, paths, operation)
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

  /** An operation with conditions: a version that differs in nothing but the time of its upload still holds. */
  async #conditional<Result>(
    call: Call,
    conditions: readonly { readonly path: MountPath; readonly condition: Condition | undefined }[],
    work: (files: StorageAdapter, conditions: readonly (Condition | undefined)[], metadata: string) => Promise<Result>,
    mayRetry: () => boolean = () => true,
  ): Promise<Result> {
    for (let attempt = 0; ; attempt += 1) {
      const given = await Promise.all(conditions.map((one) => this.#conditionNow(one)))
      try {
        return await this.#look(call, (files, metadata) => work(files, given, metadata))
      } catch (error) {
        const isVain =
          !given.some(isVersion) || given.some((one, index) => isVersion(one) && one === conditions[index]?.condition)
        // The file may have got another time between the look at its version and its use.
        if (attempt === 3 || isVain || !isWorkspaceError(error, 'ECONFLICT') || !mayRetry()) throw error
      }
    }
  }

  /** What the disk's adapter is to be asked for; a version that no longer holds stays as it is, and is refused there. */
  async #conditionNow({ path, condition }: { readonly path: MountPath; readonly condition: Condition | undefined }) {
    if (!isVersion(condition)) return condition
    const call = { operation: 'stat', path }
    const { files, running, metadata } = await this.#opened(call)
    const context = { files, running, metadata, below: this.#below }
    return (await this.#mount.track(call, () => sameContentNow(context, path, condition))) ?? condition
  }

  async #keep(path: MountPath, result: WriteResult): Promise<WriteResult> {
    const open = this.#open
    if (open === undefined) return result
    const kept = await untilKept(join(open.metadata, path), result)
    // slower than the upload would begin
    if (!kept.waits) await assureStored(open, path, 'write')
    return kept.result
  }
}

/** Milliseconds between two looks for a file that is being replaced. */
const momentMs = 2
const momentsAtMost = 50
