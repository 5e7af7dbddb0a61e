import type { StorageAdapter } from '@ws/core/adapter'
import { mountRoot } from '@ws/core/adapter'

import { createMachineLeases } from './machine.ts'
import { createObjectLeases } from './object.ts'
import { createProcessLeases } from './process.ts'
import type { LeaseStore } from './types.ts'

const ofMemory = new WeakMap<StorageAdapter, LeaseStore>()

/** The leases that fit a store; `undefined` for a store that can hold none. */
export async function chooseLeases(adapter: StorageAdapter, control: string): Promise<LeaseStore | undefined> {
  const { conditionalWrite, hostPath, flush } = adapter.capabilities
  if (conditionalWrite === 'server') return createObjectLeases({ adapter, directory: `${control}/threads` })
  if (flush) return undefined // a mount: each process has its own, and uploads later
  if (hostPath) {
    const directory = await adapter.hostDirectory?.(mountRoot)
    return directory && createMachineLeases({ key: directory.identity.replaceAll(':', '-') })
  }
  if (conditionalWrite === 'none') return undefined
  const known = ofMemory.get(adapter) ?? createProcessLeases()
  ofMemory.set(adapter, known)
  return known
}
