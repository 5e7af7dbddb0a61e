import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, it, vi } from 'vitest'

import { noteCopied } from '../src/cache/copied.ts'
import { RenamedDirectories } from '../src/cache/renamed.ts'
import { site } from './stale-site.ts'

/** No upload begins while a test looks at the mount. */
const longBefore = Date.now() + 600_000

/** A mount whose directory `a` becomes `b`, before these files of it are uploaded. */
async function renamedSite(names: readonly string[]) {
  const { part, staleNames, store, hold, settle, ...rest } = await site()
  const cache = part.root
  const root = join(cache, 'mount')
  const catchUp = vi.fn(async () => {})
  const start = (): RenamedDirectories => {
    const one = new RenamedDirectories(staleNames, cache)
    one.part = { ...part, root, catchUp, attributeCache: 1 }
    return one
  }
  const renamed = start()
  await mkdir(join(root, 'b'), { recursive: true })
  const put = (name: string) => writeFile(join(root, name), 'as programs see it')
  for (const name of names) await put(`b/${name}`)
  const refused = async (one = renamed): Promise<readonly string[]> => {
    const changing = await one.settled(undefined)
    await one.forget(undefined)
    return [...changing, ...(await one.lost(undefined))]
  }
  return {
    ...{ renamed, store, hold, put, start, refused, ...rest, settle: () => settle(staleNames) },
    copied: (from: string, to: string) => noteCopied(staleNames, renamed.places, from, to),
    remove: (name: string) => rm(join(root, name)),
    rename(): void {
      for (const name of names) {
        renamed.noteQueue(`a/${name}`, longBefore)
        renamed.noteRename(`a/${name}`, `b/${name}`, longBefore)
      }
      renamed.noteDirectory('a/', 'b/')
    },
    looked: () => vi.waitFor(() => expect(catchUp).toHaveResolved()),
    /** A program renames a file: rclone does that, and writes messages. */
    async move(from: string, to: string): Promise<void> {
      renamed.noteMoving('b', from.replace('b/', ''), to)
      renamed.noteChanged('b', true)
      await rm(join(root, from))
      await put(to)
    },
    async delete(name: string): Promise<void> {
      renamed.places.noteRemoving('b', name.replace('b/', ''))
      renamed.noteChanged('b', true)
      await rm(join(root, name))
    },
    /** rclone uploads a file of its cache, and shows it where it is. */
    async upload(name: string, shown: string | undefined, under?: string): Promise<void> {
      await hold(name, `text of ${name}`)
      store(under ?? name, `text of ${name}`)
      renamed.noteStored(name, under)
      renamed.noteEnding(name)
      if (shown !== undefined) renamed.noteShown(shown)
      renamed.noteEnd(name, false, 3_000)
    },
  }
}

it('[RP14] the store has what programs did in a directory that was renamed before its files were uploaded', async () => {
  const { renamed, mount, put, rename, looked, upload, move, refused, texts, ...site } = await renamedSite([
    'stays',
    'f',
    'h',
    'gone',
  ])
  rename()
  await looked()
  await site.delete('b/gone')
  await move('b/f', 'g')
  await move('b/h', 'b/f')
  renamed.noteQueue('a/stays', longBefore) // written to, under the path of before
  await put('b/gone') // rclone shows a removed file once more
  mount.forget = () => site.remove('b/gone').catch(() => undefined)
  await upload('b/gone', 'b/gone')
  await upload('a/stays', 'b/stays')
  await upload('b/f', 'g')
  await upload('b/h', 'b/f')
  await upload('b/stays', 'b/stays') // later than the new content
  expect(await refused()).toEqual([])
  expect(texts()).toEqual({ g: 'text of b/f', 'b/f': 'text of b/h', 'b/stays': 'text of a/stays' })
})

it('[RP14] a file goes from the store that a program removed before rclone told of it', async () => {
  const { rename, remove, looked, upload, refused, texts } = await renamedSite(['gone', 'stays'])
  await remove('b/gone')
  rename()
  await looked()
  await upload('b/gone', 'b/gone')
  await upload('b/stays', 'b/stays')
  expect(await refused()).toEqual([])
  expect(texts()).toEqual({ 'b/stays': 'text of b/stays' })
})

it('[RP14] a file that was moved before rclone told of it goes where a look finds it', async () => {
  const { rename, remove, put, looked, upload, refused, texts } = await renamedSite(['moved', 'stays'])
  await remove('b/moved')
  await put('g')
  rename()
  await looked()
  await upload('b/moved', 'g')
  await upload('b/stays', 'b/stays')
  expect(await refused()).toEqual([])
  expect(texts()).toEqual({ g: 'text of b/moved', 'b/stays': 'text of b/stays' })
})

it('[RP14] a file whose place is not known stays in the store, and is refused until a program removes it', async () => {
  const { rename, remove, looked, upload, refused, start, texts, ...site } = await renamedSite(['moved', 'stays'])
  await remove('b/moved')
  rename()
  await looked()
  await upload('b/moved', 'g') // no message or look has told whether programs see `g`
  await upload('b/stays', 'b/stays')
  expect(await refused()).toEqual(['b/moved'])
  expect(texts()).toEqual({ 'b/moved': 'text of b/moved', 'b/stays': 'text of b/stays' })
  expect(await refused(start())).toEqual(['b/moved']) // the next mount
  await site.put('b/moved') // the store's
  await site.delete('b/moved')
  expect(await refused()).toEqual([])
  expect(await refused(start())).toEqual([])
})

