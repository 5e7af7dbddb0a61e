import { expect, it, onTestFinished, vi } from 'vitest'

import { site } from './stale-site.ts'

it('[RP14] the old name of a file whose upload was called off goes', async () => {
  const { staleNames, settle, store, hold, stored } = await site()
  for (const name of ['old', 'gone']) {
    staleNames.noteQueue(name, 1_000)
    staleNames.noteEnd(name, true, 1_200)
  }
  staleNames.noteRename('old', 'new', 1_300)
  staleNames.noteDelete('gone', 1_300)
  for (const name of ['old', 'new', 'gone', 'other']) store(name, 'text')
  await hold('new', 'text')
  await settle(staleNames)
  expect([...stored.keys()]).toEqual(['new', 'other'])
  expect(staleNames.isEmpty).toBe(true)
})

it('[RP14] what was uploaded under its old name is given its new one, whichever is told of first', async () => {
  for (const isRenameFirst of [true, false]) {
    const { staleNames, settle, store, hold, stored } = await site()
    staleNames.noteQueue('old', 1_000)
    if (isRenameFirst) staleNames.noteRename('old', 'new', 1_200)
    staleNames.noteEnd('old', false, 1_200)
    if (!isRenameFirst) staleNames.noteRename('old', 'new', 1_200)
    store('old', 'text')
    await hold('new', 'text')
    await settle(staleNames)
    expect([...stored]).toMatchObject([['new', { text: 'copy of new' }]])
  }
})

it('[RP14] what rclone goes on uploading under another name gets its own, and the other its own again', async () => {
  const { staleNames, settle, store, hold, stored } = await site()
  staleNames.noteMisplaced('mine', 'theirs')
  store('theirs', 'mine')
  await hold('mine', 'mine')
  await hold('theirs', 'theirs')
  await settle(staleNames)
  expect([...stored]).toMatchObject([
    ['theirs', { text: 'copy of theirs' }],
    ['mine', { text: 'copy of mine' }],
  ])
})

it('[RP14] a file has its content that was uploaded while rclone moved its object, however long that took', async () => {
  const { staleNames, settle, store, hold, texts } = await site()
  staleNames.noteQueue('a', 1_000)
  staleNames.noteCopied('a', 'b')
  staleNames.noteEnd('a', false, 2_000)
  staleNames.noteRename('a', 'b', 60_000)
  store('b', 'earlier')
  await hold('b', 'text')
  await settle(staleNames)
  expect(texts()).toEqual({ b: 'copy of b' })
})

it('[RP14] a file that is renamed once more gets its last name', async () => {
  const { staleNames, settle, store, hold, texts } = await site()
  staleNames.noteMisplaced('mine', 'theirs')
  staleNames.noteRename('mine', 'last', 5_000)
  store('theirs', 'mine')
  for (const name of ['last', 'theirs']) await hold(name, name)
  await settle(staleNames)
  expect(texts()).toEqual({ last: 'copy of last', theirs: 'copy of theirs' })
})

it('[RP14] what the store took of a name goes, though the name had a file again for a moment', async () => {
  const { staleNames, settle, store, stored } = await site()
  staleNames.noteQueue('name', 1_000)
  staleNames.noteDelete('name', 1_200)
  staleNames.noteQueue('name', 2_000)
  staleNames.noteDelete('name', 2_050)
  store('name', 'text')
  await settle(staleNames)
  expect([...stored.keys()]).toEqual([])
})

it('[RP14] what a file replaced that goes before its upload does not come back; another process knows of it too', async () => {
  const { staleNames, settle, store, stored, again } = await site()
  staleNames.noteRename('made-beside', 'replaced', 1_000)
  staleNames.noteDelete('replaced', 1_000)
  store('replaced', 'before')
  await settle(again())
  expect([...stored.keys()]).toEqual([])
  expect(again().isEmpty).toBe(true)
})

it('names that have a file again are left alone, and what others wrote later', async () => {
  const { staleNames, settle, store, stored, again } = await site()
  for (const name of ['again', 'moved-here', 'theirs']) {
    staleNames.noteQueue(name, 1_000)
    staleNames.noteDelete(name, 1_200)
  }
  staleNames.noteMade('again')
  staleNames.noteRename('elsewhere', 'moved-here', 1_000)
  for (const name of ['again', 'moved-here']) store(name, 'new')
  store('theirs', 'later', Date.now() + 60_000)
  await settle(again())
  await settle(staleNames)
  expect([...stored.keys()]).toEqual(['again', 'moved-here', 'theirs'])
})

