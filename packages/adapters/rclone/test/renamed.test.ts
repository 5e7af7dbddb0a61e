import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, it, vi } from 'vitest'

import { RenamedDirectories } from '../src/cache/renamed.ts'
import { site } from './stale-site.ts'

/** A mount whose directory `a` becomes `b`, before these files of it are uploaded. `inLook` runs after its look at `b`. */
async function renamedSite(names: readonly string[], inLook = async () => {}) {
  const { part, staleNames, store, ...rest } = await site()
  const renamed = new RenamedDirectories(staleNames)
  const catchUp = vi.fn(inLook)
  renamed.part = { ...part, catchUp }
  await mkdir(join(part.root, 'b'))
  const put = (name: string, text = '') => writeFile(join(part.root, 'b', name), text)
  for (const name of names) await put(name)
  return {
    ...{ part, renamed, staleNames, store, put, ...rest },
    remove: (name: string) => rm(join(part.root, 'b', name)),
    rename(): void {
      for (const name of names) {
        renamed.noteQueue(`a/${name}`, 1_000)
        renamed.noteRename(`a/${name}`, `b/${name}`, 1_010)
      }
      renamed.noteDirectory('a/', 'b/')
    },
    looked: () => vi.waitFor(() => expect(catchUp).toHaveResolved()),
    /** rclone uploads a file, and shows it where it is. */
    upload(name: string, shown: readonly string[], under?: string): void {
      store(under ?? name, `text of ${name}`)
      renamed.noteStored(name, under)
      for (const one of shown) renamed.noteShown(one, true)
      renamed.noteEnd(name, false, 3_000)
    },
  }
}

it('[RP14] the store follows what rclone shows of a directory that was renamed before its files were uploaded', async () => {
  const names = ['stays', 'removed', 'moved', 'again']
  const { renamed, staleNames, rename, upload, settle, texts } = await renamedSite(names)
  rename()
  for (const name of ['removed', 'moved', 'again']) renamed.noteShown(`b/${name}`, false)
  renamed.noteShown('b/again', true)
  renamed.noteQueue('a/stays', 1_500) // written to, under the path of before
  upload('b/removed', ['b/removed'])
  upload('b/moved', ['g'])
  upload('b/again', ['b/again'])
  upload('b/stays', ['b/stays'])
  upload('a/stays', ['b/stays'])
  await settle(staleNames)
  expect(texts()).toEqual({
    g: 'text of b/moved',
    'b/again': 'text of b/again',
    'b/stays': 'text of a/stays',
  })
  expect(staleNames.isEmpty).toBe(true)
})

it('[RP14] files go from the store that a look at a renamed directory finds gone, without a message', async () => {
  const { staleNames, rename, remove, looked, upload, settle, texts } = await renamedSite(['gone', 'stays'])
  await remove('gone')
  rename()
  await looked()
  for (const name of ['b/gone', 'b/stays']) upload(name, [name])
  await settle(staleNames)
  expect(texts()).toEqual({ 'b/stays': 'text of b/stays' })
})

it('[RP14] a file stays in the store that a look sees, though no message told of its return', async () => {
  const { renamed, staleNames, rename, looked, upload, settle, texts } = await renamedSite(['f', 'other'])
  rename()
  renamed.noteShown('b/f', false)
  await looked()
  for (const name of ['b/f', 'b/other']) upload(name, [name])
  await settle(staleNames)
  expect(texts()).toMatchObject({ 'b/f': 'text of b/f' })
})

/** Messages that rclone writes while a look at a renamed directory, which found `b/f` gone, is under way. */
const duringLook: Readonly<Record<string, (renamed: RenamedDirectories) => void>> = {
  'made again by a program': (renamed) => renamed.noteShown('b/f', true),
  'made again while another upload ends': (renamed) => {
    renamed.noteStored('b/other', undefined)
    renamed.noteStored('b/f', undefined)
    renamed.noteShown('b/f', true)
    renamed.noteQueue('b/f', 1_020)
  },
  'replaced by another file of the directory': (renamed) => {
    renamed.noteMoved('b/f')
    renamed.noteShown('b/other', false)
    renamed.noteShown('b/f', true)
  },
  'moved away and back': (renamed) => {
    renamed.noteShown('b/f', false)
    renamed.noteShown('g', true)
    renamed.noteMoved('b/f')
    renamed.noteShown('g', false)
    renamed.noteShown('b/f', true)
  },
  'replaced by the file API': (renamed) => {
    renamed.noteQueue('b/.temp', 1_020)
    renamed.noteRename('b/.temp', 'b/f', 1_030)
  },
  'made in a directory that was made again': (renamed) => {
    for (const [name, isShown] of [
      ['b/f', false],
      ['b', false],
      ['b', true],
      ['b/f', true],
    ] as const)
      renamed.noteShown(name, isShown)
  },
  'in a directory that was renamed back': (renamed) => {
    for (const [from, to] of [
      ['b', 'c'],
      ['c', 'b'],
    ]) {
      renamed.noteRename(`${from}/f`, `${to}/f`, 1_020)
      renamed.noteDirectory(`${from}/`, `${to}/`)
    }
  },
}

