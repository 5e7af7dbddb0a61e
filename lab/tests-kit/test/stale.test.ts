import { createMemoryAdapter } from '@ws/adapter-memory'
import { type ReadResult, prefix } from '@ws/core'
import type { MountPath, StorageAdapter } from '@ws/core/adapter'
import { expect, it } from 'vitest'
import { collectTests, testCoherence, type CoherenceFixture } from '@ws/conformance'

/** The suite's tests on two views of one memory, the second of them changed. */
async function outcomes(change: (view: StorageAdapter) => CoherenceFixture['one']) {
  const create = () => {
    const memory = createMemoryAdapter()
    const view = (): StorageAdapter => prefix(memory, '/', { shared: true })
    return { one: { adapter: view() }, other: change(view()), dispose: () => memory.close() }
  }
  const tests = collectTests((runner) => testCoherence({ name: 'x', create }, runner))
  return await Promise.all(tests.map((test) => test.run()))
}

/** Remembers each read until it is asked to forget. */
function remembering(adapter: StorageAdapter, maxStaleness: number): CoherenceFixture['one'] {
  const known = new Map<MountPath, ReadResult>()
  const read: StorageAdapter['read'] = async (path, options) => {
    const result = known.get(path) ?? (await adapter.read(path, options))
    known.set(path, result)
    return result
  }
  const write: StorageAdapter['write'] = async (path, data, options) => {
    known.delete(path)
    return await adapter.write(path, data, options)
  }
  const capabilities = { ...adapter.capabilities, maxStaleness }
  return {
    adapter: Object.assign(Object.create(adapter) as StorageAdapter, { read, write, capabilities }),
    refresh: async () => known.clear(),
  }
}

it('two views of one memory are coherent', async () => {
  expect((await outcomes((adapter) => ({ adapter }))).map(({ state }) => state)).toEqual(Array(6).fill('passed'))
})

it('an adapter that is stale for longer than it says is caught', async () => {
  const failed = (await outcomes((adapter) => remembering(adapter, 0))).filter(({ state }) => state === 'failed')
  expect(failed.map(({ title }) => title)).toEqual([
    'coherence: x › a change is seen within the declared staleness, without a refresh, from one to the other',
  ])
}, 20_000)

it('an adapter whose refresh does nothing is caught', async () => {
  const dull = (adapter: StorageAdapter): CoherenceFixture['one'] => ({
    ...remembering(adapter, 0),
    refresh: async () => undefined,
  })
  const failed = (await outcomes(dull)).filter(({ state }) => state === 'failed')
  expect(failed.map(({ title }) => title)).toContain(
    'coherence: x › after flush and refresh both agree byte for byte, from one to the other',
  )
}, 20_000)
