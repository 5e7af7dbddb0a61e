import { keyValueDriver, type AdapterCapabilities, type Driver } from '../../src/adapter.ts'
import type { Stat } from '../../src/index.ts'

const nothing = { get: () => undefined, set: () => undefined, delete: () => undefined, keys: () => [] }

export const file: Stat = { type: 'file', size: 3, version: 'v1' }

/** A driver with the methods that a test gives it; every other method fails. */
export function driverOf(methods: Partial<Driver> = {}, capabilities: Partial<AdapterCapabilities> = {}): Driver {
  const refuse = (): Promise<never> => Promise.reject(new Error('not expected'))
  return {
    name: 'odd',
    capabilities: { ...keyValueDriver(nothing).capabilities, ...capabilities },
    stat: refuse,
    read: refuse,
    write: refuse,
    list: async function* () {
      yield* []
      return undefined
    },
    createDirectory: refuse,
    delete: refuse,
    move: refuse,
    copy: refuse,
    ...methods,
  }
}
