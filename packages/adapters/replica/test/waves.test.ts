import { createMemoryAdapter } from '@ws/adapter-memory'
import { Turnstile } from '@ws/tree'
import { contentOf } from '@ws/tree/disk'
import { describe, expect, it } from 'vitest'

import type { Disk } from '../src/disk.ts'
import type { FirstCopy } from '../src/sync/first-copy.ts'
import { orderOf } from '../src/sync/order.ts'
import { Packs } from '../src/sync/packs.ts'
import { pass } from '../src/sync/pass.ts'
import type { Site } from '../src/sync/site.ts'
import { Tombstones } from '../src/sync/tombstones.ts'
import { ReplicaTree } from '../src/sync/tree.ts'
import type { LookRequest, Seen } from '../src/worker/protocol.ts'
import { at, filesOf, machineOf, put } from './support/site.ts'

const hash = (letter: string): string => letter.repeat(38)

describe('[RE4] the order of changes', () => {
  interface Change {
    readonly was?: 'file' | 'directory'
    readonly is?: 'file' | 'directory'
    readonly time?: number
  }
  const order = (changes: Record<string, Change>) => {
    return orderOf({
      paths: Object.keys(changes).map(at),
      before: (path) => changes[path]?.was,
      after: (path) => changes[path]?.is,
      time: (path) => changes[path]?.time ?? 0,
    })
  }
  const changed = { was: 'file', is: 'file' } as const

  it('has hashes first, then names one by one in their time, and at the same time new ones first', () => {
    const { waves } = order({
      '/.git/HEAD': { ...changed, time: 3 },
      '/.git/refs/heads/new': { is: 'file', time: 3 },
      '/.git/index': { ...changed, time: 2 },
      [`/.git/objects/ab/${hash('c')}`]: { is: 'file', time: 4 },
      [`/.git/objects/pack/pack-${hash('d')}.idx`]: { is: 'file', time: 1 },
      [`/.git/objects/pack/pack-${hash('d')}.pack`]: { is: 'file', time: 1 },
      '/page.md': { ...changed, time: 1 },
    })
    expect(waves).toEqual([
      [`/.git/objects/ab/${hash('c')}`, `/.git/objects/pack/pack-${hash('d')}.pack`],
      [`/.git/objects/pack/pack-${hash('d')}.idx`],
      ...[['/page.md'], ['/.git/index'], ['/.git/refs/heads/new'], ['/.git/HEAD']],
    ])
  })

  it('has a hash that is gone after the names that gave it, and directories at the end', () => {
    const { gone } = order({
      [`/.git/objects/ab/${hash('c')}`]: { was: 'file' },
      '/.git/objects/ab': { was: 'directory' },
      '/.git/refs/heads/old': { was: 'file' },
    })
    expect(gone.filter(({ length }) => length > 0)).toEqual([
      ['/.git/refs/heads/old'],
      [`/.git/objects/ab/${hash('c')}`],
      ['/.git/objects/ab'],
    ])
  })

  it('keeps many files in waves of neighbours, and a manifest after them', () => {
    const many = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`/node_modules/m${index}.js`, { is: 'file', time: index } as const]),
    )
    const { waves } = order({ '/node_modules/.package-lock.json': { is: 'file', time: 200 }, ...many })
    expect(waves.map(({ length }) => length)).toEqual([32, 32, 32, 4, 1])
    expect(waves.at(-1)).toEqual(['/node_modules/.package-lock.json'])
  })

  it('has a journal of SQLite before the database, and its log after it, also where that is gone', () => {
    const before = order({
      '/d.db': { ...changed, time: 2 },
      '/d.db-wal': { was: 'file' },
      '/d.db-journal': { is: 'file' },
    })
    expect(before.waves).toEqual([['/d.db-journal'], ['/d.db'], ['/d.db-wal']])
    expect(order({ '/d.db-wal': { is: 'file', time: 1 }, '/d.db': changed }).waves).toEqual([['/d.db'], ['/d.db-wal']])
  })
})

const later = Date.now() + 3_600_000

type State = Readonly<Record<string, readonly [text: string, ctime: number]>>

/** A directory that changes while it is looked at: each look of everything answers with the next of these states. */
function changing(states: readonly State[]) {
  const store = createMemoryAdapter()
  const tree = new ReplicaTree()
  const sent: string[] = []
  const { write } = store
  store.write = (path, data, options) => {
    sent.push(`${path} ${new TextDecoder().decode(data as Uint8Array)}`)
    return write.call(store, path, data, options)
  }
  let looks = 0
  const state = () => states[Math.min(looks, states.length) - 1] ?? {}
  const seenOf = ([text, ctime]: readonly [string, number]): Seen => {
    const bytes = Buffer.from(text)
    return { type: 'file', size: bytes.length, mode: 0o644, mtime: 1_000, ctime, content: contentOf(bytes) }
  }
  const methods = {
    look({ only }: LookRequest) {
      if (only === undefined) looks += 1
      const changed = new Map(Object.entries(state()).map(([path, facts]) => [path, seenOf(facts)]))
      changed.set('/', { type: 'directory', size: 0, mode: 0o755, mtime: later, ctime: later })
      return { changed, gone: [...tree.seen.keys()].filter((path) => !changed.has(path)), leftOut: [], unknown: [] }
    },
    read: (path: string) => Buffer.from(state()[path]?.[0] ?? ''),
    agree: () => undefined,
  }
  const disk = {
    ask: async (method: keyof typeof methods, ...args: unknown[]) =>
      (methods[method] as (...given: unknown[]) => unknown)(...args),
  } as unknown as Disk
  const turnstile = new Turnstile()
  const site = {
    ...{ store, disk, tree, turnstile, machine: 'm', tombstones: new Tombstones('id'), packs: new Packs(store) },
    limits: { maxFiles: 100, rebuild: new Set() },
    ...{ reserved: () => [], isBusy: () => true, onEvent: () => undefined },
  } as unknown as Site
  return { store, sent, push: () => pass(site, {} as FirstCopy, { look: 'all', pull: false, push: true }) }
}

