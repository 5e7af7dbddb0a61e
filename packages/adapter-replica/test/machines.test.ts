import { rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createMemoryAdapter } from '@ws/adapter-memory'
import type { StorageAdapter } from '@ws/core/adapter'
import { expect, it } from 'vitest'

import type { ReplicaAdapter } from '../src/index.ts'
import { at, expectInStep, failureOf, filesOf, machineOf, ownDirectory, put } from './support/site.ts'

/** Two machines on one store, in which nothing is pushed or pulled unless the test says so. */
async function pair(files: Record<string, string> = {}) {
  const store = createMemoryAdapter({ files })
  const one = await machineOf(store, { persist: 'flush', machine: 'one' })
  const two = await machineOf(store, { persist: 'flush', machine: 'two' })
  return { store, one, two }
}

const sync = async (replica: ReplicaAdapter): Promise<void> => {
  await replica.flush().catch(() => undefined)
  await replica.refresh?.()
}

/** Both have what the store has. */
async function expectSame(
  store: StorageAdapter,
  ...replicas: readonly ReplicaAdapter[]
): Promise<Record<string, string>> {
  const files = await filesOf(store)
  for (const replica of replicas) await expectInStep(replica, files)
  return files
}

const textsOf = (files: Record<string, string>): string[] => Object.values(files).sort()

it('[RE3] a file that both changed: the store has the path, and ours has a name beside it, in the store too', async () => {
  const { store, one, two } = await pair({ '/notes.md': 'base', '/same.txt': 'base' })
  await put(one.replica, '/notes.md', 'by one')
  await put(two.replica, '/notes.md', 'by two')
  for (const { replica } of [one, two]) await put(replica, '/same.txt', 'the same edit')
  await one.replica.flush()
  const failure = await failureOf(two.replica.flush())
  const [conflict] = two.replica.status().conflicts
  expect(conflict).toMatchObject({ path: '/notes.md', kind: 'content' })
  expect(conflict?.kept).toMatch(/^\/notes\.conflict-\d{8}T\d{6}Z-two\.md$/u)
  expect(failure).toMatchObject({ code: 'ECONFLICT', path: '/notes.md' })
  expect(failure.message).toContain(conflict?.kept)
  expect(two.events).toEqual([{ event: 'conflict', ...conflict }])
  await one.replica.refresh?.()
  const files = await expectSame(store, one.replica, two.replica)
  expect(files).toEqual({ '/notes.md': 'by one', '/same.txt': 'the same edit', [conflict?.kept ?? '']: 'by two' })
  expect(one.replica.status().conflicts).toEqual([])
  // settled by removing it
  await two.replica.delete(at(conflict?.kept ?? ''))
  await two.replica.flush()
  expect(two.replica.status().conflicts).toEqual([])
})

it('[RE3] an edit wins over a deletion, on either side', async () => {
  const { store, one, two } = await pair({ '/a': 'a', '/b': 'b', '/d/x': 'x', '/d/y': 'y' })
  await put(one.replica, '/a', 'edited by one')
  await one.replica.delete(at('/b'))
  await one.replica.delete(at('/d'), { recursive: true })
  await two.replica.delete(at('/a'))
  await put(two.replica, '/b', 'edited by two')
  await put(two.replica, '/d/x', 'edited by two')
  await put(two.replica, '/d/new', 'made by two')
  for (const { replica } of [one, two, one, two]) await sync(replica)
  const files = await expectSame(store, one.replica, two.replica)
  expect(files).toEqual({
    '/a': 'edited by one',
    '/b': 'edited by two',
    '/d': 'directory',
    '/d/x': 'edited by two',
    '/d/new': 'made by two',
  })
})

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

it.each<
  [string, (replica: ReplicaAdapter) => Promise<unknown>, (replica: ReplicaAdapter) => Promise<unknown>, string[]]