it('files that are uploaded, renamed or deleted one after the other are nobody’s business', async () => {
  const { staleNames } = await site()
  staleNames.noteRename('a', 'b', 1_000)
  staleNames.noteEnd('b', false, 1_100)
  staleNames.noteDelete('b', 3_000)
  staleNames.noteQueue('c', 1_000)
  staleNames.noteEnd('c', false, 1_200)
  staleNames.noteDelete('c', 3_000)
  expect(staleNames.isEmpty).toBe(true)
})

it('files that go before their upload may begin are nobody’s business', async () => {
  const { staleNames } = await site()
  staleNames.noteQueue('deleted', 1_000)
  staleNames.noteDelete('deleted', 1_050)
  staleNames.noteQueue('temporary', 1_000)
  staleNames.noteRename('temporary', 'real', 1_050)
  expect(staleNames.isEmpty).toBe(true)
})

it('[RP14] the old name of a file goes whose upload failed or has not reported its end', async () => {
  const { staleNames, settle, store, hold, stored } = await site()
  staleNames.noteQueue('old', 1_000)
  staleNames.noteRename('old', 'new', 5_000)
  staleNames.noteLeftover('left')
  staleNames.noteDelete('left', 5_000)
  for (const name of ['old', 'new', 'left']) store(name, 'text')
  await hold('new', 'text')
  await settle(staleNames)
  expect([...stored.keys()]).toEqual(['new'])
})

it('[RP14] what the store took long after its file had gone is removed as well', async () => {
  const { staleNames, settle, store, stored } = await site()
  staleNames.noteQueue('late', 1_000)
  staleNames.noteDelete('late', 1_200)
  vi.useFakeTimers({ now: Date.now() + 60_000, toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  staleNames.noteEnd('late', true, 61_200)
  store('late', 'text')
  await settle(staleNames)
  expect([...stored.keys()]).toEqual([])
})

it('[RP14] the old name goes of a file whose upload ended late, and noted what it knew of it', async () => {
  const { staleNames, settle, store, note, stored } = await site()
  staleNames.noteQueue('late', 1_000)
  staleNames.noteDelete('late', 1_200)
  await note('late')
  store('late', 'text')
  await settle(staleNames)
  expect([...stored.keys()]).toEqual([])
})

it('[RP14] what the store takes after a look is found by the next one: names are settled when a look finds none', async () => {
  const { staleNames, settle, store, stored } = await site()
  for (const name of ['first', 'second']) {
    staleNames.noteQueue(name, 1_000)
    staleNames.noteDelete(name, 1_200)
  }
  let looks = 0
  await settle(staleNames, () => {
    looks += 1
    if (looks === 1) store('first', 'text')
    if (looks === 2) store('second', 'text')
  })
  expect([...stored.keys()]).toEqual([])
  expect(looks).toBeGreaterThan(2)
  expect(staleNames.isEmpty).toBe(true)
})

it('[RP14] a store that goes on taking what was called off is never said to be flushed, and asked again the next time', async () => {
  const { staleNames, settle, store, stored } = await site()
  staleNames.noteQueue('name', 1_000)
  staleNames.noteDelete('name', 1_200)
  await expect(settle(staleNames, () => store('name', 'text'))).rejects.toMatchObject({ code: 'ETIMEDOUT' })
  expect(staleNames.isEmpty).toBe(false)
  store('name', 'text')
  await settle(staleNames)
  expect([...stored.keys()]).toEqual([])
})

it('[RP14] a file goes from the store that went while a flush had its upload begin before its time', async () => {
  const { staleNames, settle, store, stored } = await site()
  staleNames.noteQueue('hurried', 1_000)
  staleNames.noteHurry()
  staleNames.noteDelete('hurried', 1_010)
  store('hurried', 'text')
  await settle(staleNames)
  expect([...stored.keys()]).toEqual([])
})

it('[HO5] an object is left alone whose name reads as that of a file with bytes that are not UTF-8', async () => {
  const { staleNames, settle, store, stored } = await site()
  staleNames.noteQueue('f\uFFFD', 1_000)
  staleNames.noteEnd('f\uFFFD', true, 1_200)
  staleNames.noteDelete('f\uFFFD', 1_300)
  store('f\uFFFD', "another file's")
  await settle(staleNames)
  expect([...stored.keys()]).toEqual(['f\uFFFD'])
})
