import { createScratchAdapter } from '@ws/adapter-local'
import { paths, type ReadResult, type Stat, type TransferResult, type WriteResult } from '@ws/core'
import type {
  Driver,
  DriverCapabilities,
  Entry,
  HostDirectory,
  MountPath,
  ReadStreamResult,
  SearchHit,
  SignalOption,
  StorageAdapter,
  WriteData,
  DriverOptions,
  AdapterOptions,
} from '@ws/core/adapter'
import type { HostPath } from '@ws/core/executor'
import { checkOptions, option } from '@ws/core/options'

import { makeRoom } from './cache/place.ts'
import { capabilitiesOf } from './capabilities.ts'
import { watched } from './files/body.ts'
import {
  callOff,
  copyAgainstUploads,
  isOtherDirectory,
  moveCalledOff,
  refuseFull,
  removeStored,
} from './part/call-off.ts'
import { trackIterator } from './files/iterate.ts'
import { keep, keepNew } from './files/kept.ts'
import { listed } from './files/listing.ts'
import { refuseChangedName } from './names.ts'
import { PathLocks } from './files/path-locks.ts'
import { Replacing } from './files/replacing.ts'
import { openSteadyStream, readSteadily } from './files/steady.ts'
import { refuseWrittenSince, settled } from './files/versions.ts'
import { type FlushOptions, flushPart } from './part/flush.ts'
import type { Mount } from './mount/mount.ts'
import type { Task } from './mount/pending.ts'
import type { Open } from './part/opened.ts'
import { type OnClose, closePart } from './part/close.ts'
import { Looks } from './files/looks.ts'
import { MountedPart } from './part/mounted-part.ts'
import { refreshMount } from './refresh.ts'
import { type RcloneStatus, statusOf } from './status.ts'

/** A part of a mount: the disk's adapter there, with the work that rclone needs before, during and after each operation. */
export class RcloneDriver implements Driver {
  readonly name = 'rclone'
  readonly capabilities: DriverCapabilities
  readonly createSymlink?: NonNullable<Driver['createSymlink']>
  readonly readSymlink?: NonNullable<Driver['readSymlink']>
  readonly #part: MountedPart
  readonly #looks: Looks
  readonly #onClose: OnClose
  readonly #replacing = new Replacing()
  readonly #locks = new PathLocks()

  constructor(mount: Mount, below: string, first: Open, onClose: OnClose) {
    this.capabilities = capabilitiesOf(first.files.capabilities, mount.options, mount.features, below)
    this.#part = new MountedPart(mount, below, first)
    this.#looks = new Looks(this.#part, this.#replacing, this.#locks)
    this.#onClose = onClose
    if (!mount.features.links) return
    this.createSymlink = async (path, target, { signal }) => {
      const call = { operation: 'createSymlink', path, signal }
      refuseChangedName(call.operation, path)
      await this.#part.run(call, ({ files }) => files.createSymlink(path, target, { signal }))
    }
    this.readSymlink = (path, { signal }) =>
      this.#part.run({ operation: 'readSymlink', path, signal }, ({ files }) => files.readSymlink(path, { signal }))
  }