describe('a push while programs run', () => {
  it('[RE4] holds a name back that changed during the look, until the next look has what came before it', async () => {
    const { sent, push } = changing([
      { '/.git/ref': ['new', later] },
      { '/.git/ref': ['new', later], '/.git/object': ['made first', 1] },
    ])
    expect((await push()).failures.size).toBe(0)
    expect(sent).toEqual(['/.git/object made first', '/.git/ref new'])
  })

  it('[RE4] sends a pack that came during the look before the names of its objects', async () => {
    const pack = `/.git/objects/pack/pack-${hash('d')}.pack`
    const { sent, push } = changing([{ '/.git/refs/heads/main': ['new', 1], [pack]: ['objects', later] }])
    await push()
    expect(sent).toEqual([`${pack} objects`, '/.git/refs/heads/main new'])
  })

  it('[RE4] sends no name of a repository before packed names that came during the look', async () => {
    const names = { '/.git/HEAD': ['moved', 1], '/.git/packed-refs': ['names', later] } as const
    const { sent, push } = changing([
      { '/page': ['page', 1], ...names },
      { '/next': ['next', 0], ...names },
    ])
    await push()
    expect(sent).toEqual(['/page page', '/next next', '/.git/HEAD moved', '/.git/packed-refs names'])
  })

  it('[RE2] [RE4] sends a file that changes all the time as it was before a look, after the others', async () => {
    const { store, sent, push } = changing([
      { '/log': ['1', later] },
      { '/log': ['12', later + 1], '/other': ['other', 1] },
    ])
    expect(await push()).toMatchObject({ failures: new Map(), changedMeanwhile: ['/log'] })
    expect(sent).toEqual(['/other other', '/log 1'])
    expect(await filesOf(store)).toEqual({ '/log': '1', '/other': 'other' })
  })

  it('[RE4] sends a database and its log as they were together, the database first', async () => {
    const { sent, push } = changing([
      { '/d.db': ['D1', later + 1], '/d.db-wal': ['W1', later] },
      { '/d.db': ['D2', later + 3], '/d.db-wal': ['W2', later + 2] },
    ])
    await push()
    expect(sent).toEqual(['/d.db D1', '/d.db-wal W1'])
  })

  it('[RE4] sends no database whose log changed within one tick of the clock', async () => {
    let logs = 0
    const torn = {
      '/d.db': ['D', later] as const,
      get '/d.db-wal'() {
        logs += 1
        return [`W${logs}`, later] as const
      },
    }
    const { sent, push } = changing([torn, { '/d.db': ['D2', later + 1], '/d.db-wal': ['W', later + 1] }])
    await push()
    expect(sent).toEqual(['/d.db D2', '/d.db-wal W'])
  })

  it('[RE4] sends a database without the log that came after it', async () => {
    const [old, alone] = [{ '/d.db': ['D0', 1], '/d.db-wal': ['W0', 1] }, { '/d.db': ['D1', later] }] as const
    const { store, push } = changing([old, alone, { '/d.db': ['D2', later + 1], '/d.db-wal': ['W2', later + 1] }])
    await push()
    await push()
    expect(await filesOf(store)).toEqual({ '/d.db': 'D1' })
  })

  it('[RE2] [RE4] deletes no name whose successor the look may have missed', async () => {
    const { store, sent, push } = changing([{ '/loose': ['object', 1] }, {}, { '/pack': ['object too', 1] }])
    await push()
    const { delete: remove } = store
    store.delete = (path, options) => {
      sent.push(`${path} goes`)
      return remove.call(store, path, options)
    }
    await push()
    expect(sent).toEqual(['/loose object', '/pack object too', '/loose goes'])
  })
})

describe('a pull', () => {
  it('[RE4] shows new names before names that replace one, and asks for those that the listing missed before it deletes', async () => {
    const store = createMemoryAdapter({ files: { '/.git/ref': 'old', '/.git/loose': 'object' } })
    const { replica } = await machineOf(store, { persist: 'flush' })
    const { list, read, stat } = store
    const asked: string[] = []
    store.read = (path, options) => {
      asked.push(path)
      return read.call(store, path, options)
    }
    store.stat = (path, options) => {
      if (path !== '/') asked.push(`${path} is gone`)
      return stat.call(store, path, options)
    }
    await put(store, '/.git/seen', 'object')
    await put(store, '/.git/ref', 'new')
    await store.delete(at('/.git/loose'))
    let lists = 0
    store.list = (path, options) => {
      lists += 1
      // another machine pushes this one while the store is listed
      if (lists === 1) void put(store, '/.git/missed', 'object')
      const listing = list.call(store, path, options)
      const isFirst = lists === 1
      return (async function* () {
        for await (const entry of listing) if (!isFirst || entry.name !== 'missed') yield entry
      })()
    }
    await replica.refresh?.()
    expect(asked).toEqual(['/.git/seen', '/.git/ref', '/.git/missed', '/.git/loose is gone'])
    expect(await filesOf(replica)).toEqual(await filesOf(store))
  })
})
