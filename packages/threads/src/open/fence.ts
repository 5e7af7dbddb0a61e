import { isWorkspaceError, type WriteResult } from '@ws/core'
import {
  operations,
  wrapAdapter,
  type Condition,
  type MountPath,
  type StorageAdapter,
  type WriteData,
  type WriteOptions,
} from '@ws/core/adapter'

import { lostError } from '../lease/errors.ts'
import type { Lease } from '../lease/types.ts'

/** How often a write is tried whose condition failed, since somebody outside changed the file meanwhile. */
const attempts = 3

export interface Fence {
  readonly lease: Lease | undefined
  /** Called before each change. */
  readonly onChange: () => void
}

/**
 * The tree of a thread as its one writer sees it. Each change is refused once the lease is gone.
 *
 * Where the store itself checks conditions, a write without one is given the version that the file has now. So a write
 * that was sent before a pause of this machine fails where a successor has written.
 */
export function fence(adapter: StorageAdapter, { lease, onChange }: Fence): StorageAdapter {
  const admit = (): void => {
    onChange()
    // asked at each change, since a paused process hears of the loss too late
    if (lease !== undefined && !lease.isHeld()) throw lostError(lease.name)
  }
  const layer = wrapAdapter(adapter, {
    name: adapter.name,
    capabilities: adapter.capabilities,
    async call({ operation }, run) {
      if (operations[operation].changes) admit()
      return run()
    },
  })
  if (lease === undefined || adapter.capabilities.conditionalWrite !== 'server') return layer
  const write = async (path: MountPath, data: WriteData, options: WriteOptions = {}): Promise<WriteResult> => {
    if (options.ifVersion !== undefined) return layer.write(path, data, options)
    // a stream can be read once
    const last = data instanceof Uint8Array ? attempts : 1
    for (let attempt = 1; ; attempt++) {
      const ifVersion = await conditionOf(adapter, path, options.signal)
      try {
        return await layer.write(path, data, { ...options, ifVersion })
      } catch (error) {
        if (!isWorkspaceError(error, 'ECONFLICT') || attempt === last) throw error
      }
    }
  }
  return { ...layer, write }
}

/** The state of the file now; `undefined` for another entry, which the write itself meets. */
async function conditionOf(
  adapter: StorageAdapter,
  path: MountPath,
  signal: AbortSignal | undefined,
): Promise<Condition | undefined> {
  try {
    const { type, version } = await adapter.stat(path, { signal })
    return type === 'file' ? version : undefined
  } catch (error) {
    return isWorkspaceError(error, 'ENOENT') ? 'absent' : undefined
  }
}