  stat(path: MountPath, options: SignalOption): Promise<Stat> {
    return this.#looks.look({ operation: 'stat', path, signal: options.signal }, ({ direct }, metadata) =>
      this.#locks.shared(path, async () => settled(metadata, await direct.stat(path, options))),
    )
  }

  async read(path: MountPath, options: DriverOptions.Read): Promise<ReadResult> {
    const conditions = [{ path, condition: options.ifVersion }]
    const call = { operation: 'read', path, signal: options.signal }
    refuseChangedName(call.operation, path)
    return await this.#looks.conditional(call, conditions, (open, [ifVersion], metadata) =>
      this.#locks.shared(path, async () => {
        await refuseWrittenSince(open.metadata, call.operation, conditions)
        return await readSteadily(open.direct, metadata, path, { ...options, ifVersion })
      }),
    )
  }

  /** Reads a stream. Small files are read at once; if a larger file is replaced during the read, the stream fails with `ECONFLICT`. */
  async readStream(path: MountPath, options: DriverOptions.Read): Promise<ReadStreamResult> {
    const call = { operation: 'readStream', path, signal: options.signal }
    refuseChangedName(call.operation, path)
    const conditions = [{ path, condition: options.ifVersion }]
    const { stat, stream } = await this.#looks.conditional(call, conditions, (open, [ifVersion], metadata) =>
      this.#locks.shared(path, async () => {
        await refuseWrittenSince(open.metadata, call.operation, conditions)
        return await openSteadyStream(open.files, metadata, path, { ...options, ifVersion })
      }),
    )
    return { stat, stream: trackIterator(call, this.#part, async () => stream) }
  }

  async write(path: MountPath, data: WriteData, options: DriverOptions.Write): Promise<WriteResult> {
    const call = { operation: 'write', path, signal: options.signal }
    refuseChangedName(call.operation, path)
    const done = this.#replacing.begin(path)
    const conditions = [{ path, condition: options.ifVersion }]
    let leave: (() => void) | undefined
    const enter = async (): Promise<void> => {
      leave ??= await this.#locks.enter(path, 'exclusive')
      const open = await this.#part.opened(call)
      await refuseWrittenSince(open.metadata, call.operation, conditions)
    }
    // A stream may wait for a reader of this file, so the write locks the file only from the stream's end on.
    const body = watched(data, enter)
    try {
      return await this.#looks.conditional(
        call,
        conditions,
        (open, [ifVersion]) => {
          const work = async (): Promise<WriteResult> => {
            await makeRoom(open, path)
            return await keepNew(open, path, () => open.direct.write(path, body.data, { ...options, ifVersion }))
          }
          if (!(data instanceof Uint8Array)) return work()
          return this.#locks.exclusive([path], async () => {
            await refuseWrittenSince(open.metadata, call.operation, conditions)
            return await work()
          })
        },
        () => !body.begun,
      )
    } finally {
      leave?.()
      done()
    }
  }

  async append(path: MountPath, data: Uint8Array, options: DriverOptions.Append): Promise<WriteResult> {
    const call = { operation: 'append', path, signal: options.signal }
    refuseChangedName(call.operation, path)
    const conditions = [{ path, condition: options.ifVersion }]
    return await this.#looks.conditional(call, conditions, (open, [ifVersion]) =>
      this.#locks.exclusive([path], async () => {
        await refuseWrittenSince(open.metadata, call.operation, conditions)
        return await keep(open, path, await open.files.append(path, data, { ...options, ifVersion }))
      }),
    )
  }

  list(path: MountPath, options: DriverOptions.List): AsyncIterableIterator<Entry> {
    const call = { operation: 'list', path, signal: options.signal }
    return trackIterator<Entry>(call, this.#part, async () => listed(await this.#part.opened(call), path, options))
  }

  search(query: DriverOptions.Query, options: AdapterOptions.Search): AsyncIterableIterator<SearchHit> {
    const call = { operation: 'search', path: query.in, signal: options.signal }
    return trackIterator<SearchHit>(call, this.#part, async () => {
      const { files } = await this.#part.opened(call)
      return files.search(query, options)
    })
  }

  async createDirectory(path: MountPath, options: SignalOption & { readonly recursive: boolean }): Promise<void> {
    const call = { operation: 'createDirectory', path, signal: options.signal }
    refuseChangedName(call.operation, path)
    await this.#part.run(call, ({ files }) => files.createDirectory(path, options))
  }

  async delete(path: MountPath, options: DriverOptions.Delete): Promise<void> {
    const conditions = [{ path, condition: options.ifVersion }]
    const call = { operation: 'delete', path, signal: options.signal }
    await this.#looks.conditional(call, conditions, (open, [ifVersion]) =>
      this.#locks.exclusive([path], async () => {
        await refuseWrittenSince(open.metadata, call.operation, conditions)
        await removeStored(open, await callOff(open, path), 'delete')
        await open.files.delete(path, { ...options, ifVersion })
      }),
    )
  }

  move(source: MountPath, destination: MountPath, options: DriverOptions.Move): Promise<TransferResult> {
    const call = { operation: 'move', path: source, signal: options.signal }
    return this.#transfer(call, destination, options, async (open, conditions, refuse) => {
      const { files } = open
      const move = (): Promise<unknown> => files.move(source, destination, { ...options, ...conditions })
      if (source === destination) return await this.#locks.exclusive([source], move)
      if (await isOtherDirectory(files, source, destination)) {
        // rclone would merge the source into a non-empty directory, and files that are not uploaded yet would be empty or lost
        if (options.overwrite) await refuseFull(files, destination)
        await this.flush({ signal: options.signal })
      }
      await this.#locks.exclusive([source, destination], async () => {
        await refuse()
        await makeRoom(open, destination)
        await moveCalledOff(open, await callOff(open, source, destination), { source, destination }, move)
      })
    })
  }

  async copy(source: MountPath, destination: MountPath, options: DriverOptions.Copy): Promise<TransferResult> {
    const call = { operation: 'copy', path: source, signal: options.signal }
    refuseChangedName(call.operation, source)
    return await this.#transfer(call, destination, options, (open, conditions, refuse) =>
      this.#locks.exclusive([destination], async () => {
        await refuse()
        await makeRoom(open, destination)
        const copy = () => open.files.copy(source, destination, { ...options, ...conditions })
        return await copyAgainstUploads(open, destination, copy)
      }),
    )
  }

  async flush(options: FlushOptions): Promise<void> {
    checkOptions<FlushOptions>(options, { signal: option.signal, timeout: option.duration }, { operation: 'flush' })
    const { signal, timeout } = options
    const call = { operation: 'flush', path: paths.mountRoot, signal }
    await flushPart(this.#part, await this.#part.opened(call), call, timeout)
  }

  async refresh({ path = paths.mountRoot, signal }: AdapterOptions.Refresh): Promise<void> {
    const call = { operation: 'refresh', path, signal }
    const { mount } = this.#part
    const below = `${this.#part.below}${path.slice(1)}`
    const { running } = await this.#part.opened(call)
    const { attributeCache } = mount.options.timeouts
    await this.#part.track(call, () => refreshMount(running.control, { below, attributeCache, signal }))
  }

  async status(): Promise<RcloneStatus> {
    return await statusOf(this.#part.mount, this.#part.now?.dirty)
  }

  async recover(): Promise<void> {
    this.#part.assertOpen({ operation: 'recover', path: paths.mountRoot })
    await this.#part.mount.recover()
  }

  hostPath(path: MountPath): HostPath {
    return this.#part.hostPath(path)
  }

  hostDirectory(path: MountPath): Promise<HostDirectory> {
    return this.#part.run({ operation: 'hostDirectory', path }, ({ files }) => files.hostDirectory(path))
  }

  createScratch(): Promise<StorageAdapter> {
    return createScratchAdapter({ owner: this.#part.mount.options.owner })
  }

  close(): Promise<void> {
    return closePart(this.#part, { flushes: !this.capabilities.readOnly, onClose: this.#onClose })
  }

  async #transfer(
    call: Task,
    destination: MountPath,
    { ifSource, ifDestination }: DriverOptions.Move,
    work: (
      open: Open,
      conditions: Pick<DriverOptions.Move, 'ifSource' | 'ifDestination'>,
      refuse: () => Promise<void>,
    ) => Promise<unknown>,
  ): Promise<TransferResult> {
    const conditions = [
      { path: call.path, condition: ifSource },
      { path: destination, condition: ifDestination },
    ]
    refuseChangedName(call.operation, destination)
    await this.#looks.conditional(call, conditions, (open, [first, second]) =>
      work(open, { ifSource: first, ifDestination: second }, () =>
        refuseWrittenSince(open.metadata, call.operation, conditions),
      ),
    )
    return {} // the time of a new file is not known at once, and so its version is not
  }
}
