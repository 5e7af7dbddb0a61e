import {
  baseName,
  isWithin,
  maxNameBytes,
  maxPathBytes,
  mountRoot,
  parentPath,
  type MountPath,
} from '../../path/virtual-path.ts'
import type {
  Driver,
  DriverAppendOptions,
  DriverCapabilities,
  DriverCopyOptions,
  DriverDeleteOptions,
  DriverListOptions,
  DriverMoveOptions,
  DriverReadOptions,
  DriverWriteOptions,
} from '../../contract/driver.ts'
import type { InnerListOptions } from '../../contract/inner.ts'
import { checkReadSize, contractError } from '../failures.ts'
import type {
  Condition,
  Entry,
  ReadResult,
  Stat,
  TransferResult,
  WriteData,
  WriteResult,
} from '../../contract/file-types.ts'
import { collect } from '../base/stream.ts'
import { checkOptions } from '../../options/check.ts'
import { option, type OptionShapes } from '../../options/shapes.ts'
import { Entries, statOf, type StoredValue } from './entries.ts'
import type { KeyValueStore } from './store.ts'

export interface KeyValueOptions {
  /** The driver's name in error messages. Default `key-value`. */
  readonly name?: string | undefined
  /** Refuses every change with `EROFS`. Default false. */
  readonly readOnly?: boolean | undefined
}

const shapes: OptionShapes<KeyValueOptions> = { name: option.text, readOnly: option.boolean }

/** Makes a driver from a map of bytes. Adds directories, move and copy. Conditions such as `ifVersion` hold only within this process. */
export function keyValueDriver(store: KeyValueStore, options: KeyValueOptions = {}): Driver {
  checkOptions(options, shapes, { operation: 'keyValueDriver' })
  const { name = 'key-value', readOnly = false } = options
  return new KeyValueDriver(name, { ...capabilities, readOnly }, store)
}

const capabilities: Omit<DriverCapabilities, 'readOnly'> = {
  ...{ atomicMove: false, atomicDirectoryMove: false, enforcesHierarchy: true, keepsEmptyDirectories: true },
  ...{ modes: false, caseSensitive: true, controlCharacters: true, uniqueVersions: false },
  ...{ conditionalWrite: 'process', conditionalDelete: 'process', conditionalMove: 'process' },
  ...{ confinement: 'inherent', maxStaleness: 0, maxNameBytes, maxPathBytes },
}

class KeyValueDriver implements Driver {
  readonly name: string
  readonly capabilities: DriverCapabilities
  readonly #store: KeyValueStore
  readonly #entries: Entries
  #last: Promise<unknown> = Promise.resolve()

  constructor(name: string, given: DriverCapabilities, store: KeyValueStore) {
    this.name = name
    this.capabilities = Object.freeze(given)
    this.#store = store
    this.#entries = new Entries(store)
  }

