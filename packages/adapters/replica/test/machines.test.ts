import { rename, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { WorkspaceError } from '@ws/core'
import { expect, it } from 'vitest'

import type { ReplicaAdapter } from '../src/index.ts'
import { expectSame, pair, sync } from './support/pair.ts'
import { at, failureOf, filesOf, machineOf, put } from './support/site.ts'

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

it('[RE2] a file takes the place of a link whose target a link has that the store refuses', async () => {
  const { store, one } = await pair()
  const { createSymlink } = store
  store.createSymlink = async (path, target, options) => {
    if (path !== '/refused') return createSymlink?.call(store, path, target, options)
    throw new WorkspaceError({ code: 'EACCES', operation: 'createSymlink', path, reason: 'is denied', remedy: 'none' })
  }
  await one.replica.createSymlink?.(at('/a'), 'target')
  await one.replica.flush()
  await one.replica.delete(at('/a'))
  await put(one.replica, '/a', 'a file')
  await one.replica.createSymlink?.(at('/refused'), 'target')
  expect(await failureOf(one.replica.flush())).toMatchObject({ code: 'ENOTSUP', path: '/refused' })
  expect(await filesOf(store)).toEqual({ '/a': 'a file' })
})
