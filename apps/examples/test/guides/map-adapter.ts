import { defineAdapter, keyValueDriver, type StorageAdapter } from '@ws/core/adapter'

/** Files in a `Map`. */
export function createMapAdapter(): StorageAdapter {
  const values = new Map<string, Uint8Array>()
  const store = {
    get: (key: string) => values.get(key),
    set: (key: string, value: Uint8Array) => values.set(key, value),
    delete: (key: string) => values.delete(key),
    keys: (prefix: string) => [...values.keys()].filter((key) => key.startsWith(prefix)),
  }
  return defineAdapter(keyValueDriver(store, { name: 'map' }))
}
