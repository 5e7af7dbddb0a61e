import { baseName, isWithin } from '@ws/core'
import { assertMountPath, checkReadSize, maxNameBytes, maxPathBytes, mountRoot } from '@ws/core/adapter'
import { type ErrorCode, WorkspaceError, parentPath } from '@ws/core'
import type { AdapterCapabilities, MountPath } from '@ws/core/adapter'
import type { Stat, TransferResult } from '@ws/core'
import type { CopyOptions, SignalOption, StorageAdapter, WriteData } from '@ws/core/adapter'

const capabilities: AdapterCapabilities = {
  ...{ readOnly: false, append: false, symlinks: false, search: false, flush: false, hostPath: false },
  ...{ atomicMove: true, atomicDirectoryMove: true, enforcesHierarchy: true, keepsEmptyDirectories: true },
  ...{ conditionalWrite: 'process', conditionalDelete: 'process', conditionalMove: 'process', caseSensitive: true },
  ...{ controlCharacters: true, uniqueVersions: true },
  ...{ modes: false, confinement: 'inherent', maxStalenessMs: 0, maxNameBytes, maxPathBytes },
}

/** A file has bytes, a directory has none. */
type Node = { readonly bytes?: Uint8Array | undefined; readonly modifiedAt: number; readonly version: string }