>([
  [
    'a new file and a new directory',
    (replica) => put(replica, '/t', 'a file'),
    (replica) => put(replica, '/t/inside', 'in a directory'),
    ['a file', 'directory', 'in a directory'],
  ],
  [
    'a new directory and a new file',
    (replica) => put(replica, '/t/inside', 'in a directory'),
    (replica) => put(replica, '/t', 'a file'),
    ['a file', 'directory', 'in a directory'],
  ],
  [
    'a new link and a new file',
    async (replica) => replica.createSymlink?.(at('/t'), 'elsewhere'),
    (replica) => put(replica, '/t', 'a file'),
    ['-> elsewhere', 'a file'],
  ],
  [
    'a file in place of a directory, and an edit in it',
    async (replica) => {
      await replica.delete(at('/was'), { recursive: true })
      await put(replica, '/was', 'now a file')
    },
    (replica) => put(replica, '/was/in', 'edited in it'),
    ['directory', 'edited in it', 'now a file'],
  ],
  [
    'an edit in a directory, and a file in place of it',
    (replica) => put(replica, '/was/in', 'edited in it'),
    async (replica) => {
      await replica.delete(at('/was'), { recursive: true })
      await put(replica, '/was', 'now a file')
    },
    ['directory', 'edited in it', 'now a file'],
  ],
])('[RE3] a change of type keeps both: %s', async (name, first, second, expected) => {
  const { store, one, two } = await pair(name.includes('in place') ? { '/was/in': 'before' } : {})
  await first(one.replica)
  await second(two.replica)
  for (const { replica } of [one, two, one, two]) await sync(replica)
  const files = await expectSame(store, one.replica, two.replica)
  expect(textsOf(files)).toEqual(expected)
  expect([...one.events, ...two.events].map(({ event }) => event)).toEqual(['conflict'])
})

it('[RE3] a call that meets a change of the store keeps both, and says so', async () => {
  const store = createMemoryAdapter({ files: { '/a.txt': 'base' } })
  const { replica } = await machineOf(store, { machine: 'me' })
  await put(store, '/a.txt', 'theirs')
  const failure = await failureOf(put(replica, '/a.txt', 'mine'))
  expect(failure).toMatchObject({ code: 'ECONFLICT', path: '/a.txt' })
  expect(textsOf(await expectSame(store, replica))).toEqual(['mine', 'theirs'])
  expect((await replica.read(at('/a.txt'))).bytes).toEqual((await store.read(at('/a.txt'))).bytes)
})

it('[RE3] a change that another program made on the disk is never pulled over', async () => {
  const { store, one } = await pair({ '/a.txt': 'base' })
  await put(store, '/a.txt', 'theirs')
  await writeFile(`${one.root}/a.txt`, 'mine')
  await one.replica.refresh?.()
  expect(textsOf(await filesOf(one.replica))).toEqual(['mine', 'theirs'])
  await one.replica.flush()
  expect(textsOf(await expectSame(store, one.replica))).toEqual(['mine', 'theirs'])
})

it('a rename is a copy in the store, and keeps bits and time', async () => {
  const { store, one } = await pair()
  await put(one.replica, '/old/name.bin', 'x'.repeat(10_000))
  await one.replica.chmod?.(at('/old/name.bin'), 0o750)
  await one.replica.utimes?.(at('/old/name.bin'), { modifiedAt: 1_000_000_000_000 })
  await one.replica.flush()
  const calls: string[] = []
  const { copy, write } = store
  store.copy = (...given) => {
    calls.push(`copy ${given[0]} ${given[1]}`)
    return copy.apply(store, given)
  }
  store.write = (...given) => {
    calls.push(`write ${given[0]}`)
    return write.apply(store, given)
  }
  await rename(`${one.root}/old`, `${one.root}/new`)
  await one.replica.flush()
  expect(calls).toEqual(['copy /old/name.bin /new/name.bin'])
  expect(await expectSame(store, one.replica)).toEqual({ '/new': 'directory', '/new/name.bin': 'x'.repeat(10_000) })
  const { mode, modifiedAt } = await store.stat(at('/new/name.bin'))
  expect([mode, modifiedAt]).toEqual([0o750, 1_000_000_000_000])
})

it('[RE7] what was copied is verified: a byte that changed without a trace is found, and equal trees have one digest', async () => {
  const { one, two } = await pair({ '/a.txt': 'good', '/dir/b.txt': 'also good' })
  const receipt = await one.replica.verify()
  expect(receipt).toMatchObject({ files: 2, bytes: 13, differing: [] })
  expect(await two.replica.verify()).toEqual(receipt)
  const damaged = join(two.root, 'a.txt')
  const { atime, mtime } = await stat(damaged)
  await writeFile(damaged, 'evil')
  await utimes(damaged, atime, mtime)
  expect((await two.replica.verify()).differing).toEqual(['/a.txt'])
  await put(one.replica, '/a.txt', 'else')
  await one.replica.flush()
  expect((await one.replica.verify()).digest).not.toBe(receipt.digest)
})
