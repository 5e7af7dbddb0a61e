import { createMemoryAdapter } from '@ws/adapter-memory'
import type { StorageAdapter } from '@ws/core/adapter'

import type { ReplicaAdapter } from '../../src/index.ts'
import { expectInStep, filesOf, machineOf } from './site.ts'

/** Two machines on one store, in which nothing is pushed or pulled unless the test says so. */
export async function pair(files: Record<string, string> = {}) {
  const store = createMemoryAdapter({ files })
  const one = await machineOf(store, { persist: 'flush', machine: 'one' })
  const two = await machineOf(store, { persist: 'flush', machine: 'two' })
  return { store, one, two }
}

export const sync = async (replica: ReplicaAdapter): Promise<void> => {
  await replica.flush().catch(() => undefined)
  await replica.refresh?.()
}

/** Both have what the store has. */
export async function expectSame(
  store: StorageAdapter,
  ...replicas: readonly ReplicaAdapter[]
): Promise<Record<string, string>> {
  const files = await filesOf(store)
  for (const replica of replicas) await expectInStep(replica, files)
  return files
}
