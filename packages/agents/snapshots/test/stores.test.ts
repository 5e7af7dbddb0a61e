import { randomUUID } from 'node:crypto'
import { truncateSync } from 'node:fs'
import { join } from 'node:path'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace, rules, WorkspaceError } from '@ws/core'
import { wrapAdapter, type MountPath, type StorageAdapter, type AdapterOptions } from '@ws/core/adapter'
import { describeWith, itWith, rounds } from '@ws/test-fixtures'
import { watchRequests } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { describe, expect, it, onTestFinished } from 'vitest'

import { createCheckpoints } from '../src/index.ts'
import { randomCalls } from './support/random-calls.ts'
import { failureOf, filesOf, ownDirectory, shareEngine, siteOf, storeOf } from './support/site.ts'

shareEngine()

const at = (path: string): MountPath => path as MountPath
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

/** A store in this process that says of itself that others can reach it, as those of a server do. */
function reachableStore(memory = createMemoryAdapter(), identity: string = randomUUID()): StorageAdapter {
  const capabilities = { ...memory.capabilities, inProcess: undefined }
  return Object.assign(wrapAdapter(memory, { name: 'reachable', capabilities, shared: true }), { identity })
}

/** The same store, where something happens before each write. */
function meddled(adapter: StorageAdapter, before: (path: string) => Promise<unknown>): StorageAdapter {
  const { name, capabilities, identity = '' } = adapter
  const layer = wrapAdapter(adapter, {
    ...{ name, capabilities, shared: true },
    async write({ path }, data, run) {
      await before(path)
      return run(data)
    },
  })
  return Object.assign(layer, { identity: `${identity} meddled` })
}

const stores = {
  memory: { open: async () => createMemoryAdapter(), calls: [25, 15], quick: 3, most: 1_000, seconds: 15 },
  'a store that others can reach': {
    open: async () => reachableStore(),
    calls: [25, 15],
    quick: 2,
    most: 1_000,
    seconds: 20,
  },
  r2: { open: () => storeOf('r2'), calls: [10, 8], quick: 1, most: 50, seconds: 20 },
  ceph: { open: () => storeOf('ceph'), calls: [25, 15], quick: 1, most: 50, seconds: 20 },
} as const

describe('random calls', { tags: 'rounds' }, () => {
  for (const [name, { open, calls, quick, most, seconds }] of Object.entries(stores)) {
    const needs = name === 'r2' || name === 'ceph' ? s3Needs(name) : []
    itWith(
      needs,
      `[UN1] [UN2] [UN3] on ${name} are undone, and the undoing is undone`,
      async () => {
        const checkpoints = createCheckpoints({ stateDirectory: join(await ownDirectory(), 'kept') })
        for (const round of rounds({ quick, most, seconds })) {
          const adapter = await open()
          const { utimes: keepsBits } = adapter.capabilities
          const workspace = await createWorkspace({ mounts: [{ at: '/', adapter }], checkpoints })
          await randomCalls(workspace, { seed: round * 2, count: calls[0], keepsBits })
          const before = await filesOf(workspace)
          const { id } = await workspace.checkpoint()
          expect(await workspace.changes({ since: id })).toEqual([])

          await randomCalls(workspace, { seed: round * 2 + 1, count: calls[1], keepsBits })
          const after = await filesOf(workspace)
          const changed = Object.keys({ ...before, ...after }).filter((path) => before[path] !== after[path])
          const changes = await workspace.changes({ since: id })
          for (const { path } of changes) expect(changed, `round ${round}`).toContain(path)
          for (const path of changed.filter((one) => (before[one] === undefined) !== (after[one] === undefined)))
            expect(
              changes.flatMap((change) => [change.path, change.from]),
              `round ${round}`,
            ).toContain(path)

          const { kept, undo } = await workspace.restore(id)
          expect(kept, `round ${round}`).toEqual([])
          expect(await filesOf(workspace), `round ${round}`).toEqual(before)
          expect(await workspace.changes({ since: id })).toEqual([])

          await workspace.restore(undo ?? '')
          expect(await filesOf(workspace), `round ${round}`).toEqual(after)
          await workspace.close()
        }
      },
      { timeout: 300_000, tags: name === 'ceph' ? ['deep'] : name === 'r2' ? ['all'] : [] },
    )
  }
})

