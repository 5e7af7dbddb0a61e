import { checkOption, checkOptions } from '../options/check.ts'
import { option } from '../options/shapes.ts'
import type { AdapterCapabilities } from '../contract/capabilities.ts'
import type { StorageAdapter } from '../contract/adapter.ts'
import type { InnerListOptions } from '../contract/inner.ts'
import { optionalOperations, type AdapterOperation } from '../contract/operations.ts'
import type {
  Entry,
  ReadResult,
  ReadStreamResult,
  SearchHit,
  SignalOption,
  WriteData,
  WriteResult,
} from '../contract/file-types.ts'
import { mapNotes } from '../adapter/entry-notes.ts'
import { contractError } from '../adapter/failures.ts'
import { assertMountPath, isWithin, mountRoot, type HostPath, type MountPath } from '../path/virtual-path.ts'
import { wrapIterator, type IterationHooks } from './iterator.ts'

export interface Call {
  readonly operation: AdapterOperation
  /** The path; the source for move and copy; `/` for operations without a path. */
  readonly path: MountPath
  readonly destination?: MountPath | undefined
  readonly recursive?: boolean | undefined
  /** Number of bytes to write, if known before the write. */
  readonly bytes?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface LayerOptions {
  /** True if the adapter has other users: `close()` then closes only the layer. Default false. */
  readonly shared?: boolean | undefined
}

/** Checks the arguments of a layer. @throws WorkspaceError `EINVAL` */
export function checkLayer(operation: string, adapter: StorageAdapter, options: LayerOptions): LayerOptions {
  checkOption(operation, 'adapter', adapter, option.adapter)
  checkOptions<LayerOptions>(options, { shared: option.boolean }, { operation })
  return options
}

export interface Layer {
  readonly name: string
  readonly capabilities: AdapterCapabilities
  readonly shared?: boolean | undefined
  readonly toInner?: ((path: MountPath) => MountPath) | undefined
  readonly toOuter?: ((path: MountPath) => MountPath) | undefined
  /** Wraps every operation without its own hook, except iterations. */
  readonly call?: (<Result>(call: Call, run: () => Promise<Result>) => Promise<Result>) | undefined
  readonly iterate?: (<Item>(call: Call) => IterationHooks<Item>) | undefined
  readonly read?: ((call: Call, run: () => Promise<ReadResult>) => Promise<ReadResult>) | undefined
  readonly readStream?: ((call: Call, run: () => Promise<ReadStreamResult>) => Promise<ReadStreamResult>) | undefined
  readonly write?:
    | ((call: Call, data: WriteData, run: (data: WriteData) => Promise<WriteResult>) => Promise<WriteResult>)
    | undefined
  readonly hostPath?: ((call: Call, run: () => HostPath) => HostPath) | undefined
  /** Makes the result of `createFork` from a fork of the inner adapter. Default: the fork gets the same layer. */
  readonly fork?: ((copy: StorageAdapter) => StorageAdapter) | undefined
}

const same = (path: MountPath): MountPath => path

/** Wraps an adapter: translates checked paths, keeps the optional operations, and closes the inner adapter unless `shared`. */
export function wrapAdapter(inner: StorageAdapter, layer: Layer): StorageAdapter {
  const { name, capabilities, shared = false, toInner = same, toOuter = same } = layer
  let closed = false

  const check = ({ operation, path, destination }: Call): void => {
    // `..` in a path could leave the subtree after translation
    assertMountPath(path, operation)
    if (destination !== undefined) assertMountPath(destination, operation)
    if (!closed) return
    throw contractError('ECLOSED', operation, path)
  }
  const call = async <Result>(it: Call, run: () => Promise<Result>): Promise<Result> => {
    check(it)
    return layer.call === undefined ? run() : layer.call(it, run)
  }
  const iterate = <Item extends { readonly path: MountPath }>(
    it: Call,
    open: () => AsyncIterableIterator<Item>,
  ): AsyncIterableIterator<Item> => {
    const { before, ...hooks } = layer.iterate?.<Item>(it) ?? {}
    const checked = (): void | Promise<void> => {
      check(it)
      return before?.()
    }
    const item = toOuter === same ? undefined : (found: Item): Item => ({ ...found, path: toOuter(found.path) })
    return wrapIterator(open, { item, ...hooks, before: checked })
  }
  const close = async (): Promise<void> => {
    closed = true
    if (!shared) await inner.close()
  }

  const adapter: StorageAdapter = {
    name,
    capabilities,
    identity: identityOf(inner, toInner(mountRoot)),
    stat: (path, options) =>
      call({ operation: 'stat', path, signal: options?.signal }, () => inner.stat(toInner(path), options)),
    read: async (path, options) => {
      const it: Call = { operation: 'read', path, signal: options?.signal }
      const run = (): Promise<ReadResult> => inner.read(toInner(path), options)
      if (layer.read === undefined) return call(it, run)
      check(it)
      return layer.read(it, run)
    },
    readStream: async (path, options) => {
      const it: Call = { operation: 'readStream', path, signal: options?.signal }
      const run = (): Promise<ReadStreamResult> => inner.readStream(toInner(path), options)
      if (layer.readStream === undefined) return call(it, run)
      check(it)
      return layer.readStream(it, run)
    },
    write: async (path, data, options) => {
      const it: Call = { operation: 'write', path, bytes: sizeOf(data), signal: options?.signal }
      const run = (given: WriteData): Promise<WriteResult> => inner.write(toInner(path), given, options)
      if (layer.write === undefined) return call(it, () => run(data))
      check(it)
      return layer.write(it, data, run)
    },
    list: (path, options = {}) =>
      iterate<Entry>({ operation: 'list', path, recursive: options.recursive, signal: options.signal }, () =>
        inner.list(toInner(path), toOuter === same ? options : innerOptions(options, toInner, toOuter)),
      ),
    createDirectory: (path, options) =>
      call({ operation: 'createDirectory', path, signal: options?.signal }, () =>
        inner.createDirectory(toInner(path), options),
      ),
    delete: (path, options) =>
      call({ operation: 'delete', path, signal: options?.signal }, () => inner.delete(toInner(path), options)),
    move: (path, destination, options) =>
      call({ operation: 'move', path, destination, signal: options?.signal }, () =>
        inner.move(toInner(path), toInner(destination), options),
      ),
    copy: (path, destination, options) =>
      call({ operation: 'copy', path, destination, signal: options?.signal }, () =>
        inner.copy(toInner(path), toInner(destination), options),
      ),
    close,
    [Symbol.asyncDispose]: close,
  }
  return Object.assign(
    adapter,
    optionalMethods(inner, {
      ...{ call, iterate, check, toInner, toOuter, hostPath: layer.hostPath },
      fork: layer.fork ?? ((copy) => wrapAdapter(copy, { ...layer, shared: false })),
    }),
  )
}

/** Returns the identity of a subtree: the adapter's identity and the subtree's root. */
function identityOf({ identity }: StorageAdapter, root: MountPath): string | undefined {
  return identity === undefined || root === mountRoot ? identity : `${identity} ${root}`
}

interface Around {
  readonly call: <Result>(it: Call, run: () => Promise<Result>) => Promise<Result>
  readonly iterate: <Item extends { readonly path: MountPath }>(
    it: Call,
    open: () => AsyncIterableIterator<Item>,
  ) => AsyncIterableIterator<Item>
  readonly check: (it: Call) => void
  readonly toInner: (path: MountPath) => MountPath
  readonly toOuter: (path: MountPath) => MountPath
  readonly hostPath: Layer['hostPath']
  readonly fork: (copy: StorageAdapter) => StorageAdapter
}

function innerOptions(
  { exclude, skips, onUnreadable, known, ...options }: InnerListOptions,
  toInner: (path: MountPath) => MountPath,
  toOuter: (path: MountPath) => MountPath,
): InnerListOptions {
  return {
    ...options,
    exclude: exclude?.map(toInner),
    skips: skips && ((directory) => skips(toOuter(directory))),
    known: known && ((directory, stamp) => known(toOuter(directory), stamp)),
    onUnreadable: outward(onUnreadable, toOuter),
  }
}

function outward(
  onUnreadable: InnerListOptions['onUnreadable'],
  toOuter: (path: MountPath) => MountPath,
): InnerListOptions['onUnreadable'] {
  return onUnreadable && ((path, error) => onUnreadable(toOuter(path), error))
}

/** Returns whether content comes in chunks. The inner adapter refuses other types. */
export function isStream(data: WriteData): data is AsyncIterable<Uint8Array> {
  return typeof data === 'object' && data !== null && Symbol.asyncIterator in data
}

function sizeOf(data: WriteData): number | undefined {
  return data instanceof Uint8Array ? data.length : undefined
}

/** Wraps the optional methods. A method that takes a path first and returns a promise needs no line here. */
function optionalMethods(
  inner: StorageAdapter,
  { call, iterate, check, toInner, toOuter, hostPath: aroundHostPath, fork }: Around,
): Partial<StorageAdapter> {
  const append = inner.append?.bind(inner)
  const search = inner.search?.bind(inner)
  const flush = inner.flush?.bind(inner)
  const sync = inner.sync?.bind(inner)
  const refresh = inner.refresh?.bind(inner)
  const watch = inner.watch?.bind(inner)
  const hostPath = inner.hostPath?.bind(inner)
  const beginCommand = inner.beginCommand?.bind(inner)
  const createScratch = inner.createScratch?.bind(inner)
  const createFork = inner.createFork?.bind(inner)
  const special: Partial<StorageAdapter> = {
    ...(append && {
      append: (path, data, options) =>
        call({ operation: 'append', path, bytes: sizeOf(data), signal: options?.signal }, () =>
          append(toInner(path), data, options),
        ),
    }),
    ...(search && {
      search: (query, options) =>
        iterate<SearchHit>({ operation: 'search', path: query.in, signal: options?.signal }, () =>
          search(
            {
              ...query,
              in: toInner(query.in),
              exclude: query.exclude?.map(toInner),
              skips: query.skips && ((path, isDirectory) => query.skips?.(toOuter(path), isDirectory) === true),
            },
            { ...options, onUnreadable: outward(options?.onUnreadable, toOuter) },
          ),
        ),
    }),
    ...(flush && {
      flush: (options) => call({ operation: 'flush', path: mountRoot, signal: options?.signal }, () => flush(options)),
    }),
    ...(sync && {
      sync: (options) => call({ operation: 'sync', path: mountRoot, signal: options?.signal }, () => sync(options)),
    }),
    ...(refresh && {
      refresh: ({ path = mountRoot, ...options } = {}) =>
        call({ operation: 'refresh', path, signal: options.signal }, () =>
          refresh({ ...options, path: toInner(path) }),
        ),
    }),
    ...(watch && {
      watch: (path, options) =>
        call({ operation: 'watch', path, recursive: options?.recursive, signal: options?.signal }, async () => {
          const hints = await watch(toInner(path), options)
          const root = toInner(mountRoot)
          const outerOf = (at: MountPath): MountPath => (isWithin(at, root) ? toOuter(at) : mountRoot)
          const take = async () => {
            const taken = await hints.take()
            return taken && new Set([...taken].map(outerOf))
          }
          return { take, close: () => hints.close() }
        }),
    }),
    ...(hostPath && {
      hostPath: (path) => {
        const it: Call = { operation: 'hostPath', path }
        check(it)
        const run = (): HostPath => hostPath(toInner(path))
        return aroundHostPath === undefined ? run() : aroundHostPath(it, run)
      },
    }),
    ...(beginCommand && {
      beginCommand: async (options) => {
        const it: Call = { operation: 'beginCommand', path: mountRoot, signal: options?.signal }
        const end = await call(it, () => beginCommand(options))
        const root = toInner(mountRoot)
        return async () => mapNotes(await end(), (path) => (isWithin(path, root) ? toOuter(path) : undefined))
      },
    }),
    ...(createScratch && {
      createScratch: (options) =>
        call({ operation: 'createScratch', path: mountRoot, signal: options?.signal }, () => createScratch(options)),
    }),
    ...(createFork && {
      createFork: async (options) =>
        fork(
          await call({ operation: 'createFork', path: mountRoot, signal: options?.signal }, () => createFork(options)),
        ),
    }),
  }
  const methods: Record<string, unknown> = { ...special }
  for (const operation of optionalOperations) {
    const method = inner[operation]?.bind(inner) as ((...args: unknown[]) => Promise<unknown>) | undefined
    if (method === undefined || operation in special) continue
    methods[operation] = (path: MountPath, ...rest: unknown[]) =>
      call({ operation, path, signal: signalOf(rest.at(-1)) }, () => method(toInner(path), ...rest))
  }
  return methods
}

function signalOf(last: unknown): AbortSignal | undefined {
  return typeof last === 'object' ? (last as SignalOption | null)?.signal : undefined
}
