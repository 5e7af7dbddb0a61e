import {
  isWorkspaceError,
  WorkspaceError,
  type Stat,
  type TransferResult,
  type Version,
  type WriteResult,
} from '@ws/core'
import {
  askingSignal,
  askingToo,
  operations,
  wrapAdapter,
  type AdapterOperation,
  type Condition,
  type CopyOptions,
  type MountPath,
  type SignalOption,
  type StorageAdapter,
} from '@ws/core/adapter'

import type { Lease } from '../lease/types.ts'
import { KnownFiles } from './known-files.ts'

/** How often a change is tried whose condition failed, since another program changed the file meanwhile. */
const attempts = 3

export interface Fence {
  readonly lease: Lease | undefined
  readonly onChange: () => void
  /** Directories that exist, and that callers cannot remove through the thread: looking at them would cost requests. */
  readonly directories?: ReadonlySet<string> | undefined
  /** Called after a flush, with its error where it failed. */
  readonly onFlush: (...error: [] | [unknown]) => void
}

/**
 * The store as the one writer of a tree sees it. Without the lease operations are refused, and running ones get the
 * loss as their signal, which asks the lease before each request: a stopped process learns of the loss too late.
 *
 * Where the store checks conditions, a change gets the version that the writer knows. So a request that was sent
 * before a pause of this machine fails where a successor has written.
 */
export function fence(store: StorageAdapter, { lease, onChange, onFlush, directories }: Fence): StorageAdapter {
  const layer = wrapAdapter(lease === undefined ? store : asking(store, lease), {
    name: store.name,
    capabilities: store.capabilities,
    shared: true,
    async call({ operation, path }, run) {
      if (operations[operation].changes) onChange()
      if (lease !== undefined && !lease.isHeld()) throw lostError(operation, path, 'was not touched')
      try {
        const result = await run()
        if (operation === 'flush') onFlush()
        return result
      } catch (error) {
        if (operation === 'flush') onFlush(error)
        if (error === lease?.lost.reason) throw lostError(operation, path, 'may have been changed, or not')
        throw error
      }
    },
  })
  return lease === undefined || store.capabilities.conditionalWrite !== 'server'
    ? layer
    : conditional(layer, directories)
}

function lostError(operation: string, path: MountPath, state: string): WorkspaceError {
  return new WorkspaceError({
    code: 'ECLOSED',
    operation,
    path,
    reason: `${state}: this process has the right to change the thread no more`,
    remedy: 'open the thread again, and look at what it holds now',
  })
}

/** The position of the options among the arguments of an operation. */
const optionsAt: { readonly [Name in AdapterOperation]?: number } = {
  stat: 1,
  read: 1,
  readStream: 1,
  readSymlink: 1,
  list: 1,
  search: 1,
  write: 2,
  append: 2,
  createDirectory: 1,
  createSymlink: 2,
  chmod: 2,
  utimes: 2,
  delete: 1,
  move: 2,
  copy: 2,
  flush: 0,
  sync: 0,
  refresh: 0,
}

function asking(store: StorageAdapter, lease: Lease): StorageAdapter {
  const own = askingSignal(AbortSignal.any([lease.lost]), () => void lease.isHeld())
  const signalOf = (given: AbortSignal | undefined): AbortSignal =>
    given === undefined ? own : askingToo(AbortSignal.any([lease.lost, given]), own)
  const methods: Record<string, unknown> = {}
  for (const operation of Object.keys(operations) as AdapterOperation[]) {
    const method = store[operation]?.bind(store) as ((...args: unknown[]) => unknown) | undefined
    if (method === undefined) continue
    const at = optionsAt[operation]
    methods[operation] =
      at === undefined
        ? method
        : (...args: unknown[]) => {
            const options = (args[at] ?? {}) as SignalOption
            args[at] = { ...options, signal: signalOf(options.signal) }
            return method(...args)
          }
  }
  const { name, capabilities, identity } = store
  return { name, capabilities, identity, ...methods } as unknown as StorageAdapter
}

