import type { Entry, StorageAdapter } from '@ws/core'
import { expect, it } from 'vitest'

import { listed } from '../src/files/listing.ts'
import type { Open } from '../src/opened.ts'
import { at } from './support.ts'

it.each([true, false])('a path that the mount shows twice is listed once (details: %j)', async (details) => {
  const entry = (name: string): Entry => ({ path: at(`/${name}`), name, type: 'file' })
  async function* list(): AsyncGenerator<Entry> {
    yield* ['a', 'moved', 'b', 'moved'].map(entry)
  }
  const files = { list } as unknown as StorageAdapter
  const direct = { stat: async () => ({ type: 'file', size: 1, modifiedAt: 0 }) } as unknown as Open['direct']
  const entries = await Array.fromAsync(listed({ files, direct, metadata: '/none' } as Open, at('/'), { details }))
  expect(entries.map(({ path }) => path)).toEqual(['/a', '/moved', '/b'])
})