/** A tree of files in a `Map`. Between two `await`s nobody else runs: each change is one step. */
export function createMapAdapter(): StorageAdapter {
  let [issued, closed] = [0, false]
  const node = (bytes?: Uint8Array, modifiedAt = Date.now()): Node => ({ bytes, modifiedAt, version: `v${issued++}` })
  const nodes = new Map<MountPath, Node>([[mountRoot, node()]])
  const below = (path: MountPath): MountPath[] => [...nodes.keys()].filter((one) => one !== path && isWithin(one, path))

  const begin = (operation: string, path: MountPath, { signal }: SignalOption = {}): void => {
    if (closed) fail('ECLOSED', operation, path, 'is in an adapter that has been closed')
    assertMountPath(path, operation)
    signal?.throwIfAborted()
  }
  /** The parents that are missing, from the top down. */
  const missingParents = (operation: string, path: MountPath): MountPath[] => {
    const missing: MountPath[] = []
    let parent = parentPath(path)
    for (; !nodes.has(parent); parent = parentPath(parent)) missing.unshift(parent)
    if (nodes.get(parent)?.bytes) fail('ENOTDIR', operation, path, 'lies below a file')
    return missing
  }
  const find = (operation: string, path: MountPath, options?: SignalOption, condition?: string): Node => {
    begin(operation, path, options)
    missingParents(operation, path)
    const found = nodes.get(path) ?? fail('ENOENT', operation, path, 'is not there')
    hold(operation, path, condition)
    return found
  }
  const hold = (operation: string, path: MountPath, condition: string | undefined): void => {
    if (condition === undefined || (nodes.get(path)?.version ?? 'absent') === condition) return
    fail('ECONFLICT', operation, path, 'has another version')
  }
  /** Checks that something can be put there, and gives what makes its parents. Nothing has happened when it throws. */
  const place = (operation: string, path: MountPath, parents = false, condition?: string): (() => void) => {
    if (path === mountRoot) fail('EBUSY', operation, path, 'is the root')
    const missing = missingParents(operation, path)
    if (missing.length > 0 && !parents) fail('ENOENT', operation, path, 'has no parent directory')
    hold(operation, path, condition)
    return () => missing.forEach((directory) => nodes.set(directory, node()))
  }
  const replaceable = (operation: string, byFile: boolean, path: MountPath): void => {
    if (!nodes.has(path) || byFile === (nodes.get(path)?.bytes !== undefined)) return
    fail(byFile ? 'EISDIR' : 'ENOTDIR', operation, path, byFile ? 'is a directory' : 'is a file')
  }
  const transfer = (operation: string, from: MountPath, to: MountPath, options: CopyOptions = {}): TransferResult => {
    const moves = operation === 'move'
    begin(operation, to, options)
    const found = find(operation, from, options, options.ifSource)
    if (moves && from === mountRoot) fail('EBUSY', operation, from, 'is the root')
    if (moves && from === to) return { version: found.version }
    if (!moves && !found.bytes && !options.recursive) fail('EISDIR', operation, from, 'is a directory')
    if (isWithin(to, from)) fail('EINVAL', operation, to, 'lies in what it would be made of')
    const makeParents = place(operation, to, options.parents, options.ifDestination)
    if (nodes.has(to) && !options.overwrite) fail('EEXIST', operation, to, 'is there already')
    const sources = [from, ...below(from)]
    const target = (source: MountPath): MountPath => `${to}${source.slice(from.length)}` as MountPath
    for (const source of sources) replaceable(operation, find(operation, source).bytes !== undefined, target(source))
    if (moves && below(to).length > 0) fail('ENOTEMPTY', operation, to, 'is not empty')
    makeParents()
    for (const source of sources) {
      const { bytes, modifiedAt } = find(operation, source)
      if (bytes || !nodes.has(target(source))) nodes.set(target(source), node(bytes, moves ? modifiedAt : Date.now()))
      if (moves) nodes.delete(source)
    }
    return { version: find(operation, to).version }
  }

  const adapter: StorageAdapter = {
    name: 'map',
    capabilities,
    stat: async (path, options) => statOf(find('stat', path, options)),
    async read(path, { range: { offset = 0, length = 2 ** 53 - 1 } = {}, maxBytes, ifVersion, signal } = {}) {
      const found = find('read', path, { signal }, ifVersion)
      if (!found.bytes) return fail('EISDIR', 'read', path, 'is a directory')
      if (![offset, length].every((n) => n >= 0 && Number.isInteger(n))) fail('EINVAL', 'read', path, 'has no range')
      checkReadSize('read', path, Math.min(length, found.bytes.length - offset), maxBytes)
      return { bytes: found.bytes.slice(offset, offset + length), stat: statOf(found) }
    },
    async readStream(path, options) {
      const { bytes, stat } = await adapter.read(path, options)
      return { stat, stream: chunksOf(bytes, options?.signal) }
    },
    async write(path, data, options = {}) {
      const check = (): (() => void) => {
        begin('write', path, options)
        const makeParents = place('write', path, options.parents, options.ifVersion)
        replaceable('write', true, path)
        return makeParents
      }
      check() // before a byte of the body is read, and again after it: others may have been there meanwhile
      const bytes = await collect(data, path, options.signal)
      check()()
      nodes.set(path, node(bytes))
      return { version: find('write', path).version, size: bytes.length }
    },
    async *list(path, { recursive = false, exclude = [], signal } = {}) {
      if (find('list', path, { signal }).bytes) fail('ENOTDIR', 'list', path, 'is a file')
      for (const child of below(path).sort()) {
        signal?.throwIfAborted()
        const excluded = exclude.some((one) => one !== child && isWithin(child, one))
        const found = excluded || (!recursive && parentPath(child) !== path) ? undefined : nodes.get(child)
        if (found) yield { path: child, name: baseName(child), ...statOf(found) }
      }
    },
    async createDirectory(path, { recursive = false, signal } = {}) {
      begin('createDirectory', path, { signal })
      if (recursive && nodes.has(path) && !nodes.get(path)?.bytes) return
      if (nodes.has(path)) fail('EEXIST', 'createDirectory', path, 'is there already')
      place('createDirectory', path, recursive)()
      nodes.set(path, node())
    },
    async delete(path, { recursive = false, force = false, ifVersion, signal } = {}) {
      begin('delete', path, { signal })
      if (path === mountRoot) fail('EBUSY', 'delete', path, 'is the root')
      if (force && missingParents('delete', path) && !nodes.has(path)) return
      find('delete', path, { signal }, ifVersion)
      if (below(path).length > 0 && !recursive) fail('ENOTEMPTY', 'delete', path, 'is not empty')
      for (const one of [...below(path), path]) nodes.delete(one)
    },
    move: async (source, destination, options) => transfer('move', source, destination, options),
    copy: async (source, destination, options) => transfer('copy', source, destination, options),
    close: async () => void (closed = true),
    [Symbol.asyncDispose]: () => adapter.close(),
  }
  return adapter
}

const fail = (code: ErrorCode, operation: string, path: MountPath, reason: string): never => {
  throw new WorkspaceError({ code, operation, path, reason })
}

function statOf({ bytes, modifiedAt, version }: Node): Stat {
  return { type: bytes ? 'file' : 'directory', size: bytes?.length ?? 0, modifiedAt, version }
}

async function* chunksOf(bytes: Uint8Array, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes
  signal?.throwIfAborted()
}

/** All of a body. An abort does not wait for it. */
async function collect(data: WriteData, path: MountPath, signal?: AbortSignal): Promise<Uint8Array> {
  if (data instanceof Uint8Array) return data.slice()
  const wrong = (): never => fail('EINVAL', 'write', path, 'cannot hold what is no content')
  if (typeof data?.[Symbol.asyncIterator] !== 'function') wrong()
  const aborted = Promise.withResolvers<never>()
  signal?.addEventListener('abort', () => aborted.reject(signal.reason), { once: true })
  const chunks = Array.fromAsync(data, (chunk) => (chunk instanceof Uint8Array ? chunk.slice() : wrong()))
  return Uint8Array.from(Buffer.concat(await Promise.race([chunks, aborted.promise])))
}
