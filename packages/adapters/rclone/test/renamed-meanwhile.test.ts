import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { compare } from '../src/cache/compare.ts'
import { lookFor } from '../src/cache/look.ts'
import { Places } from '../src/cache/places.ts'
import { Renames } from '../src/cache/renames.ts'
import { longBefore, renamedSite } from './renamed-site.ts'
import { site } from './stale-site.ts'

it('[RP14] directories that are renamed side by side each have their own files', async () => {
  const { renamed, rename, looked, upload, refused, texts, ...site } = await renamedSite(['gone', 'stays'])
  rename(() => renamed.noteDirectory('c/', 'd/'))
  await looked()
  await site.delete('b/gone')
  await upload('b/gone', 'b/gone')
  await upload('b/stays', 'b/stays')
  expect(await refused()).toEqual([])
  expect(texts()).toEqual({ 'b/stays': 'text of b/stays' })
})

it('[RP14] a file that another one replaced stays away though its directory is renamed again', async () => {
  const { renamed, root, rename: renameFirst, looked, upload, refused, remove, texts } = await renamedSite(['f', 'h'])
  renameFirst()
  renamed.noteMoving('b', 'f', 'b/h')
  renamed.noteChanged('b', true)
  renamed.noteMoving('', 'b', 'c')
  for (const name of ['f', 'h']) renamed.noteRename(`b/${name}`, `c/${name}`, longBefore)
  renamed.noteDirectory('b/', 'c/')
  renamed.noteChanged('', true)
  await remove('b/f')
  await rename(join(root, 'b'), join(root, 'c'))
  await looked()
  await upload('c/f', 'c/h')
  await upload('c/h', 'c/h')
  expect(await refused()).toEqual([])
  expect(texts()).toEqual({ 'c/h': 'text of c/f' })
})

it('[RP14] the content that was written last is the right one, also after a scan that misses another file', async () => {
  const { part } = await site()
  const places = new Places(part.root)
  const last = places.add('b/f', true, longBefore)
  const first = places.add('a/f', true, longBefore)
  places.noteClose('b/f')
  places.add('a/missing', false, longBefore)
  await lookFor(places, { ...part, catchUp: async () => {}, attributeCache: 1 })
  expect(last.order).toBeGreaterThan(first.order)
})

it('[RP14] a file that rclone replaced by an earlier content is refused, also when a scan ends later', async () => {
  const { renamed, put, looked, upload, refused } = await renamedSite([])
  renamed.noteDirectory('b/', 'x/')
  renamed.noteDirectory('x/', 'b/')
  await put('b/f')
  renamed.noteQueue('b/f', longBefore)
  renamed.noteRename('b/f', 'c/f', longBefore)
  renamed.noteDirectory('b/', 'c/')
  renamed.noteQueue('b/f', longBefore)
  renamed.noteRename('c/f', 'b/f', longBefore)
  renamed.noteDirectory('c/', 'b/')
  await looked()
  await upload('b/f', 'b/f')
  expect(await refused()).toContain('b/f')
})

it('[RP14] files are refused that a program took for removed with their directory, which rclone had forgotten', async () => {
  const { renamed, put, store, refused, ...site } = await renamedSite([])
  await put('b/f')
  renamed.noteQueue('b/f', longBefore)
  store('b/f', 'text')
  const remove = (isMissing: boolean): void => {
    renamed.places.noteRemoving('', 'b')
    renamed.noteChanged('', false, isMissing)
  }
  remove(false)
  expect(await refused()).toEqual([])
  remove(true)
  expect(await refused()).toEqual(['b/f'])
  await site.delete('b/f')
  expect(await refused()).toEqual([])
})

it('[RP14] a new directory under the path that another one had has its own files', async () => {
  const { renamed, root, put, rename: renameFirst, looked, upload, refused, texts, ...site } = await renamedSite(['f'])
  renameFirst()
  await looked()
  await site.delete('b/f')
  await mkdir(join(root, 'a'))
  await put('a/f')
  renamed.places.noteMaking('a', 'f')
  renamed.noteChanged('a', true)
  renamed.noteQueue('a/f', longBefore)
  await upload('b/f', 'b/f')
  await upload('a/f', 'a/f')
  expect(await refused()).toEqual([])
  expect(texts()).toEqual({ 'a/f': 'text of a/f' })
})

it('[RP14] a directory that gets the path that another one had has its own files', async () => {
  const { renamed, put, remove, rename: renameFirst, looked, upload, refused, texts } = await renamedSite(['f'])
  renamed.noteDirectory('b/', 'c/')
  renameFirst()
  renamed.noteMoving('b', 'f', 'h')
  renamed.noteChanged('b', true)
  renamed.noteQueue('h', longBefore)
  await remove('b/f')
  await put('h')
  await looked()
  await upload('b/f', 'h', 'h')
  await upload('h', 'h')
  expect(await refused()).toEqual([])
  expect(texts()).toEqual({ h: 'text of h' })
})