  async stat(path: MountPath): Promise<Stat> {
    return await statOf(await this.#entries.expect(path, 'stat'))
  }

  async read(path: MountPath, { range, ifVersion, maxBytes }: DriverReadOptions): Promise<ReadResult> {
    const found = await this.#entries.expect(path, 'read')
    if (found.bytes === undefined) throw contractError('EISDIR', 'read', path)
    const stat = await statOf(found)
    if (ifVersion !== undefined && ifVersion !== stat.version) throw contractError('ECONFLICT', 'read', path)
    const end = range?.length === undefined ? undefined : range.offset + range.length
    const bytes = found.bytes.slice(range?.offset ?? 0, end)
    checkReadSize('read', path, bytes.length, maxBytes)
    return { bytes, stat }
  }

  async write(path: MountPath, data: WriteData, options: DriverWriteOptions): Promise<WriteResult> {
    // Checks the path before and after the body is read: other writers may change the path meanwhile.
    await this.#change(() => this.#place(path, 'write', options))
    const bytes = await collect(data)
    return await this.#change(async () => {
      const { missing } = await this.#place(path, 'write', options)
      options.signal?.throwIfAborted()
      return await this.#put(path, bytes, missing)
    })
  }

  async append(path: MountPath, data: Uint8Array, options: DriverAppendOptions): Promise<WriteResult> {
    return await this.#change(async () => {
      const { found, missing } = await this.#place(path, 'append', options)
      options.signal?.throwIfAborted()
      const before = found?.bytes ?? new Uint8Array()
      const bytes = new Uint8Array(before.length + data.length)
      bytes.set(before)
      bytes.set(data, before.length)
      return await this.#put(path, bytes, missing)
    })
  }

  async *list(path: MountPath, options: DriverListOptions & InnerListOptions): AsyncGenerator<Entry, undefined> {
    const { recursive, exclude, skips, details } = options
    const start = await this.#entries.expect(path, 'list')
    if (start.bytes !== undefined) throw contractError('ENOTDIR', 'list', path)
    const left = [...exclude]
    for await (const at of this.#entries.below(path)) {
      const above = parentPath(at)
      const isEntered = above === path || (recursive && !left.some((one) => isWithin(above, one)))
      if (!isEntered || exclude.some((one) => isWithin(path, one))) continue
      const found = await this.#entries.find(at)
      if (found === undefined) continue // the entry was deleted meanwhile
      if (found.bytes === undefined && recursive && skips?.(at) === true) left.push(at)
      const type = found.bytes === undefined ? 'directory' : 'file'
      yield { path: at, name: baseName(at), ...(details ? await statOf(found) : { type }) }
    }
    return undefined
  }

  async createDirectory(path: MountPath, { recursive }: { readonly recursive: boolean }): Promise<void> {
    await this.#change(async () => {
      const found = await this.#entries.find(path)
      if (found !== undefined && found.bytes === undefined && recursive) return
      if (found !== undefined) throw contractError('EEXIST', 'createDirectory', path)
      const missing = await this.#entries.missingAbove(path, 'createDirectory')
      if (missing.length > 0 && !recursive) throw contractError('noParent', 'createDirectory', path)
      for (const directory of [...missing, path]) await this.#entries.set(directory, undefined)
    })
  }

  async delete(path: MountPath, { recursive, force, ifVersion }: DriverDeleteOptions): Promise<void> {
    await this.#change(async () => {
      if (force && (await this.#entries.find(path)) === undefined)
        return void (await this.#entries.missingAbove(path, 'delete'))
      const found = await this.#entries.expect(path, 'delete')
      await this.#hold(path, 'delete', found, ifVersion)
      if (found.bytes === undefined && !recursive && (await this.#entries.hasBelow(path))) {
        throw contractError('ENOTEMPTY', 'delete', path)
      }
      await this.#keepParent(path)
      await this.#removeTree(path, found)
    })
  }

  async move(source: MountPath, destination: MountPath, options: DriverMoveOptions): Promise<TransferResult> {
    return await this.#change(async () => {
      const found = await this.#transferable(source, destination, 'move', options)
      if (source === destination) return await statOf(found)
      const { there, missing } = await this.#target(destination, 'move', options)
      if (there !== undefined) await this.#checkReplaced(found, there, destination)
      for (const directory of missing) await this.#entries.set(directory, undefined)
      await this.#copyTree(source, destination, found)
      await this.#keepParent(source)
      await this.#removeTree(source, found)
      return await statOf(found)
    })
  }

  async copy(source: MountPath, destination: MountPath, options: DriverCopyOptions): Promise<TransferResult> {
    return await this.#change(async () => {
      const found = await this.#transferable(source, destination, 'copy', options)
      if (source === destination) throw contractError('ontoItself', 'copy', destination)
      if (destination === mountRoot) throw contractError('EBUSY', 'copy', destination)
      if (found.bytes === undefined && !options.recursive) throw contractError('EISDIR', 'copy', source)
      const { missing } = await this.#target(destination, 'copy', options)
      await this.#checkMerge(source, destination, found)
      for (const directory of missing) await this.#entries.set(directory, undefined)
      await this.#copyTree(source, destination, found)
      return await statOf(found)
    })
  }

  async close(): Promise<void> {
    await this.#last.catch(() => undefined) // the caller of that change gets the error
    await this.#store.close?.()
  }

  /** Runs one change at a time, so the state that a change has read remains valid until its end. */
  async #change<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = this.#last
    const own = before.then(work, work)
    this.#last = own.catch(() => undefined)
    return await own
  }

  async #hold(
    path: MountPath,
    operation: string,
    found: StoredValue | undefined,
    condition: Condition | undefined,
  ): Promise<void> {
    if (condition === undefined) return
    const state = found === undefined ? 'absent' : (await statOf(found)).version
    if (state !== condition) throw contractError('ECONFLICT', operation, path)
  }

  async #place(
    path: MountPath,
    operation: 'write' | 'append',
    { ifVersion, parents }: Pick<DriverWriteOptions, 'ifVersion' | 'parents'>,
  ): Promise<{ readonly found: StoredValue | undefined; readonly missing: readonly MountPath[] }> {
    const missing = await this.#entries.missingAbove(path, operation)
    const found = await this.#entries.find(path)
    await this.#hold(path, operation, found, ifVersion)
    if (found !== undefined && found.bytes === undefined) throw contractError('EISDIR', operation, path)
    if (missing.length > 0 && !parents) throw contractError('noParent', operation, path)
    return { found, missing }
  }

  async #put(path: MountPath, bytes: Uint8Array, missing: readonly MountPath[]): Promise<WriteResult> {
    for (const directory of missing) await this.#entries.set(directory, undefined)
    await this.#entries.set(path, bytes)
    const { version } = await statOf({ bytes })
    return { version, size: bytes.length }
  }

  async #transferable(
    source: MountPath,
    destination: MountPath,
    operation: string,
    { ifSource }: DriverMoveOptions,
  ): Promise<StoredValue> {
    const found = await this.#entries.expect(source, operation)
    await this.#hold(source, operation, found, ifSource)
    const isInside = found.bytes === undefined && destination !== source && isWithin(destination, source)
    if (isInside) throw contractError('intoItself', operation, destination)
    return found
  }

  async #target(destination: MountPath, operation: string, { ifDestination, parents, overwrite }: DriverMoveOptions) {
    const missing = await this.#entries.missingAbove(destination, operation)
    const there = await this.#entries.find(destination)
    await this.#hold(destination, operation, there, ifDestination)
    if (missing.length > 0 && !parents) throw contractError('noParent', operation, destination)
    if (there !== undefined && !overwrite) throw contractError('EEXIST', operation, destination)
    return { there, missing }
  }

  async #checkReplaced(found: StoredValue, there: StoredValue, destination: MountPath): Promise<void> {
    checkKinds(found, there, destination, 'move')
    if (there.bytes === undefined && (await this.#entries.hasBelow(destination))) {
      throw contractError('ENOTEMPTY', 'move', destination)
    }
  }

  /** Checks a merge before it begins: if one entry cannot be copied, no entry is copied. */
  async #checkMerge(source: MountPath, destination: MountPath, found: StoredValue): Promise<void> {
    const pairs: [MountPath, StoredValue][] = [[source, found]]
    for await (const at of this.#below(source, found)) pairs.push(at)
    for (const [at, one] of pairs) {
      const target = rebase(at, source, destination)
      const there = await this.#entries.find(target)
      if (there !== undefined) checkKinds(one, there, target, 'copy')
    }
  }

  async #copyTree(source: MountPath, destination: MountPath, found: StoredValue): Promise<void> {
    // Lists the source before the first write: a destination above the source could add entries to the source.
    const all: [MountPath, StoredValue][] = [[source, found]]
    for await (const one of this.#below(source, found)) all.push(one)
    for (const [at, { bytes }] of all) await this.#entries.set(rebase(at, source, destination), bytes)
  }

  async *#below(path: MountPath, { bytes }: StoredValue): AsyncGenerator<[MountPath, StoredValue], void, undefined> {
    if (bytes !== undefined) return
    for await (const at of this.#entries.below(path)) {
      const found = await this.#entries.find(at)
      if (found !== undefined) yield [at, found]
    }
  }

  async #removeTree(path: MountPath, found: StoredValue): Promise<void> {
    const all: [MountPath, StoredValue][] = [[path, found]]
    for await (const one of this.#below(path, found)) all.push(one)
    for (const [at, one] of all.reverse()) await this.#entries.remove(at, one)
  }

  /** Keeps a directory when its last entry is deleted, even if the directory was never created explicitly. */
  async #keepParent(path: MountPath): Promise<void> {
    const above = parentPath(path)
    if (above !== mountRoot) await this.#entries.set(above, undefined)
  }
}

function checkKinds(from: StoredValue, to: StoredValue, path: MountPath, operation: string): void {
  const [isFile, replacesFile] = [from.bytes !== undefined, to.bytes !== undefined]
  if (isFile && !replacesFile) throw contractError('directoryInTheWay', operation, path)
  if (!isFile && replacesFile) throw contractError('fileInTheWay', operation, path)
}

function rebase(path: MountPath, from: MountPath, to: MountPath): MountPath {
  return `${to}${path.slice(from.length)}` as MountPath
}
