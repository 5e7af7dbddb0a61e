import { defineAdapter, type KeyValueStore, keyValueDriver } from '@ws/core/adapter'

import { testAdapter } from '../../src/vitest.ts'

function mapStore(): KeyValueStore {
  const values = new Map<string, Uint8Array>()
  return {
    get: (key) => values.get(key),
    set: (key, value) => values.set(key, value),
    delete: (key) => values.delete(key),
    keys: (prefix) => [...values.keys()].filter((key) => key.startsWith(prefix)),
  }
}

testAdapter({
  name: 'key-value',
  create: async () => ({ adapter: defineAdapter(keyValueDriver(mapStore())), secrets: [] }),
})
