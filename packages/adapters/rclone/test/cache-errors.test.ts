import { appendFile, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { contractError, type StorageAdapter } from '@ws/core/adapter'
import { describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { CancelledUploads } from '../src/cache/cancelled-uploads.ts'
import { DirtyFiles } from '../src/cache/dirty.ts'
import { appendLines, readLines } from '../src/cache/lines.ts'
import { LostNames } from '../src/cache/lost-names.ts'
import { repairCache } from '../src/cache/repair.ts'
import { StaleNames } from '../src/cache/stale-names.ts'
import { failure } from '../src/errors.ts'
import { refuseFull } from '../src/part/call-off.ts'
import type { MountDirectories } from '../src/state/directories.ts'
import { site } from './stale-site.ts'
import {
  at,
  failureOf,
  mountNeeds,
  mountsBelow,
  open,
  openSite,
  readText,
  rcloneOf,
  scratch,
  write,
} from './support.ts'

/** An entry that neither a user nor root can read: the system reports `ELOOP`. */
async function unreadable(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await symlink(path, path)
}

const note = JSON.stringify({ ModTime: '2026-01-01T00:00:00.5Z', Size: 1, Rs: null, Fingerprint: '', Dirty: true })

async function deadCache() {
  const directory = await scratch()
  const cache = join(directory, 'cache')
  await mkdir(join(cache, 'vfsMeta'), { recursive: true })
  await writeFile(join(cache, 'vfsMeta/f'), note)
  const place = { directory, cache, lock: join(directory, 'lock') } as MountDirectories
  return { directory, cache, place, noted: () => readFile(join(cache, 'vfsMeta/f'), 'utf8') }
}

it('[RP14] a repair fails where contents cannot be read, and keeps the notes of files that wait', async () => {
  const { cache, directory, place, noted } = await deadCache()
  await unreadable(join(cache, 'vfs'))
  const refusal = await failureOf(repairCache(place))
  expect(refusal).toMatchObject({ code: 'EIO', message: expect.stringContaining('the cache of the mount') })
  expect(refusal.message).not.toContain(directory)
  expect(await noted()).toBe(note)
})

it('[RP14] a repair fails where its lock cannot be asked for', async () => {
  const { place } = await deadCache()
  await unreadable(place.lock)
  expect(await failureOf(repairCache(place))).toMatchObject({ code: 'EIO' })
})

it('[RP14] lists of names that cannot be read are no empty lists', async () => {
  const cache = await scratch()
  for (const name of ['departures', 'lost']) await mkdir(join(cache, name))
  for (const make of [() => new StaleNames(cache, 0), () => new LostNames(cache)])
    expect(make).toThrow(expect.objectContaining({ code: 'EIO' }))
})

it('[RP14] an item is read that was added after a line of a killed process', async () => {
  const file = join(await scratch(), 'lines')
  appendLines(file, [{ name: 'a' }])
  await appendFile(file, '\n{"name":"tor')
  appendLines(file, [{ name: 'b' }, { name: 'c' }])
  expect(readLines<{ name: string }>(file, ({ name }) => name)).toEqual(['a', 'b', 'c'].map((name) => ({ name })))
})

it('[RP14] an object stays in the store whose file may be in the cache', async () => {
  const { part, staleNames, settle, hold, store, texts } = await site()
  await hold('d/f', 'text')
  staleNames.noteLeftover('d/f')
  staleNames.noteDelete('d/f', Date.now())
  await rm(join(part.content, 'd'), { recursive: true })
  await unreadable(join(part.content, 'd'))
  store('d/f', 'text')
  expect(await failureOf(settle(staleNames))).toMatchObject({ code: 'EIO' })
  expect(texts()).toEqual({ 'd/f': 'text' })
})

it('[RP14] a deletion fails before it begins where the content that may come back cannot be read', async () => {
  const { part } = await site()
  const cancelled = new CancelledUploads({ ...part, cache: part.root, below: '' })
  await writeFile(join(part.metadata, 'f'), note)
  await unreadable(join(part.content, 'f'))
  expect(await failureOf(cancelled.note(at('/f')))).toMatchObject({ code: 'EIO' })
})

it('[RP14] a note that cannot be read is not the note of an uploaded file', async () => {
  const metadata = await scratch()
  await unreadable(join(metadata, 'f'))
  const refusal = await failureOf(new DirtyFiles(metadata).first())
  expect(refusal).toMatchObject({ code: 'EIO' })
  expect(refusal.message).not.toContain(metadata)
})

it('[RP14] a directory that cannot be listed is not an empty one to move to', async () => {
  const listing = (error: Error) =>
    ({ list: () => ({ next: () => Promise.reject(error) }) }) as unknown as StorageAdapter
  const broken = listing(failure('EIO', 'cannot be listed', { operation: 'list' }))
  expect(await failureOf(refuseFull(broken, at('/d')))).toMatchObject({ code: 'EIO' })
  await refuseFull(listing(contractError('ENOENT', 'list', '/d')), at('/d'))
})

describeWith(mountNeeds, 'a cache that cannot be read', () => {
  it('[RP14] is not mounted, and keeps what waits for its upload', async () => {
    const { adapter, store, directory, options } = await openSite({
      recovery: 'manual',
      timeouts: { writeBack: 600_000 },
    })
    await write(adapter, '/a', 'acknowledged')
    process.kill(await rcloneOf(directory), 'SIGKILL')
    await failureOf(adapter.close())
    const [name = ''] = await readdir(directory)
    const contents = join(directory, name, 'cache/vfs')
    await rename(contents, `${contents}-aside`)
    await unreadable(contents)
    expect(await failureOf(open(options))).toMatchObject({ code: 'EIO' })
    expect(mountsBelow(directory)).toEqual([])
    await rm(contents)
    await rename(`${contents}-aside`, contents)
    const again = await open(options)
    expect(await readText(again, '/a')).toBe('acknowledged')
    expect(await store.keys()).toEqual(['threads/t1/a'])
  })
})
