import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createMemoryAdapter } from '@ws/adapter-memory'
import type { StorageAdapter } from '@ws/core/adapter'
import { expect, it } from 'vitest'

import { createReplicaAdapter } from '../src/index.ts'
import { at, filesOf, machineOf, ownDirectory, put } from './support/site.ts'

/** Without directories. */
const textsOf = async (adapter: StorageAdapter): Promise<Record<string, string>> =>
  Object.fromEntries(Object.entries(await filesOf(adapter)).filter(([, text]) => text !== 'directory'))

const rebuild = ['node_modules', '.venv']

it('[RE2] trees that are made anew stay on their machine, by whichever door they are written, and those of the store stay there', async () => {
  const store = createMemoryAdapter({ files: { '/node_modules/theirs.js': 'theirs', '/app/index.js': 'index' } })
  const { replica, root } = await machineOf(store, { rebuild })
  expect(await textsOf(replica)).toEqual({ '/app/index.js': 'index' })
  await mkdir(join(root, 'app/node_modules/dependency'), { recursive: true })
  await writeFile(join(root, 'app/node_modules/dependency/index.js'), 'made here')
  await writeFile(join(root, 'app/package.json'), '{}')
  await put(replica, '/app/.venv/pyvenv.cfg', 'home = /usr')
  await put(replica, '/lib/node_modules/b.js', 'b')
  await replica.flush()
  expect(await textsOf(store)).toEqual({
    '/app/index.js': 'index',
    '/app/package.json': '{}',
    '/node_modules/theirs.js': 'theirs',
  })
  expect(replica.status()).toMatchObject({ dirty: [], leftOut: [] })
  expect((await replica.verify()).differing).toEqual([])
  // another machine has the rest, and makes its own
  const other = await machineOf(store, { rebuild })
  expect(await textsOf(other.replica)).toEqual({ '/app/index.js': 'index', '/app/package.json': '{}' })
  expect((await other.replica.verify()).digest).toBe((await replica.verify()).digest)
  await replica.refresh?.()
  expect(Object.keys(await textsOf(replica))).toContain('/app/node_modules/dependency/index.js')
})

it('[RE3] a tree that was copied before it was named is deleted on neither side, and comes back into step when it is not named any more', async () => {
  const store = createMemoryAdapter({ files: { '/node_modules/a.js': 'a' } })
  const directory = await ownDirectory()
  const open = (names?: readonly string[]) =>
    createReplicaAdapter({ store, directory, persist: 'flush', rebuild: names })
  await (await open()).close()
  const named = await open(rebuild)
  await rm(join(directory, 'files/node_modules'), { recursive: true })
  await put(named, '/node_modules/b.js', 'b')
  await named.flush()
  await put(store, '/node_modules/c.js', 'c')
  await named.refresh?.()
  expect(await textsOf(named)).toEqual({ '/node_modules/b.js': 'b' })
  await named.close()
  expect(await textsOf(store)).toEqual({ '/node_modules/a.js': 'a', '/node_modules/c.js': 'c' })
  const again = await open()
  await again.flush()
  expect(await textsOf(store)).toEqual({ '/node_modules/b.js': 'b', '/node_modules/c.js': 'c' })
  expect(await textsOf(again)).toEqual(await textsOf(store))
  await again.delete(at('/node_modules'), { recursive: true })
  await again.close()
})
