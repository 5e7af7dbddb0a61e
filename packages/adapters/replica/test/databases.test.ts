/** @module-tag all */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

import { createMemoryAdapter } from '@ws/adapter-memory'
import type { MountPath } from '@ws/core/adapter'
import { component, describeWith, rounds } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { materialize, Moments } from './support/moments.ts'
import { at, filesOf, machineOf, ownDirectory } from './support/site.ts'

/** States of a database whose checkpoints cannot end, since readers have the log in use, and what each has committed. */
const program = `
import json, os, random, shutil, sqlite3, sys
place, seed = sys.argv[1], int(sys.argv[2])
random.seed(seed)
path = place + '/d.db'
db = sqlite3.connect(path, isolation_level=None)
for words in ['page_size = %d' % [512, 4096, 65536][seed % 3], 'journal_mode = wal', 'wal_autocheckpoint = 0', 'busy_timeout = 0']:
    db.execute('PRAGMA ' + words)
db.execute('CREATE TABLE t (n INTEGER PRIMARY KEY, count INTEGER, text TEXT)')
for n in range(40): db.execute('INSERT INTO t VALUES (?, 0, hex(randomblob(300)))', [n])
readers = []
def act():
    kind = random.random()
    if kind < 0.6: db.execute('UPDATE t SET count = count + 1, text = hex(randomblob(?)) WHERE n = ?', [random.randrange(900), random.randrange(40)])
    elif kind < 0.7:
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute('BEGIN')
        reader.execute('SELECT count(*) FROM t').fetchone()
        readers.append(reader)
    elif kind < 0.8:
        while readers and random.random() < 0.7: readers.pop().close()
    else:
        try: db.execute('PRAGMA wal_checkpoint(' + random.choice(['PASSIVE', 'PASSIVE', 'RESTART', 'TRUNCATE']) + ')')
        except sqlite3.OperationalError: pass
for state in range(5):
    for _ in range(25): act()
    if state == 4:
        for one in readers + [db]: one.close()
    os.mkdir(f'{place}/{state}')
    for end in ['', '-wal']:
        if os.path.exists(path + end): shutil.copy(path + end, f'{place}/{state}/d.db{end}')
`
const counting = `
import sqlite3, sys
for place in sys.argv[1:]:
    try:
        db = sqlite3.connect(place + '/d.db')
        [fault] = db.execute('PRAGMA integrity_check').fetchone()
        [count] = db.execute('SELECT sum(count) FROM t').fetchone()
        print(count if fault == 'ok' else fault)
    except sqlite3.Error as error: print(error)
`
const countsIn = (places: readonly string[]): string[] =>
  execFileSync('python3', ['-c', counting, ...places], { encoding: 'utf8' })
    .trimEnd()
    .split('\n')

/** The states, each in a directory, and the changes that are committed in each. */
async function statesOf(seed: number) {
  const place = await ownDirectory()
  execFileSync('python3', ['-c', program, place, String(seed)])
  const states = [0, 1, 2, 3, 4].map((state) => `${place}/${state}`)
  const copies = states.map((state) => `${state}-read`)
  for (const [index, state] of states.entries()) cpSync(state, copies[index] ?? '', { recursive: true })
  return { place, states, counts: countsIn(copies) }
}

function bring(state: string, root: string): void {
  for (const end of ['', '-wal']) {
    if (existsSync(`${state}/d.db${end}`)) writeFileSync(`${root}/d.db${end}`, readFileSync(`${state}/d.db${end}`))
    else rmSync(`${root}/d.db${end}`, { force: true })
  }
}

// a program of python for each state
describeWith(component('python3'), 'a database in the middle of a checkpoint', () => {
  it('[RE4] a reader at any moment of a push finds it whole, with all that was committed in the store', {
    tags: 'rounds',
    timeout: 300_000,
  }, async () => {
    for (const round of rounds({ quick: 2, most: 60, seconds: 60 })) {
      const { place, states, counts } = await statesOf(round)
      const store = createMemoryAdapter()
      const moments = new Moments(store, () => 0)
      const { replica, root } = await machineOf(store, { persist: 'flush' })
      for (const [index, state] of states.entries()) {
        bring(state, root)
        await replica.flush()
        const seen = Array.from({ length: moments.count + 1 }, (_, moment) => {
          const directory = `${place}/${index}-${moment}`
          mkdirSync(directory)
          materialize(moments.at(moment), directory)
          return directory
        }).filter((directory) => existsSync(`${directory}/d.db`))
        const allowed = index === 0 ? [counts[0]] : [counts[index - 1], counts[index]]
        for (const count of countsIn(seen)) expect(allowed, `round ${round}, state ${index}`).toContain(count)
        moments.settle()
      }
      expect(Object.keys(await filesOf(store))).toEqual(['/d.db'])
    }
  })

  it('[RE4] a machine that dies between the joined log and its note goes on, with no conflict', async () => {
    const { states, counts } = await statesOf(1)
    const store = createMemoryAdapter()
    const directory = `${await ownDirectory()}/r`
    const first = await machineOf(store, { persist: 'flush', directory })
    bring(states[0] ?? '', first.root)
    await first.replica.flush()
    bring(states[2] ?? '', first.root)
    const { write } = store
    let written = 0
    store.write = async (path: MountPath, data, options) => {
      written += 1
      const result = written === 1 ? await write.call(store, path, data, options) : undefined
      if (result === undefined || path === '/d.db-wal') throw new Error('the machine has died')
      return result
    }
    await Promise.resolve(first.replica.flush()).catch(() => undefined)
    await first.replica.close().catch(() => undefined)
    store.write = write
    expect((await store.stat(at('/d.db-wal'))).size).toBeGreaterThan(0)
    const { replica, root } = await machineOf(store, { persist: 'flush', directory })
    expect(replica.status().conflicts).toEqual([])
    const other = await machineOf(store)
    expect(countsIn([root, other.root])).toEqual([counts[2], counts[2]])
  })
})