it('[RP14] a file that a program removes from a renamed directory does not come back from the cache', async () => {
  const {
    renamed,
    staleNames,
    rename: renameFirst,
    looked,
    put,
    hold,
    store,
    settle,
    ...site
  } = await renamedSite(['f'])
  for (const name of ['f', 'uploaded']) store(`a/${name}`, `text of ${name}`)
  renameFirst(() => {
    renamed.noteQueue('a/uploaded', 1_000)
    renamed.noteEnd('a/uploaded', false, 3_000)
    renamed.noteRename('a/uploaded', 'b/uploaded', 3_100)
  })
  await hold('b/uploaded', 'text of uploaded')
  await looked()
  await put('b/uploaded')
  await site.delete('b/uploaded')
  await site.upload('b/f', 'b/f')
  expect(await site.refused()).toEqual([])
  await settle(staleNames)
  expect(Object.keys(site.texts())).not.toContain('b/uploaded')
})

it('[RP14] the store keeps what rclone copied without its cache, also under a later name', async () => {
  const { staleNames, hold, store, settle, texts } = await site()
  staleNames.noteRename('a/f', 'b/f', 1_000)
  staleNames.noteCopied('b/f')
  staleNames.noteCopied('g')
  staleNames.noteRename('b/f', 'g', 2_000)
  await hold('g', 'earlier text')
  store('g', 'text')
  await settle(staleNames)
  expect(texts()).toEqual({ g: 'text' })
})

it('[RP14] a file that gets the name of a waiting one in the cache does not wait itself', async () => {
  const { renamed } = await renamedSite([])
  renamed.noteDirectory('c/', 'b/')
  renamed.noteQueue('c/h', longBefore)
  renamed.noteMoving('b', 'g', 'b/h')
  renamed.noteChanged('b', true)
  for (const name of ['g', 'h']) renamed.noteRename(`b/${name}`, `c/${name}`, longBefore)
  renamed.noteDirectory('b/', 'c/')
  expect(renamed.places.items.get('c/h')?.place).toBeUndefined()
})

it('[RP14] a comparison that began before the end of an upload is made again', async () => {
  const { part, staleNames } = await site()
  const places = new Places(part.root)
  const item = places.add('b/f', false, longBefore)
  let calls = 0
  const catchUp = async (): Promise<void> => {
    if ((calls += 1) === 2) item.key = 'b/f'
  }
  const comparison = { places, staleNames, directories: [], shown: new Set<string>() }
  const { isChanging } = await compare({ ...part, catchUp, attributeCache: 1 }, comparison)
  expect({ calls, isChanging }).toEqual({ calls: 2, isChanging: true })
})

it('[RP14] an object goes that rclone took along with its directory after its file had left', async () => {
  const { staleNames, store, settle, texts } = await site()
  staleNames.noteRename('g', 'a/f', 1_000)
  staleNames.noteRename('a/f', 'h', 2_000)
  for (const name of ['a/f', 'b/f']) store(name, 'text')
  staleNames.noteDirectory('a/', 'b/')
  await settle(staleNames)
  expect(texts()).toEqual({})
})

it('[RP14] an object that a program moved under the name of another file is refused', async () => {
  const { renamed, rename: renameFirst, looked, put, store, upload, refused } = await renamedSite(['f', 'waits'])
  renameFirst()
  await looked()
  renamed.noteMoving('', 'g', 'b/f')
  renamed.noteChanged('', true)
  await upload('b/f', 'b/f')
  renamed.noteMoving('b', 'f', 'b/h')
  renamed.noteChanged('b', true)
  await put('b/h')
  store('b/h', 'text of b/f')
  await upload('b/waits', 'b/waits')
  expect(await refused()).toContain('b/h')
})

it('[RP14] a written file is followed through a directory whose rename the cache does not tell', async () => {
  const { renamed, root, rename: renameFirst, looked, move, upload, refused, texts } = await renamedSite(['f'])
  renameFirst()
  await looked()
  await mkdir(join(root, 'c'))
  await move('b/f', 'c/h')
  renamed.noteMoving('', 'c', 'd')
  renamed.noteChanged('', true)
  await rename(join(root, 'c'), join(root, 'd'))
  renamed.noteQueue('c/h', longBefore)
  await upload('b/f', 'd/h')
  await upload('c/h', 'd/h', 'd/h')
  expect(await refused()).toEqual([])
  expect(texts()).toEqual({ 'd/h': 'text of c/h' })
})

it('[RP14] a name that a rename has changed follows later renames, past a new entry of its name', () => {
  const renames = new Renames()
  renames.add('b/', 'c/')
  renames.add('c/', 's/')
  expect(renames.now('b/f', (name) => name === 'c')).toBe('s/f')
  expect(renames.now('b/f', (name) => name === 'b')).toBe('b/f')
})
