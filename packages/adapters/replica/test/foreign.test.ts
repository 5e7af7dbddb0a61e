import { rm } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { expectSame, pair, sync } from './support/pair.ts'
import { at, filesOf, machineOf, ownDirectory, put } from './support/site.ts'

const repository = {
  '/.git/HEAD': 'main',
  '/.git/main': 'one',
  '/.git/side': 'one',
  [`/.git/objects/ab/${'c'.repeat(38)}`]: 'object',
}

it.each(['a push', 'an opening'])(
  '[RE3] [RE4] names that this machine removed from a repository come back where another has changed it: %s',
  async (way) => {
    const { store, two } = await pair(repository)
    const options = { persist: 'flush', directory: `${await ownDirectory()}/r` } as const
    let one = await machineOf(store, options)
    await put(two.replica, '/.git/main', 'two')
    await two.replica.flush()
    if (way === 'an opening') await one.replica.close()
    for (const path of Object.keys(repository).slice(2)) await rm(join(one.root, path))
    if (way === 'an opening') one = await machineOf(store, options)
    await sync(one.replica)
    expect(await expectSame(store, one.replica)).toMatchObject({ ...repository, '/.git/main': 'two' })
  },
)

it('[RE3] [RE4] a ref that this machine has changed, and that another has packed, is kept under another name', async () => {
  const { store, one, two } = await pair(repository)
  await put(one.replica, '/.git/side', 'by one')
  await put(two.replica, '/.git/packed-refs', 'side by two')
  await two.replica.delete(at('/.git/side'))
  await two.replica.flush()
  for (const { replica } of [one, two]) await sync(replica)
  const [conflict] = one.replica.status().conflicts
  const files = await expectSame(store, one.replica, two.replica)
  expect(files).toMatchObject({ '/.git/packed-refs': 'side by two', [conflict?.kept ?? '']: 'by one' })
  expect(Object.keys(files)).not.toContain('/.git/side')
})

it.each<[string, Record<string, string>]>([
  ['checkpoint', { '/d.db': 'one, with its log' }],
  ['log', { '/d.db-wal': 'a longer log of two' }],
])(
  '[RE3] [RE4] a database that both changed stays whole, and ours is kept whole: a %s of the other',
  async (_, theirs) => {
    const { store, one, two } = await pair({ '/d.db': 'base', '/d.db-wal': 'log' })
    if ('/d.db' in theirs) await two.replica.delete(at('/d.db-wal'))
    for (const [path, text] of Object.entries(theirs)) await put(two.replica, path, text)
    await two.replica.flush()
    const state = await filesOf(store)
    await put(one.replica, '/d.db-wal', 'log of one')
    for (const { replica } of [one, two]) await sync(replica)
    const files = await expectSame(store, one.replica, two.replica)
    const kept = Object.keys(files).filter((path) => path.includes('conflict'))
    expect(kept.map((path) => path.replace(/conflict-.*-one/u, ''))).toEqual(['/d..db', '/d..db-wal'])
    expect(kept.map((path) => files[path])).toEqual(['base', 'log of one'])
    for (const path of kept) delete files[path]
    expect(files).toEqual(state)
  },
)

it('[RE3] [RE4] hashes that another machine has pruned stay, where this machine has changed the repository', async () => {
  const { store, one, two } = await pair(repository)
  await put(one.replica, '/.git/main', 'one')
  await put(two.replica, '/.git/main', 'two')
  await two.replica.delete(at(Object.keys(repository)[3] ?? ''))
  await two.replica.flush()
  for (const { replica } of [one, two]) await sync(replica)
  expect(await expectSame(store, one.replica, two.replica)).toMatchObject({ ...repository, '/.git/main': 'two' })
})

it('[RE3] [RE4] a deletion stays where the only change of the repository is from an earlier process of this machine', async () => {
  const { store, one } = await pair(repository)
  await put(one.replica, '/.git/main', 'two')
  await put(store, '/.git/main', 'two')
  for (const path of Object.keys(repository).slice(2)) await one.replica.delete(at(path))
  await one.replica.flush()
  await one.replica.refresh?.()
  expect(await expectSame(store, one.replica)).toMatchObject({ '/.git/HEAD': 'main', '/.git/main': 'two' })
  expect(Object.keys(await filesOf(store))).not.toContain('/.git/side')
})
