import { writeFileSync } from 'node:fs'

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
