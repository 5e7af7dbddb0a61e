import { isAbsolute } from 'node:path'

import type { Owner, StorageAdapter } from '@ws/core/adapter'
import { checkOptions, option, type OptionShapes, quietly } from '@ws/core/options'

import type { ReplicaEvent } from './contract.ts'

export interface ReplicaAdapterOptions {
  /**
   * The source of truth: an adapter with links and conditional writes, such as `createS3Adapter({ …, symlinks: 'rclonelink' })`.
   * If a function made the adapter, the replica closes the adapter.
   */
  readonly store: StorageAdapter | (() => StorageAdapter | Promise<StorageAdapter>)
  /**
   * An absolute path for this replica's files and state: missing, empty, or a replica of the same store. One process at a time.
   * Default: a scratch directory, removed by `close()`.
   */
  readonly directory?: string | undefined
  /**
   * `command` (default): commands and calls first pull the store's changes, and push their own before they end. Sessions push every second.
   * `flush`: `flush()`, `durable: true`, a pause of two seconds and `close()` push; opening and `refresh()` pull.
   */
  readonly persist?: 'command' | 'flush' | undefined
  /** The user that owns the files and runs commands. Default: this process's user; for root, uid and gid 1000. */
  readonly owner?: Owner | undefined
  /** The name of this machine in names of kept versions: 1 to 32 letters, digits or `-`. Default: random. */
  readonly machine?: string | undefined
  /** Limit of entries. A first copy above it is refused (`EDQUOT`); later entries above it are left out. Default 100,000. */
  readonly maxFiles?: number | undefined
  /** Limit of the bytes in the store. A first copy above it is refused (`EDQUOT`); later files above it are left out. Default 10 GiB. */
  readonly maxBytes?: number | undefined
  /** Limit of bytes in one file. A first copy with a larger file is refused (`EDQUOT`); later such files are left out. Default 5 GiB. */
  readonly maxFileBytes?: number | undefined
  /**
   * Names of trees that each machine makes for itself, such as `node_modules`: never sent or copied. Moved-in files leave the store. Default:
   * none.
   */
  readonly rebuild?: readonly string[] | undefined
  readonly onEvent?: ((event: ReplicaEvent) => void) | undefined
}

export interface CheckedOptions extends Pick<ReplicaAdapterOptions, 'store' | 'directory' | 'owner' | 'machine'> {
  readonly persist: 'command' | 'flush'
  readonly maxFiles: number
  readonly maxBytes: number
  readonly maxFileBytes: number
  readonly rebuild: readonly string[]
  readonly onEvent: (event: ReplicaEvent) => void
}

export const operation = 'createReplicaAdapter'
const highestId = 2 ** 32 - 2

const shapes: OptionShapes<ReplicaAdapterOptions> = {
  store: option.required(
    option.of('a storage adapter, or a function that makes one', (value) => {
      return typeof value === 'function' || option.adapter.accepts(value)
    }),
  ),
  directory: option.hidden(
    option.of(
      'an absolute path',
      (value) => typeof value === 'string' && isAbsolute(value) && !value.includes('\0') && value.isWellFormed(),
    ),
  ),
  persist: option.oneOf('command', 'flush'),
  owner: option.options<Owner>(
    {
      uid: option.required(option.integer(1, highestId)),
      gid: option.required(option.integer(0, highestId)),
    },
    '`{ uid, gid }` of an ordinary user',
  ),
  machine: option.of(
    '1 to 32 of letters, digits and `-`',
    (value) => typeof value === 'string' && /^[A-Za-z0-9-]{1,32}$/u.test(value),
  ),
  maxFiles: option.integer(1, Number.MAX_SAFE_INTEGER),
  maxBytes: option.integer(1, Number.MAX_SAFE_INTEGER),
  maxFileBytes: option.integer(1, Number.MAX_SAFE_INTEGER),
  rebuild: option.list(
    option.of(
      'a name such as `node_modules`',
      (value) => typeof value === 'string' && /^(?!\.{1,2}$)[^/\0]+$/u.test(value),
    ),
  ),
  onEvent: option.function,
}

export function checkReplicaOptions(options: ReplicaAdapterOptions): CheckedOptions {
  checkOptions<ReplicaAdapterOptions>(options, shapes, { operation })
  const { store, directory, owner, machine } = options
  return {
    ...{ store, directory, owner, machine },
    persist: options.persist ?? 'command',
    maxFiles: options.maxFiles ?? 100_000,
    maxBytes: options.maxBytes ?? 10 * 1024 ** 3,
    maxFileBytes: options.maxFileBytes ?? 5 * 1024 ** 3,
    rebuild: options.rebuild ?? [],
    onEvent: quietly(options.onEvent),
  }
}