it('[RP14] a file that programs see and the store lacks is refused until a program writes it again', async () => {
  const { renamed, store, hold, refused, start, texts } = await renamedSite(['f', 'missing'])
  store('b/f', 'text')
  await hold('b/missing', 'what the cache has may be another file')
  renamed.noteDirectory('a/', 'b/')
  expect(await refused()).toEqual(['b/missing'])
  expect(await refused(start())).toEqual(['b/missing'])
  expect(Object.keys(texts())).toEqual(['b/f'])
  renamed.noteQueue('b/missing', 2_000)
  expect(await refused()).toEqual([])
})

it('[RP14] a file is refused whose content rclone has replaced by an earlier one, under the name that its directory has since', async () => {
  const { renamed, rename, looked, upload, hold, refused } = await renamedSite(['f'])
  rename()
  await looked()
  renamed.noteQueue('a/f', 1_500)
  renamed.noteRename('b/f', 'a/f', 1_600)
  renamed.noteDirectory('b/', 'a/')
  await hold('a/f', 'text of b/f')
  await upload('a/f', 'a/f')
  expect(await refused()).toContain('a/f')
})

it('[RP14] a file is refused over which rclone uploaded the file that it had replaced, also where it moved since', async () => {
  const { renamed, rename, looked, move, store, stored, upload, refused } = await renamedSite(['f', 'stays'])
  rename()
  await looked()
  renamed.noteMoving('b', 'g', 'b/f')
  renamed.noteRename('b/g', 'b/f', longBefore)
  renamed.noteChanged('b', true)
  await upload('b/f', 'b/f') // the earlier file, with what the cache has now
  await move('b/f', 'k')
  stored.delete('b/f')
  store('k', 'text of b/f')
  await upload('b/stays', 'b/stays')
  expect(await refused()).toEqual(['k'])
})

it('[RP14] a file is in the store that was uploaded while its directory was renamed, though the mount forgot it', async () => {
  const { renamed, store, hold, refused, settle, texts } = await renamedSite([])
  renamed.noteQueue('a/f', 1_000)
  store('a/f', 'text')
  renamed.noteEnd('a/f', false, 3_000)
  renamed.noteRename('a/f', 'b/f', 3_100)
  renamed.noteDirectory('a/', 'b/')
  await hold('b/f', 'text')
  expect(await refused()).toEqual([])
  await settle()
  expect(texts()).toEqual({ 'b/f': 'copy of b/f' })
})

it('[RP14] a file is refused whose place in the cache a renamed directory takes', async () => {
  const { renamed, rename, looked, upload, refused } = await renamedSite(['f'])
  rename()
  await looked()
  renamed.noteQueue('a/f', 1_500) // written again, under the path of before
  renamed.noteMoving('b', 'd', 'a') // a program moves `b/d` to `a`
  renamed.noteRename('b/d/f', 'a/f', 1_600)
  renamed.noteDirectory('b/d/', 'a/')
  renamed.noteChanged('b', true)
  await upload('b/f', 'b/f')
  expect(await refused()).toContain('b/f')
})

it('[RP14] an object that a file has left goes from where rclone took it, and is refused where its file is not sure', async () => {
  const { renamed, copied, store, refused, settle, texts } = await renamedSite([])
  const leave = (name: string): void => {
    renamed.noteQueue('new', 1_000)
    renamed.noteRename('new', name, 1_050) // over a file of the store, of which rclone does not know
    renamed.noteDelete(name, 1_060)
  }
  leave('a/f')
  for (const name of ['f', 'other']) copied(`a/${name}`, `c/${name}`)
  for (const name of ['c/f', 'c/other']) store(name, 'text')
  renamed.noteDirectory('a/', 'c/')
  leave('d/f')
  copied('d/f', 'e/f')
  store('e/f', 'text')
  await settle()
  expect(texts()).toEqual({ 'c/other': 'text', 'e/f': 'text' })
  expect(await refused()).toEqual(['e/f'])
})

it('[RP14] a file gets no place from the rename of an earlier directory of that name', async () => {
  const { renamed, store, refused } = await renamedSite(['f'])
  store('b/f', 'text')
  renamed.noteDirectory('a/', 'b/')
  expect(renamed.places.seenAs('a/f')).toBe('b/f')
  expect(await refused()).toEqual([])
  expect(renamed.places.seenAs('a/f')).toBe('a/f')
})

it('[RP14] an object stays that a program makes again while it is removed', async () => {
  const { renamed, rename, looked, put, upload, refused, texts, ...site } = await renamedSite(['f', 'stays'])
  rename()
  await looked()
  await site.delete('b/f')
  await upload('b/f', 'b/f')
  await put('b/f')
  renamed.noteShown('b/f') // a program opens it
  await upload('b/stays', 'b/stays')
  await refused()
  expect(texts()).toHaveProperty('b/f')
})

it('[RP14] objects of other writers stay in a directory that was renamed', async () => {
  const { renamed, store, refused, texts } = await renamedSite(['f'])
  for (const name of ['b/f', 'b/theirs']) store(name, 'text')
  renamed.noteDirectory('a/', 'b/')
  expect(await refused()).toEqual([])
  expect(Object.keys(texts())).toEqual(['b/f', 'b/theirs'])
})

it('[RP14] nothing is asked of the store where no directory was renamed since it was right', async () => {
  const { renamed, store, hold, refused, asked } = await renamedSite(['f'])
  renamed.noteQueue('b/f', 1_000)
  renamed.noteStored('b/f', undefined)
  renamed.noteEnd('b/f', false, 3_000)
  await refused()
  expect(asked).toEqual([])
  store('b/f', 'text')
  await hold('b/f', 'text')
  renamed.noteDirectory('a/', 'b/')
  for (let flush = 0; flush < 3; flush += 1) await refused()
  expect(asked.filter((command) => command === 'operations/list')).toHaveLength(2)
})