for (const [title, tell] of Object.entries(duringLook))
  it(`[RP14] a file stays in the store that is ${title} while its directory is looked at`, async () => {
    let isTold = false
    const found = await renamedSite(['f', 'other'], async () => {
      if (isTold) return
      isTold = true
      await found.put('f')
      tell(found.renamed)
    })
    await found.remove('f')
    found.rename()
    await found.looked()
    found.upload('b/f', ['b/f'])
    found.upload('b/other', ['b/other'])
    await found.settle(found.staleNames)
    expect(found.texts()).toMatchObject({ 'b/f': 'text of b/f' })
  })

it('[RP14] a file has the place in the store that a program gave it while another upload ended, though a file was removed there', async () => {
  const { renamed, staleNames, rename, looked, upload, settle, texts } = await renamedSite(['f', 'h', 'other'])
  rename()
  await looked()
  renamed.noteMoved('g')
  renamed.noteShown('b/f', false)
  renamed.noteShown('g', true)
  renamed.noteShown('g', false)
  renamed.noteStored('b/other', undefined)
  renamed.noteMoved('g')
  renamed.noteShown('b/h', false)
  renamed.noteShown('g', true)
  renamed.noteShown('b/other', true)
  renamed.noteEnd('b/other', false, 3_000)
  upload('b/h', ['g'])
  await settle(staleNames)
  expect(texts()).toEqual({ g: 'text of b/h' })
})

it.for([
  ['f', 'h'],
  ['h', 'f'],
])(
  '[RP14] a file keeps its new name in the store whose old one another file has got, when %s and %s are uploaded together',
  async (ended) => {
    const { renamed, staleNames, store, rename, put, looked, settle, texts } = await renamedSite(['f', 'h'])
    rename()
    await looked()
    await put('g', 'text of f')
    await put('f', 'text of h')
    for (const name of ended) store(`b/${name}`, `text of ${name}`)
    for (const name of ended) renamed.noteStored(`b/${name}`, undefined)
    for (const name of ['b/g', 'b/f']) renamed.noteShown(name, true)
    for (const name of ended) renamed.noteEnd(`b/${name}`, false, 3_000)
    await settle(staleNames)
    expect(texts()).toEqual({ 'b/g': 'text of f', 'b/f': 'text of h' })
  },
)

it.for([
  ['f', 'h'],
  ['h', 'f'],
])(
  '[RP14] a file replaces another one that was removed and is shown again, when %s and %s are uploaded together',
  async (ended) => {
    const { renamed, staleNames, store, rename, put, looked, settle, texts } = await renamedSite(['f', 'h'])
    rename()
    await looked()
    await put('f', 'text of f')
    for (const name of ended) store(`b/${name}`, `text of ${name}`)
    for (const name of ended) renamed.noteStored(`b/${name}`, undefined)
    for (let times = 0; times < 2; times += 1) renamed.noteShown('b/f', true)
    for (const name of ended) renamed.noteEnd(`b/${name}`, false, 3_000)
    await settle(staleNames)
    expect(texts()).toEqual({ 'b/f': 'text of h' })
  },
)

it('[RP14] rclone may store a file at its new path that it has in the cache under an earlier one of its directory', async () => {
  const { renamed, staleNames, store, hold, settle, texts } = await renamedSite([])
  staleNames.noteQueue('a/f', 1_000)
  staleNames.noteEnd('a/f', false, 1_100)
  // names that directories get in turn lead nowhere
  const ways = [
    ['a/', 'b/'],
    ['b/', 'c/b/'],
    ['c/', 'b/'],
  ] as const
  let name = 'a/f'
  for (const [from, to] of ways) {
    const next = name.replace(from, to)
    renamed.noteRename(name, next, 1_200)
    renamed.noteDirectory(from, to)
    name = next
  }
  await hold(name, 'before')
  renamed.noteQueue('a/f', 1_300)
  store(name, 'after')
  renamed.noteStored('a/f', name)
  renamed.noteEnd('a/f', false, 2_300)
  await settle(staleNames)
  expect(texts()).toEqual({ 'b/b/f': 'after' })
})

it('[RP14] a file goes where its directory went, though rclone was asked for names too late', async () => {
  const { part, renamed, staleNames, rename, looked, upload, settle, texts } = await renamedSite(['f'])
  rename()
  await looked()
  renamed.noteQueue('a/f', 1_500)
  upload('b/f', ['b/f'])
  upload('a/f', [])
  await writeFile(join(part.root, 'b', 'f'), 'text of a/f')
  await settle(staleNames)
  expect(texts()).toEqual({ 'b/f': 'text of a/f' })
})

it('[RP14] a file goes where its directory went, though the directory had nothing to upload', async () => {
  const { part, renamed, staleNames, upload, put, settle, texts } = await renamedSite([])
  renamed.noteDirectory('a/', 'b/')
  await put('f', 'text of a/f')
  await mkdir(join(part.root, 'a')) // again
  await writeFile(join(part.root, 'a', 'h'), 'text of a/h')
  for (const name of ['a/f', 'a/h']) {
    renamed.noteQueue(name, 1_500)
    upload(name, [])
  }
  await settle(staleNames)
  expect(texts()).toEqual({ 'b/f': 'text of a/f', 'a/h': 'text of a/h' })
})
