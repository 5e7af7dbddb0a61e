import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { lstat, mkdir, open, readFile, truncate, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { expect, it } from 'vitest'

import { readCachedFile } from '../src/cache/cached-file.ts'
import { repairCache } from '../src/cache/repair.ts'
import type { MountDirectories } from '../src/state/directories.ts'
import { scratch } from './support.ts'

/** A cache whose rclone is dead. */
async function deadCache() {
  const directory = await scratch()
  const cache = join(directory, 'cache')
  const place: MountDirectories = {
    directory,
    cache,
    run: join(directory, 'run'),
    lock: join(directory, 'lock'),
    mountPoint: join(directory, 'mount'),
    ownsMountPoint: true,
    temporary: false,
  }
  const content = (path: string): string => join(cache, 'vfs', path)
  const metadata = (path: string): string => join(cache, 'vfsMeta', path)
  return {
    content,
    metadata,
    repair: () => repairCache(place),
    said: (path: string) => readCachedFile(metadata(path)),
    async hold(path: string, text: string): Promise<void> {
      await mkdir(dirname(content(path)), { recursive: true })
      await writeFile(content(path), text)
    },
    /**
     * Makes the cache say that it holds this text of a file. `time`: the text's time. Default: the present content's.
     */
    async say(path: string, text: string, more: { dirty: boolean; time?: string; ranges?: unknown }): Promise<void> {
      const { dirty, time = await timeOf(content(path)), ranges = [{ Pos: 0, Size: text.length }] } = more
      const fingerprint = dirty ? '' : `${text.length},${createHash('md5').update(text).digest('hex')}`
      const info = { ModTime: time, Size: text.length, Rs: ranges, Fingerprint: fingerprint, Dirty: dirty }
      await mkdir(dirname(metadata(path)), { recursive: true })
      await writeFile(metadata(path), JSON.stringify(info))
    },
  }
}

const earlier = '2026-01-01T00:00:00.123456789Z'

/** With all of its nanoseconds. */
async function timeOf(file: string): Promise<string> {
  const { mtimeNs } = await lstat(file, { bigint: true })
  const seconds = new Date(Number(mtimeNs / 1_000_000_000n) * 1_000).toISOString().slice(0, 19)
  return `${seconds}.${String(mtimeNs % 1_000_000_000n).padStart(9, '0')}Z`
}

it('[RP14] finishes a rename over a file that is in the store', async () => {
  const { hold, say, said, repair, metadata } = await deadCache()
  await hold('dir/a', 'the new content')
  await say('dir/.ws-tmp-1', 'the new content', { dirty: true, time: await timeOf(metadata('../vfs/dir/a')) })
  await say('dir/a', 'old', { dirty: false, time: earlier })
  await repair()
  expect(await said('dir/a')).toMatchObject({ dirty: true, size: 15, complete: true })
  expect(existsSync(metadata('dir/.ws-tmp-1'))).toBe(false)
})

it('[RP14] uploads what was replaced, where a reader had the state before noted again', async () => {
  const { hold, say, said, repair } = await deadCache()
  await hold('a', 'the new content')
  await say('a', 'the old content', { dirty: false, time: earlier })
  await repair()
  expect(await said('a')).toMatchObject({ dirty: true, size: 15, complete: true, fingerprint: '' })
})

it('[RP14] uploads the whole of what was closed, and not noted yet', async () => {
  const { hold, say, said, repair } = await deadCache()
  await hold('a', 'all that was written')
  await say('a', '', { dirty: true, ranges: null })
  await repair()
  expect(await said('a')).toMatchObject({ dirty: true, size: 20, complete: true })
})

it('[RP14] uploads what nothing is said of, or nothing that can be read', async () => {
  const { hold, say, said, repair, metadata } = await deadCache()
  await hold('a', 'one')
  await hold('b', 'two')
  await say('b', 'two', { dirty: false })
  await truncate(metadata('b'), 20)
  await repair()
  for (const path of ['a', 'b']) expect(await said(path)).toMatchObject({ dirty: true, size: 3, complete: true })
})

it('leaves alone what is in the store, and what only the store has all of', async () => {
  const { hold, say, repair, content, metadata } = await deadCache()
  await hold('uploaded', 'content')
  await say('uploaded', 'content', { dirty: false })
  await hold('fetched', 'content')
  await utimes(content('fetched'), 1_700_000_000, 1_700_000_000.5)
  await say('fetched', 'content', { dirty: false, time: earlier })
  await hold('being-fetched', 'content')
  await say('being-fetched', 'content', { dirty: false, time: earlier })
  await hold('part', 'content')
  await say('part', 'content', { dirty: true, time: earlier, ranges: [{ Pos: 0, Size: 2 }] })
  await hold('holes', '')
  const file = await open(content('holes'), 'r+')
  await file.truncate(1_000_000)
  await file.close()
  await say('holes', 'x', { dirty: false, time: earlier })
  const names = ['uploaded', 'fetched', 'being-fetched', 'part', 'holes']
  const before = await Promise.all(names.map((name) => readFile(metadata(name), 'utf8')))
  await repair()
  expect(await Promise.all(names.map((name) => readFile(metadata(name), 'utf8')))).toEqual(before)
})
