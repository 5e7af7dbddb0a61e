import { writeFileSync } from 'node:fs'

import type { StorageAdapter } from '@ws/core/adapter'
import { type ErrorCode, WorkspaceError } from '@ws/core'
import { expect, it, onTestFinished, vi } from 'vitest'

import { at, failureOf, filesOf, machineOf, ownDirectory, put, storeWithoutConditionalDelete } from './support/site.ts'

it('[RE3] a deletion that meets an edit keeps the edit, though the store ignores the condition', async () => {
  const store = storeWithoutConditionalDelete()
  await put(store, '/a.txt', 'base')
  await put(store, '/b.txt', 'base')
  const { replica } = await machineOf(store, { persist: 'flush' })
  await replica.delete(at('/a.txt'))
  await replica.delete(at('/b.txt'))
  await put(store, '/a.txt', 'edited by another')
  await replica.flush()
  expect(await filesOf(store)).toEqual({ '/a.txt': 'edited by another' })
  expect(await filesOf(replica)).toEqual({ '/a.txt': 'edited by another' })
})

/** A machine that has left a tombstone at `/a.txt`. `store.delete` fails until it is `remove` again. */
async function killedWhileDeleting() {
  const store = storeWithoutConditionalDelete()
  await put(store, '/a.txt', 'base')
  const one = await machineOf(store, { persist: 'flush' })
  const { delete: remove } = store
  store.delete = () => Promise.reject(new Error('killed here'))
  await one.replica.delete(at('/a.txt'))
  await failureOf(one.replica.flush() as Promise<void>)
  return { store, one, remove }
}

it('[RE4] a tombstone that a killed machine has left is nothing to others, and its machine finishes it', async () => {
  const { store, one, remove } = await killedWhileDeleting()
  const two = await machineOf(store, { persist: 'flush' })
  expect(await filesOf(two.replica)).toEqual({})
  await put(two.replica, '/a.txt', 'new')
  expect(await failureOf(two.replica.flush() as Promise<void>)).toMatchObject({ code: 'EBUSY', path: '/a.txt' })
  store.delete = remove
  await one.replica.flush()
  await two.replica.flush()
  await one.replica.refresh?.()
  for (const side of [store, one.replica, two.replica]) expect(await filesOf(side)).toEqual({ '/a.txt': 'new' })
})

it('[RE4] a tombstone of a machine that has vanished is deleted by another one, in time', async () => {
  const { store, remove } = await killedWhileDeleting()
  store.delete = remove
  const two = await machineOf(store, { persist: 'flush' })
  await two.replica.refresh?.()
  expect(Object.keys(await filesOf(store))).toEqual(['/a.txt'])
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 61_000)
  onTestFinished(() => clock.mockRestore())
  await two.replica.refresh?.()
  for (const side of [store, two.replica]) expect(await filesOf(side)).toEqual({})
})

it('[RE4] an edit that meets a tombstone waits for its end: commands say so, and the next opening works', async () => {
  const { store, remove } = await killedWhileDeleting()
  store.delete = remove
  const directory = `${await ownDirectory()}/r`
  const two = await machineOf(store, { directory })
  const end = await two.replica.beginCommand?.()
  writeFileSync(`${two.root}/a.txt`, 'new')
  const reason = expect.stringContaining('not in the store yet: it is being deleted in the store by another machine')
  expect(await end?.()).toEqual([{ path: '/a.txt', reason }])
  expect(await (await two.replica.beginCommand?.())?.()).toEqual([])
  expect(await failureOf(two.replica.close())).toMatchObject({ code: 'EBUSY', path: '/a.txt' })
  const again = await machineOf(store, { directory })
  expect(await filesOf(again.replica)).toEqual({ '/a.txt': 'new' })
  const now = performance.now.bind(performance)
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 61_000)
  onTestFinished(() => clock.mockRestore())
  await again.replica.flush()
  expect(await filesOf(store)).toEqual({ '/a.txt': 'new' })
})

it('[RE3] a machine without a directory of its own keeps such an edit under another name when it is closed', async () => {
  const { store, remove } = await killedWhileDeleting()
  store.delete = remove
  const two = await machineOf(store, { machine: 'two' })
  await failureOf(put(two.replica, '/a.txt', 'new'))
  await two.replica.close()
  const files = await filesOf(store)
  expect(Object.keys(files)).toEqual(['/a.txt', expect.stringMatching(/^\/a\.conflict-.*-two\.txt$/u)])
  expect(Object.values(files)).toContain('new')
})

