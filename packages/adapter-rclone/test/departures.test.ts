import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { Departures } from '../src/cache/departures.ts'
import { fakeControl } from './fake-control.ts'
import { scratch } from './support.ts'

const md5 = (text: string): string => createHash('md5').update(text).digest('hex')

/** A cache, and a store that knows of each object its text and time. */
async function site() {
  const cache = await scratch()
  const metadata = join(cache, 'vfsMeta')
  const content = join(cache, 'vfs')
  await mkdir(metadata)
  await mkdir(content)
  const stored = new Map<string, { text: string; time: number }>()
  const { control } = await fakeControl((command, { remote, srcRemote, dstRemote }) => {
    if (command === 'operations/stat') {
      const found = stored.get(String(remote))
      const item = found && { Hashes: { md5: md5(found.text) }, ModTime: new Date(found.time).toISOString() }
      return { item: item ?? null }
    }
    if (command === 'operations/deletefile') stored.delete(String(remote))
    if (command === 'operations/copyfile') {
      stored.set(String(dstRemote), { text: `copy of ${String(srcRemote)}`, time: Date.now() })
    }
    return {}
  })
  const part = { control, fs: 'store:', metadata, content }
  return {
    stored,
    departures: new Departures(cache),
    settle: (departures: Departures) => departures.settle(part),
    again: () => new Departures(cache),
    store: (name: string, text: string, time = Date.now()) => void stored.set(name, { text, time }),
    /** Has the cache hold a file that it says is uploaded. */
    async hold(name: string, text: string): Promise<void> {
      await writeFile(join(content, name), text)
      const info = {
        ModTime: '2026-01-01T00:00:00.5Z',
        Size: text.length,
        Rs: [{ Pos: 0, Size: text.length }],
        Fingerprint: `${text.length},${md5(text)}`,
        Dirty: false,
      }
      await writeFile(join(metadata, name), JSON.stringify(info))
    },
  }
}

it('[RP14] the old name of a file whose upload was called off goes', async () => {
  const { departures, settle, store, hold, stored } = await site()
  departures.noteEnd('old', true)
  departures.noteRename('old', 'new')
  departures.noteEnd('gone', true)
  departures.noteDelete('gone')
  for (const name of ['old', 'new', 'gone', 'other']) store(name, 'text')
  await hold('new', 'text')
  await settle(departures)
  expect([...stored.keys()]).toEqual(['new', 'other'])
  expect(departures.isEmpty).toBe(true)
})

it('[RP14] what was uploaded under its old name is given its new one, whichever is told of first', async () => {
  for (const isRenameFirst of [true, false]) {
    const { departures, settle, store, hold, stored } = await site()
    if (isRenameFirst) departures.noteRename('old', 'new')
    departures.noteEnd('old', false)
    if (!isRenameFirst) departures.noteRename('old', 'new')
    store('old', 'text')
    await hold('new', 'text')
    await settle(departures)
    expect([...stored]).toMatchObject([['new', { text: 'copy of new' }]])
  }
})

it('[RP14] what rclone goes on uploading under another name gets its own, and the other its own again', async () => {
  const { departures, settle, store, hold, stored } = await site()
  departures.noteMisplaced('mine', 'theirs')
  store('theirs', 'mine')
  await hold('mine', 'mine')
  await hold('theirs', 'theirs')
  await settle(departures)
  expect([...stored]).toMatchObject([
    ['theirs', { text: 'copy of theirs' }],
    ['mine', { text: 'copy of mine' }],
  ])
})

it('[RP14] what a file replaced that goes before its upload does not come back; another process knows of it too', async () => {
  const { departures, settle, store, stored, again } = await site()
  departures.noteRename('made-beside', 'replaced')
  departures.noteDelete('replaced')
  store('replaced', 'before')
  await settle(again())
  expect([...stored.keys()]).toEqual([])
  expect(again().isEmpty).toBe(true)
})

it('names that have a file again are left alone, and what others wrote later', async () => {
  const { departures, settle, store, stored, again } = await site()
  for (const name of ['again', 'moved-here', 'theirs']) {
    departures.noteEnd(name, true)
    departures.noteDelete(name)
  }
  departures.noteMade('again')
  departures.noteRename('elsewhere', 'moved-here')
  for (const name of ['again', 'moved-here']) store(name, 'new')
  store('theirs', 'later', Date.now() + 60_000)
  await settle(again())
  await settle(departures)
  expect([...stored.keys()]).toEqual(['again', 'moved-here', 'theirs'])
})

it('files that are uploaded, renamed or deleted one after the other are nobody’s business', async () => {
  const { departures } = await site()
  departures.noteRename('a', 'b')
  departures.noteEnd('b', false)
  departures.noteDelete('b')
  departures.noteMade('c')
  departures.noteEnd('c', false)
  departures.noteDelete('c')
  expect(departures.isEmpty).toBe(true)
})
