import { describe, expect, it } from 'vitest'

import { paths } from '../../src/index.ts'
import { operations, wrapAdapter, type Call, type StorageAdapter } from '../../src/adapter.ts'
import { optionalOperations } from '../../src/contract/operations.ts'
import { stub } from './stub.ts'

const path = paths.parseMount('/a')
const { signal } = new AbortController()
const options = { signal }

/** Every operation that a layer reports, called with a signal. */
const calls: Readonly<Record<string, (adapter: StorageAdapter) => unknown>> = {
  stat: (adapter) => adapter.stat(path, options),
  read: (adapter) => adapter.read(path, options),
  readStream: (adapter) => adapter.readStream(path, options),
  write: (adapter) => adapter.write(path, new Uint8Array(), options),
  list: (adapter) => adapter.list(path, options).next(),
  createDirectory: (adapter) => adapter.createDirectory(path, options),
  delete: (adapter) => adapter.delete(path, options),
  move: (adapter) => adapter.move(path, paths.parseMount('/b'), options),
  copy: (adapter) => adapter.copy(path, paths.parseMount('/b'), options),
  append: (adapter) => adapter.append?.(path, new Uint8Array(), options),
  createSymlink: (adapter) => adapter.createSymlink?.(path, 'target', options),
  readSymlink: (adapter) => adapter.readSymlink?.(path, options),
  chmod: (adapter) => adapter.chmod?.(path, 0o600, options),
  utimes: (adapter) => adapter.utimes?.(path, { modifiedAt: 0 }, options),
  search: (adapter) => adapter.search?.({ in: path, pattern: 'x' }, options).next(),
  flush: (adapter) => adapter.flush?.(options),
  sync: (adapter) => adapter.sync?.(options),
  refresh: (adapter) => adapter.refresh?.(options),
  watch: (adapter) => adapter.watch?.(path, options),
  beginCommand: (adapter) => adapter.beginCommand?.(options),
  createScratch: (adapter) => adapter.createScratch?.(options),
  createFork: (adapter) => adapter.createFork?.(options),
}

describe('a layer', () => {
  const signalless = ['hostPath', 'hostDirectory', 'close']

  it.each(Object.keys(operations).filter((name) => !signalless.includes(name)))(
    'is given the signal of %s, so that it can wait',
    async (operation) => {
      const seen: Call[] = []
      const done = async (): Promise<never> => undefined as never
      const { adapter } = stub(Object.fromEntries(optionalOperations.map((name) => [name, done])))
      const layer = wrapAdapter(adapter, {
        name: 'layer',
        capabilities: adapter.capabilities,
        call: async (call) => {
          seen.push(call)
          return undefined as never
        },
        iterate: (call) => ({ before: () => void seen.push(call) }),
      })
      await Promise.resolve(calls[operation]?.(layer)).catch(() => undefined)
      expect(seen).toEqual([expect.objectContaining({ operation, signal })])
    },
  )
})