describe('a store that others can reach', () => {
  it('[UN1] has its checkpoints in the next process on the state directory, and not under another name', async () => {
    const stateDirectory = join(await ownDirectory(), 'kept')
    const adapter = reachableStore()
    const first = await siteOf({ adapter, stateDirectory })
    await first.workspace.write('/file.txt', 'one\n')
    const { id } = await first.workspace.checkpoint({ label: 'first' })
    await first.workspace.write('/file.txt', 'two\n')
    await first.workspace.close()

    const other = await siteOf({ adapter: reachableStore(), stateDirectory })
    expect(await other.workspace.checkpoints()).toEqual([])
    expect(await failureOf(other.workspace.changes({ since: id }))).toMatchObject({ code: 'EINVAL' })
    await other.workspace.close()

    const { workspace } = await siteOf({ adapter, stateDirectory })
    expect(await workspace.checkpoints()).toMatchObject([{ id, label: 'first' }])
    await workspace.write('/made.txt', 'made')
    expect((await workspace.changes()).map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'changed /file.txt',
      'created /made.txt',
    ])
    expect(await workspace.diff({ path: '/file.txt' })).toContain('-one\n+two\n')
    await workspace.restore(id)
    expect(await filesOf(workspace)).toMatchObject({ '/file.txt': expect.stringContaining('one') as string })
    expect(await workspace.exists('/made.txt')).toBe(false)
  })

  it('[UN1] shares its checkpoints among the workspaces of an engine, which see the changes of each other', async () => {
    const checkpoints = createCheckpoints({ stateDirectory: join(await ownDirectory(), 'kept') })
    const memory = createMemoryAdapter()
    const open = async () => {
      const adapter = reachableStore(memory, 'the same')
      const workspace = await createWorkspace({ mounts: [{ at: '/', adapter }], checkpoints })
      onTestFinished(() => workspace.close())
      return workspace
    }
    const [one, two] = [await open(), await open()]
    await one.write('/file.txt', 'one')
    const { id } = await one.checkpoint()
    await two.write('/file.txt', 'two')
    await two.close()
    expect(await one.changes({ since: id })).toMatchObject([{ path: '/file.txt' }])
    const { id: later } = await one.checkpoint()
    await one.write('/file.txt', 'three')
    await one.restore(later)
    expect(await one.readText('/file.txt')).toBe('two')
    await one.restore(id)
    expect(await one.readText('/file.txt')).toBe('one')
  })

  it('[UN3] keeps the work of another writer in a restore, and names the path', async () => {
    const adapter = reachableStore()
    let meddle: (() => Promise<unknown>) | undefined
    const { workspace } = await siteOf({
      adapter: meddled(adapter, async () => {
        await meddle?.()
        meddle = undefined
      }),
    })
    for (const path of ['/one.txt', '/two.txt']) await workspace.write(path, 'old')
    const { id } = await workspace.checkpoint()
    for (const path of ['/one.txt', '/two.txt']) await workspace.write(path, 'new')
    meddle = () => adapter.write(at('/one.txt'), bytesOf('of another'))
    const { kept, restored } = await workspace.restore(id)
    expect(kept).toEqual([{ path: '/one.txt', reason: 'it was changed meanwhile' }])
    expect(restored).toMatchObject([{ path: '/two.txt' }])
    expect(await workspace.readText('/one.txt')).toBe('of another')
    expect(await workspace.readText('/two.txt')).toBe('old')
  })

  it('[UN6] that is late and then fails in a restore names what is done, and another restore goes on', async () => {
    const adapter = reachableStore()
    let failing = false
    const failed = Promise.withResolvers<void>()
    const late = meddled(adapter, async (path) => {
      if (!failing) return
      if (path === '/late.txt') return failed.promise
      if (path !== '/failing.txt') return
      failed.resolve()
      throw new WorkspaceError({ code: 'EBACKEND', operation: 'write', path, reason: 'gave no answer' })
    })
    const { workspace } = await siteOf({ adapter: late })
    const paths = ['/late.txt', '/failing.txt', '/other.txt']
    for (const path of paths) await workspace.write(path, 'old')
    const { id } = await workspace.checkpoint()
    for (const path of paths) await workspace.write(path, 'new')
    failing = true
    const { code, partial } = await failureOf(workspace.restore(id))
    expect(code).toBe('EBACKEND')
    expect(partial).toMatchObject({ failedAt: '/failing.txt', completedCount: 2 })
    expect(partial?.completed.toSorted()).toEqual(['/late.txt', '/other.txt'])
    failing = false
    expect((await workspace.restore(id)).restored).toMatchObject([{ path: '/failing.txt' }])
    for (const path of paths) expect(await workspace.readText(path), path).toBe('old')
  })

  it('[UN5] refuses a change whose earlier state has no room, and a checkpoint makes room', async () => {
    const { workspace } = await siteOf({ adapter: reachableStore(), maxBytes: 15_000 })
    const text = (seed: number): string =>
      Array.from({ length: 8_000 }, (_, index) => Math.floor(Math.sin(seed * 10_000 + index) * 1e9).toString(36))
        .join('')
        .slice(0, 12_000)
    await workspace.write('/one.txt', text(1))
    await workspace.write('/two.txt', text(2))
    await workspace.checkpoint()
    await workspace.write('/one.txt', 'small')
    const failure = await failureOf(workspace.write('/two.txt', 'small'))
    expect(failure).toMatchObject({ code: 'EDQUOT', operation: 'write', path: '/two.txt' })
    expect(failure.message).toContain('take a checkpoint')
    expect(await workspace.readText('/two.txt')).toBe(text(2))
    const { id } = await workspace.checkpoint()
    await workspace.write('/two.txt', 'small')
    await workspace.restore(id)
    expect(await workspace.readText('/two.txt')).toBe(text(2))
  })

  it('[UN6] with damaged bytes is EIO, and nothing is changed', async () => {
    const { workspace, stateDirectory } = await siteOf({
      adapter: reachableStore(),
      stateDirectory: join(await ownDirectory(), 'kept'),
    })
    await workspace.write('/one.txt', 'old one')
    await workspace.write('/two.txt', 'old two')
    const { id } = await workspace.checkpoint()
    await workspace.write('/one.txt', 'new')
    await workspace.write('/two.txt', 'new')
    await workspace.write('/made.txt', 'would go first')
    const before = await filesOf(workspace)
    truncateSync(join(stateDirectory, 'pack-1'), 10)
    expect(await failureOf(workspace.restore(id))).toMatchObject({ code: 'EIO', operation: 'restore' })
    expect(await filesOf(workspace)).toEqual(before)
  })

  it('[UN4] shows nothing that the rules of today deny, and restores nothing of it', async () => {
    const adapter = reachableStore()
    const stateDirectory = join(await ownDirectory(), 'kept')
    const first = await siteOf({ adapter, stateDirectory })
    await first.workspace.write('/hidden/file.txt', 'classified before')
    await first.workspace.write('/open.txt', 'open before')
    const { id } = await first.workspace.checkpoint()
    await first.workspace.write('/hidden/file.txt', 'classified after')
    await first.workspace.write('/open.txt', 'open after')
    await first.workspace.close()
    const { workspace } = await siteOf({ adapter, stateDirectory, rules: [rules.deny('/hidden')] })
    expect((await workspace.changes({ since: id })).map(({ path }) => path)).toEqual(['/open.txt'])
    expect(await workspace.diff({ since: id })).not.toContain('classified')
    expect((await workspace.restore(id)).restored.map(({ path }) => path)).toEqual(['/open.txt'])
    expect((await adapter.read(at('/hidden/file.txt'))).bytes).toEqual(bytesOf('classified after'))
  })

  it('[UN1] has its checkpoints though no path can name some entries, which are named as left out', async () => {
    const memory = createMemoryAdapter({ files: { '/d/file.txt': 'old' } })
    const adapter = Object.assign(reachableStore(memory), {
      async *list(path: MountPath, options?: AdapterOptions.List) {
        yield { path: at('/d/..'), name: '..', type: 'directory', unreachable: true } as const
        yield* memory.list(path, options)
      },
    })
    const { workspace } = await siteOf({ adapter })
    const { id, leftOut } = await workspace.checkpoint()
    expect(leftOut).toEqual([{ path: '/d/..', reason: 'no path can name it' }])
    await workspace.delete('/d', { recursive: true })
    await workspace.restore(id)
    expect(await workspace.readText('/d/file.txt')).toBe('old')
  })

  it('needs a state directory', async () => {
    const without = createWorkspace({
      mounts: [{ at: '/', adapter: reachableStore() }],
      checkpoints: createCheckpoints(),
    })
    expect(await failureOf(without)).toMatchObject({ code: 'EINVAL', path: '/' })
  })
})

