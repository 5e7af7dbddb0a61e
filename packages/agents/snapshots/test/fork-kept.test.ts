import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { openIndex } from '../src/store/open-index.ts'
import { ownDirectory, siteOf } from './support/site.ts'

/** Counts the rows of tables of a state directory that no process uses. */
function countsOf(stateDirectory: string): Record<string, number> {
  const database = openIndex(stateDirectory)
  try {
    const tables = ['trees', 'forks', 'holds', 'loosened']
    const count = (table: string) => database.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)?.n ?? -1
    const loose = ['entries', 'checkpoints', 'attributes'].map((table) => [
      `loose ${table}`,
      count(`${table} WHERE tree NOT IN (SELECT id FROM trees)`),
    ])
    return Object.fromEntries([...tables.map((table) => [table, count(table)]), ...loose])
  } finally {
    database.close()
  }
}

it('[EF3] a closed fork, and one whose directory is gone, leave nothing in the state directory', async () => {
  const stateDirectory = join(await ownDirectory(), 'kept')
  const { workspace, root } = await siteOf({ stateDirectory })
  await workspace.write('/a', 'x')
  await (await workspace.fork()).close()
  const directory = join(await ownDirectory(), 'fork')
  await (await workspace.fork({ directory })).close()
  await workspace.close()
  const one = {
    trees: 1,
    forks: 0,
    holds: 0,
    loosened: 0,
    'loose entries': 0,
    'loose checkpoints': 0,
    'loose attributes': 0,
  }
  expect(countsOf(stateDirectory)).toEqual({ ...one, trees: 2, forks: 1 })
  rmSync(directory, { recursive: true })
  const again = await siteOf({ root, stateDirectory })
  await (await again.workspace.fork()).close()
  await again.workspace.close()
  expect(countsOf(stateDirectory)).toEqual(one)
})

it('[EF3] a state directory from before forks opens, and forks', async () => {
  const stateDirectory = join(await ownDirectory(), 'kept')
  const { workspace, root } = await siteOf({ stateDirectory })
  await workspace.write('/a', 'x')
  const { id } = await workspace.checkpoint()
  await workspace.close()
  const database = openIndex(stateDirectory)
  database.run('DROP TABLE forks')
  database.close()
  const { workspace: next } = await siteOf({ root, stateDirectory })
  await using fork = await next.fork()
  await fork.delete('/a')
  expect((await next.merge(fork)).merged).toMatchObject([{ path: '/a', kind: 'deleted' }])
  await next.restore(id)
  expect(await next.readText('/a')).toBe('x')
})

for (const kind of ['memory', 'local'] as const) {
  it(`[EF3] the shared checkpoint in ${kind} is not deleted to make room, on either side`, async () => {
    const { workspace } = await siteOf({ kind, maxBytes: 500_000, maxAge: 1 })
    await workspace.write('/a', 'one')
    await using fork = await workspace.fork()
    await fork.write('/a', 'two')
    for (const side of [workspace, fork]) {
      for (let turn = 0; turn < 8; turn += 1) {
        await side.write('/large.bin', randomBytes(100_000).toString('hex'))
        await side.checkpoint()
      }
    }
    await fork.delete('/large.bin')
    expect(await workspace.checkpoints()).not.toHaveLength(9)
    const { merged, conflicts } = await workspace.merge(fork)
    expect([merged.map(({ path }) => path), conflicts]).toEqual([['/a'], []])
  })
}
