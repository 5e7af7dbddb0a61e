/** @module-tag all */
import { writeFileSync } from 'node:fs'
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import type { Entry, MountPath, StorageAdapter } from '@ws/core/adapter'
import { expect, it } from 'vitest'

import { listed } from '../src/files/listing.ts'
import type { Open } from '../src/part/opened.ts'
import { at, scratch } from './support.ts'

const direct = { stat: async () => ({ type: 'file', size: 1, modifiedAt: 0 }) } as unknown as Open['direct']

function mountOf(names: () => Iterable<string>, metadata: string): Open {
  async function* list(): AsyncGenerator<Entry> {
    for (const name of names()) yield { path: `/${name}` as MountPath, name, type: 'file' }
  }
  return { files: { list } as unknown as StorageAdapter, direct, metadata } as Open
}

it.each([
  ['its new name', 'moved', true],
  ['its new name', 'moved', false],
  ['its old name', 'text', true],
  ['its old name', 'text', false],
])('a path that the mount shows twice is listed once (noted by %s, `%s`, details: %j)', async (_, noted, details) => {
  const metadata = await scratch()
  // what the cache notes of a file that is renamed while it is uploaded
  writeFileSync(join(metadata, noted), '{}')
  const mount = mountOf(() => ['a', 'moved', 'b', 'moved'], metadata)
  const entries = await Array.fromAsync(listed(mount, at('/'), { details }))
  expect(entries.map(({ path }) => path)).toEqual(['/a', '/moved', '/b'])
})

it('a path that is shown twice is listed once in a large directory, where the cache notes it by its name', async () => {
  const metadata = await scratch()
  writeFileSync(join(metadata, 'moved'), '{}')
  const names = Array.from({ length: 12_000 }, (_, index) => `name-${String(index)}`)
  const entries = await Array.fromAsync(
    listed(
      mountOf(() => [...names, 'moved', 'moved'], metadata),
      at('/'),
      {},
    ),
  )
  expect(entries).toHaveLength(12_001)
})

it('a listing of any size takes little memory', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const metadata = await scratch()
  writeFileSync(join(metadata, 'name-00000007'), '{}')
  await utimes(join(metadata, 'name-00000007'), 1, 1) // in the cache, and uploaded long ago
  const count = 200_000
  function* names(): Generator<string> {
    for (let index = 0; index < count; index += 1) yield `name-${String(index).padStart(8, '0')}`
  }
  collect()
  const before = process.memoryUsage().heapUsed
  let seen = 0
  let growth = 0
  for await (const _entry of listed(mountOf(names, metadata), at('/'), {})) {
    seen += 1
    if (seen < count) continue
    collect()
    growth = process.memoryUsage().heapUsed - before
  }
  expect(seen).toBe(count)
  expect(growth / count).toBeLessThan(10) // bytes for each entry; a set of all paths takes some 100
})
