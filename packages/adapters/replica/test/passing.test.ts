import { rmSync, symlinkSync, writeFileSync } from 'node:fs'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { WorkspaceError } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { expect, it, onTestFinished, vi } from 'vitest'

import { at, filesOf, machineOf, put } from './support/site.ts'

/** Fails once for each entry, as where a lease ran out for a moment: the next request is answered. */
function failOnce(store: StorageAdapter, operations: readonly ('read' | 'write' | 'delete' | 'createSymlink')[]): void {
  for (const operation of operations) {
    const run = store[operation]?.bind(store) as (...given: unknown[]) => Promise<unknown>
    const met = new Set<unknown>()
    const failing = (...given: unknown[]): Promise<unknown> => {
      if (met.has(given[0])) return run(...given)
      met.add(given[0])
      const reason = 'has a lease about which the store gave no answer'
      return Promise.reject(new WorkspaceError({ code: 'EBACKEND', operation: 'lease', reason, remedy: 'try again' }))
    }
    Object.assign(store, { [operation]: failing })
  }
}

it('[RE4] a fault of a moment is no refusal: every entry of a push arrives', async () => {
  const store = createMemoryAdapter({ files: { '/gone': 'gone' } })
  const { replica, root, events } = await machineOf(store, { persist: 'flush' })
  failOnce(store, ['write', 'delete', 'createSymlink'])
  for (const name of ['a', 'b'.repeat(40)]) writeFileSync(`${root}/${name}`, name)
  symlinkSync('a', `${root}/link`)
  rmSync(`${root}/gone`)
  await replica.flush()
  expect(await filesOf(store)).toEqual({ '/a': 'a', [`/${'b'.repeat(40)}`]: 'b'.repeat(40), '/link': '-> a' })
  expect([events, replica.status().leftOut]).toEqual([[], []])
})

it('[RE4] a fault of a moment is no refusal: every entry of a pull arrives', async () => {
  const store = createMemoryAdapter({ files: { '/a': 'a', '/gone': 'gone' } })
  const { replica, events } = await machineOf(store)
  await put(store, '/a', 'new')
  await put(store, '/b', 'b')
  await store.delete(at('/gone'))
  failOnce(store, ['read'])
  const end = await replica.beginCommand?.()
  expect(await end?.()).toEqual([])
  expect(await filesOf(replica)).toEqual({ '/a': 'new', '/b': 'b' })
  expect(events).toEqual([])
})

it('[RE2] two seconds of quiet push nothing while a command runs that has begun meanwhile', async () => {
  const store = createMemoryAdapter()
  const { replica } = await machineOf(store, { persist: 'flush' })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  await put(replica, '/a', 'a')
  const end = await replica.beginCommand?.()
  vi.advanceTimersByTime(5_000)
  await replica.refresh?.() // after all that has begun
  expect(await filesOf(store)).toEqual({})
  await end?.()
  vi.advanceTimersByTime(5_000)
  vi.useRealTimers()
  await vi.waitUntil(async () => '/a' in (await filesOf(store)), { timeout: 20_000 })
})