// one server
describeWith(s3Needs('r2'), 'checkpoints on a bucket', () => {
  it('[UN3] bring back empty directories that hold something now', { tags: 'all' }, async () => {
    const { workspace } = await siteOf({ kind: 'r2' })
    for (const path of ['/d', '/e/f', '/kept']) await workspace.createDirectory(path, { recursive: true })
    const before = await filesOf(workspace)
    const { id } = await workspace.checkpoint()
    for (const path of ['/d', '/e']) await workspace.delete(path, { recursive: true })
    // these directories have no object of their own
    for (const path of ['/d/x', '/e/f/x', '/kept/x']) await workspace.write(path, 'new')
    const { undo } = await workspace.restore(id)
    expect(await filesOf(workspace)).toEqual(before)
    await workspace.restore(undo ?? '')
    expect(await workspace.readText('/e/f/x')).toBe('new')
  })

  it('take as few requests as the README says', { tags: 'all' }, async () => {
    const server = await sharedS3Server('r2')
    onTestFinished(() => server.close())
    const client = server.client({ maxAttempts: 1 })
    const sent = watchRequests(client)
    const counts: Record<string, number> = {}
    const count = async <Result>(step: string, work: () => Promise<Result>): Promise<Result> => {
      sent.length = 0
      const result = await work()
      counts[step] = sent.length
      return result
    }
    const { workspace } = await siteOf({
      adapter: await createS3Adapter({ client, bucket: server.bucket, prefix: 'counted' }),
    })
    for (const name of ['a', 'b', 'c', 'd', 'e']) await workspace.write(`/in/${name}.txt`, 'old')
    await count('write without a checkpoint', () => workspace.write('/in/a.txt', 'old again'))
    await count('checkpoint', () => workspace.checkpoint())
    await count('first write of a file', () => workspace.write('/in/a.txt', 'new'))
    await count('next write of it', () => workspace.write('/in/a.txt', 'newer'))
    await count('a new file in a directory that is there', () => workspace.write('/in/f.txt', 'new'))
    await count('another one', () => workspace.write('/in/g.txt', 'new'))
    await count('delete', () => workspace.delete('/in/b.txt'))
    await count('move', () => workspace.move('/in/c.txt', '/in/moved.txt'))
    expect(counts).toEqual({
      'write without a checkpoint': 1,
      checkpoint: 1,
      'first write of a file': 4,
      'next write of it': 1,
      'a new file in a directory that is there': 5,
      'another one': 3,
      delete: 7,
      move: 13,
    })
  })
})
