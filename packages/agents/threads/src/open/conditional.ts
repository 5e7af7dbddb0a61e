import { isWorkspaceError, type Stat, type TransferResult, type Version, type WriteResult } from '@ws/core'
import type { Condition, MountPath, SignalOption, StorageAdapter, AdapterOptions } from '@ws/core/adapter'

import { KnownFiles } from './known-files.ts'

const attempts = 3

/** Makes each change of a file conditional on the version that the writer knows. */
export function conditional(layer: StorageAdapter, directories: ReadonlySet<string> = new Set()): StorageAdapter {
  const { conditionalDelete, conditionalMove } = layer.capabilities
  const known = new KnownFiles()
  const learn = (path: MountPath, { type, version }: Pick<Stat, 'type' | 'version'>): void =>
    known.set(path, type === 'file' ? version : undefined)
  const noteMissing = (path: MountPath, error: unknown): never => {
    known.set(path, isWorkspaceError(error, 'ENOENT') ? 'absent' : undefined)
    throw error
  }
  const look = async (path: MountPath, { signal }: SignalOption): Promise<Condition | undefined> => {
    await adapter.stat(path, { signal }).catch((error: unknown) => {
      if (!isWorkspaceError(error, 'ENOENT')) throw error
    })
    return known.get(path)
  }
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
        // assume a new file, the most frequent case; a stream can be read only once
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
    options: AdapterOptions.Copy = {},
  ): Promise<TransferResult> => {
    const run = (more: AdapterOptions.Copy): Promise<TransferResult> =>
      layer[operation](source, destination, { ...options, ...more })
    const [from, to] = [versionIn(known.get(source)), known.get(destination)]
    if (operation === 'move') known.forget(source)
    known.forget(destination)
    // without `overwrite` the store refuses an existing destination
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
  readonly guess: boolean
  readonly once: boolean
  readonly run: (ifVersion: Condition | undefined) => Promise<WriteResult>
}

function versionIn(condition: Condition | undefined) {
  return condition === 'absent' ? undefined : condition
}
