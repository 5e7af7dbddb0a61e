import type { StorageAdapter } from '@ws/core/adapter'

import { createObjectLeases } from './object.ts'
import { createProcessLeases } from './process.ts'
import type { LeaseStore } from './types.ts'

const ofProcess = new WeakMap<StorageAdapter, LeaseStore>()

/** The leases that fit a store; `undefined` for a store that can hold none. */
export function chooseLeases(adapter: StorageAdapter, control: string): LeaseStore | undefined {
  const { conditionalWrite, hostPath, flush, inProcess } = adapter.capabilities
  if (inProcess !== true) {
    if (conditionalWrite === 'server') return createObjectLeases({ adapter, directory: `${control}/threads` })
    if (flush) return undefined // a mount: each process has its own, and uploads later
    // they lie in the store: every process that opens the store finds them, under any user and environment
    if (hostPath) return createObjectLeases({ adapter, directory: `${control}/threads` })
  }
  if (conditionalWrite === 'none') return undefined
  const known = ofProcess.get(adapter) ?? createProcessLeases()
  ofProcess.set(adapter, known)
  return known
}