/** Gives each change of a file the condition that it is as the writer knows it. */
function conditional(layer: StorageAdapter, directories: ReadonlySet<string> = new Set()): StorageAdapter {
  const { conditionalDelete, conditionalMove } = layer.capabilities
  const known = new KnownFiles()
  const learn = (path: MountPath, { type, version }: Pick<Stat, 'type' | 'version'>): void =>
    known.set(path, type === 'file' ? version : undefined)
  const noteMissing = (path: MountPath, error: unknown): never => {
    known.set(path, isWorkspaceError(error, 'ENOENT') ? 'absent' : undefined)
    throw error
  }
  /** The state of the file now; `undefined` for another entry, which the change itself meets. */
  const look = async (path: MountPath, { signal }: SignalOption): Promise<Condition | undefined> => {
    await adapter.stat(path, { signal }).catch((error: unknown) => {
      if (!isWorkspaceError(error, 'ENOENT')) throw error
    })
    return known.get(path)
  }
  /** Tries a change on the condition of the known version, then of the present version. */
  const change = async (
    path: MountPath,
    options: SignalOption,
    { guess, once, run }: ChangeOf,
  ): Promise<WriteResult> => {
    for (let attempt = 1; ; attempt++) {
      const ifVersion = known.get(path) ?? (attempt === 1 && guess ? 'absent' : await look(path, options))
      try {
        const result = await run(ifVersion)
        known.set(path, result.version)
        return result
      } catch (error) {
        known.set(path, undefined)
        if (!isWorkspaceError(error, 'ECONFLICT') || attempt === attempts || once) throw error
      }
    }
  }
  const adapter: StorageAdapter = {
    ...layer,
    async stat(path, options) {
      if (directories.has(path)) return { type: 'directory', size: 0, version: '' as Version }
      const found = await layer.stat(path, options).catch((error: unknown) => noteMissing(path, error))
      learn(path, found)
      return found
    },
    async read(path, options) {
      const result = await layer.read(path, options).catch((error: unknown) => noteMissing(path, error))
      learn(path, result.stat)
      return result
    },
    async write(path, data, options = {}) {
      const isBytes = data instanceof Uint8Array
      if (options.ifVersion === undefined) {
        const run = (ifVersion: Condition | undefined) => layer.write(path, data, { ...options, ifVersion })
        // a new file is the most frequent; a stream can be read once
        return change(path, options, { guess: isBytes, once: !isBytes, run })
      }
      known.set(path, undefined)
      const result = await layer.write(path, data, options)
      known.set(path, result.version)
      return result
    },
    async delete(path, options = {}) {
      const version = known.get(path)
      known.forget(path)
      const isFile = version !== undefined && version !== 'absent' && options.ifVersion === undefined
      if (!isFile || conditionalDelete !== 'server') return layer.delete(path, options)
      try {
        await layer.delete(path, { ...options, ifVersion: version })
      } catch (error) {
        if (!isWorkspaceError(error, 'ECONFLICT')) throw error
        const ifVersion = await look(path, options)
        known.forget(path)
        await layer.delete(
          path,
          ifVersion === undefined || ifVersion === 'absent' ? options : { ...options, ifVersion },
        )
      }
    },
    move: (source, destination, options) => transfer('move', source, destination, options),
    copy: (source, destination, options) => transfer('copy', source, destination, options),
  }
  const transfer = async (
    operation: 'move' | 'copy',
    source: MountPath,
    destination: MountPath,
    options: CopyOptions = {},
  ): Promise<TransferResult> => {
    const run = (more: CopyOptions): Promise<TransferResult> =>
      layer[operation](source, destination, { ...options, ...more })
    const [from, to] = [versionIn(known.get(source)), known.get(destination)]
    if (operation === 'move') known.forget(source)
    known.forget(destination)
    // without `overwrite` the store refuses a destination that is there
    const ifDestination = options.overwrite === true ? to : undefined
    const isPlain = options.ifSource === undefined && options.ifDestination === undefined
    if (!isPlain || conditionalMove !== 'server' || from === undefined) return run({})
    try {
      return await run({ ifSource: from, ifDestination })
    } catch (error) {
      if (!isWorkspaceError(error, 'ECONFLICT')) throw error
      return run({ ifSource: versionIn(await look(source, options)) })
    }
  }
  if (layer.append !== undefined) {
    const append = layer.append.bind(layer)
    adapter.append = (path, data, options = {}) => {
      if (options.ifVersion !== undefined) {
        known.set(path, undefined)
        return append(path, data, options)
      }
      return change(path, options, {
        guess: false,
        once: false,
        run: (ifVersion) => append(path, data, { ...options, ifVersion }),
      })
    }
  }
  return adapter
}

interface ChangeOf {
  /** Nothing is known: take the file for a new one. */
  readonly guess: boolean
  readonly once: boolean
  readonly run: (ifVersion: Condition | undefined) => Promise<WriteResult>
}

function versionIn(condition: Condition | undefined) {
  return condition === 'absent' ? undefined : condition
}
