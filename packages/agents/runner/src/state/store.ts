import { isWorkspaceError, paths, prefix } from '@ws/core'
import type { HostDirectory, StorageAdapter } from '@ws/core/adapter'
import { createObjectLeases, type ReplicatedPart } from '@ws/threads'

import { invalid } from '../errors.ts'
import { inReach } from './faults.ts'
import { refuseMounted } from './local.ts'
import { openObjectJournal } from './objects.ts'
import { stagingName, type RunState, type Staging } from './state.ts'

export interface StoreStateOptions {
  readonly trees?: readonly StorageAdapter[] | undefined
  readonly mounted?: readonly HostDirectory[] | undefined
  readonly replica?: ((part: ReplicatedPart) => StorageAdapter | Promise<StorageAdapter>) | undefined
  /** Milliseconds after which the lease of a dead process is free. Default 30,000. */
  readonly ttl?: number | undefined
}

/**
 * The state in a store, for any machine: `version.json`, the journal, `staging/` and `leases/`. The caller closes the adapter.
 * An adapter does not reveal its path, so the caller must place the state outside the trees of the steps.
 * @throws WorkspaceError `EINVAL` for a store without conditions, a store that steps see, or another version; `EIO` for a damaged journal
 */
export async function openStoreState(
  adapter: StorageAdapter,
  { trees = [], mounted = [], replica, ttl }: StoreStateOptions = {},
): Promise<RunState> {
  if (trees.includes(adapter)) throw inReach()
  const host = await adapter.hostDirectory?.(paths.mountRoot)
  if (host !== undefined) refuseMounted(host.path, mounted)
  if (adapter.capabilities.conditionalWrite !== 'server') {
    const reason = 'the store of the state checks no conditions between machines'
    throw invalid('openState', reason, 'give another store, or the path of a directory on a local disk')
  }
  const journal = await openObjectJournal(adapter)
  const leases = createObjectLeases({ adapter, directory: 'leases', ttl })
  const remove = (name: string): Promise<void> => adapter.delete(pathOf(name), { recursive: true, force: true })

  return {
    journal,
    leases,
    async openStaging(key, { fresh }): Promise<Staging> {
      const name = encodeURIComponent(stagingName(key))
      if (fresh) await remove(name)
      await adapter.createDirectory(pathOf(name), { recursive: true })
      const part = prefix(adapter, pathOf(name), { shared: true })
      const staging = (await replica?.({ store: part })) ?? part
      return { adapter: staging, close: () => staging.close() }
    },
    removeStaging: (key) => remove(encodeURIComponent(stagingName(key))),
    async sweep(keep) {
      const kept = new Set(keep.map((key) => encodeURIComponent(stagingName(key))))
      for (const name of await namesIn(adapter, '/staging')) if (!kept.has(name)) await remove(name)
    },
    close: () => leases.close(),
  }
}

const pathOf = (name: string) => paths.parseMount(`/staging/${name}`, 'openState')

async function namesIn(adapter: StorageAdapter, directory: string): Promise<string[]> {
  const names: string[] = []
  try {
    for await (const { name } of adapter.list(paths.parseMount(directory, 'openState'))) names.push(name)
  } catch (error) {
    if (!isWorkspaceError(error, 'ENOENT')) throw error
  }
  return names
}