it('[RE4] a tombstone that is older than clocks can differ is deleted at once', async () => {
  const { store, remove } = await killedWhileDeleting()
  store.delete = remove
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => new Date().getTime() + 3_700_000)
  onTestFinished(() => clock.mockRestore())
  const two = await machineOf(store)
  for (const side of [store, two.replica]) expect(await filesOf(side)).toEqual({})
})

/** The clock of this machine is so many milliseconds later from now on. */
function later(ms: number, clock: 'wall' | 'process'): void {
  const now = performance.now.bind(performance)
  const spy =
    clock === 'wall'
      ? vi.spyOn(Date, 'now').mockImplementation(() => new Date().getTime() + ms)
      : vi.spyOn(performance, 'now').mockImplementation(() => now() + ms)
  onTestFinished(() => spy.mockRestore())
}

it('[RE4] the one writer of a store finishes a deletion whose machine can do so no more', async () => {
  const { store, remove } = await killedWhileDeleting()
  store.delete = remove
  Object.assign(store, { isSole: true })
  const two = await machineOf(store)
  // its own clock may be the slower one
  expect(Object.keys(await filesOf(store))).toEqual(['/a.txt'])
  later(21_000, 'wall')
  await put(two.replica, '/a.txt', 'new')
  await two.replica.close()
  expect(await filesOf(store)).toEqual({ '/a.txt': 'new' })
  const three = await machineOf(store)
  expect(await filesOf(three.replica)).toEqual({ '/a.txt': 'new' })
})

it.each(['a new file', 'a file made after the pull'])('[RE3] %s survives the late deletion', async (what) => {
  const { store, remove } = await killedWhileDeleting()
  store.delete = remove
  Object.assign(store, { isSole: true })
  if (what === 'a new file') later(21_000, 'wall')
  const { replica } = await machineOf(store)
  if (what !== 'a new file') later(21_000, 'wall')
  await put(replica, '/a.txt', 'new')
  await remove.call(store, at('/a.txt'))
  await replica.refresh?.()
  await replica.flush()
  for (const side of [store, replica]) expect(await filesOf(side)).toEqual({ '/a.txt': 'new' })
  later(61_000, 'process')
  await remove.call(store, at('/a.txt'))
  await replica.refresh?.()
  await replica.flush()
  for (const side of [store, replica]) expect(await filesOf(side)).toEqual({})
})

/** The next calls of one operation fail. Answers how many were made. */
function failing(store: StorageAdapter, operation: 'read' | 'write', codes: readonly ErrorCode[]): () => number {
  const left = [...codes]
  const run = store[operation].bind(store) as (...given: unknown[]) => Promise<unknown>
  const fail = (...given: unknown[]): Promise<unknown> => {
    const code = left.shift()
    if (code === undefined) return run(...given)
    return Promise.reject(new WorkspaceError({ code, operation, reason: 'ran out meanwhile' }))
  }
  Object.assign(store, { [operation]: fail })
  return () => codes.length - left.length
}

it.each(['read', 'write'] as const)('[HO5] a pull whose %s fails for a moment names no entry', async (operation) => {
  for (const code of ['EIO', 'EBACKEND'] as const) {
    const { store, remove } = await killedWhileDeleting()
    store.delete = remove
    await put(store, '/other.txt', 'other')
    const two = await machineOf(store, { persist: 'flush' })
    later(61_000, 'process')
    await put(store, '/other.txt', 'changed')
    const count = failing(store, operation, [code])
    await two.replica.refresh?.()
    expect(count()).toBe(1)
    expect(two.replica.status().leftOut).toEqual([])
    expect(two.events).toEqual([])
    for (const side of [store, two.replica]) expect(await filesOf(side)).toEqual({ '/other.txt': 'changed' })
    vi.restoreAllMocks()
  }
})

it('[HO5] a pull of a store that is closed to this machine fails as a whole, and names no entry', async () => {
  const { store, remove } = await killedWhileDeleting()
  store.delete = remove
  const two = await machineOf(store, { persist: 'flush' })
  later(61_000, 'process')
  failing(store, 'write', ['ECLOSED'])
  expect(await failureOf(two.replica.refresh?.() as Promise<void>)).toMatchObject({ code: 'ECLOSED' })
  expect(two.replica.status().leftOut).toEqual([])
})

it('[RE4] a deletion that begins and fails waits for the next flush, which ends it', async () => {
  const { store, one, remove } = await killedWhileDeleting()
  expect(await failureOf(one.replica.flush() as Promise<void>)).toMatchObject({ code: 'EBUSY', path: '/a.txt' })
  expect(one.replica.status()).toMatchObject({ leftOut: [], dirty: ['/a.txt'] })
  store.delete = remove
  await one.replica.flush()
  expect(await filesOf(store)).toEqual({})
})
