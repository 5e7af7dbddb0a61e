import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { watch } from 'node:fs/promises'

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import { paths, WorkspaceError } from '@ws/core'
import { wrapAdapter, type StorageAdapter } from '@ws/core/adapter'
import { createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { startFaultProxy } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { createObjectLeases, createProcessLeases, createThreads, type Threads } from '@ws/threads'
import { describe, expect, it, onTestFinished } from 'vitest'

async function threadsOn(store: StorageAdapter): Promise<Threads> {
  const threads = await createThreads({ store, leases: createProcessLeases() })
  onTestFinished(async () => {
    await threads.close()
    await store.close()
  })
  return threads
}

describe('[RP12] a full disk', () => {
  const smallDisk = async (skip: (reason: string) => void): Promise<string> => {
    const scratch = await createScratchDirectory({ prefix: 'ws-threads-' })
    onTestFinished(() => scratch.remove())
    const mounted = spawnSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', scratch.path])
    if (mounted.status !== 0) skip('mounting is not permitted here')
    onTestFinished(() => void spawnSync('/usr/bin/umount', ['-l', scratch.path]))
    return scratch.path
  }

  it('is ENOSPC for the notes of a lease, which is renewed without new space', async ({ skip }) => {
    const root = await smallDisk(skip)
    await using store = await createLocalAdapter({ root })
    const leases = createObjectLeases({ adapter: store, directory: '.ws/threads', ttl: 3000 })
    onTestFinished(() => leases.close())
    const lease = await leases.acquire('t1')
    await lease.writeNotes({ kept: 'yes' })
    await fill(async (data) => store.append?.(paths.parseMount('/filler'), data))
    await expect(lease.writeNotes({ more: 'x' })).rejects.toMatchObject({ code: 'ENOSPC' })

    // without a renewal it would be lost after 2 s; each is a new name of the same file
    const renewed: (string | null)[] = []
    for await (const { filename } of watch(`${root}/.ws/threads/t1`, { signal: lease.lost })) {
      if (/^lease\.\d+$/u.test(filename ?? '') && !renewed.includes(filename)) renewed.push(filename)
      if (renewed.length > 2) break
    }
    expect(lease.isHeld()).toBe(true)
    expect(lease.notes).toEqual({ kept: 'yes' })
    await expect(leases.acquire('t1')).rejects.toMatchObject({ code: 'EBUSY' })
    await store.delete(paths.parseMount('/filler'))
    await lease.writeNotes({ more: 'x' })
  })

  it('is ENOSPC for a write and for a new thread; threads that are open go on', async ({ skip }) => {
    const root = await smallDisk(skip)
    const threads = await threadsOn(await createLocalAdapter({ root }))
    const { workspace } = await threads.open({ threadId: 't1', userId: 'u1' })
    await workspace.write('/kept.txt', 'kept')

    const tooMuch = workspace.write('/big', randomBytes(1_000_000))
    await expect(tooMuch).rejects.toMatchObject({ code: 'ENOSPC', path: '/big' })
    await fill(workspace.append.bind(workspace, '/filler'))
    await expect(threads.open({ threadId: 't2', userId: 'u1' })).rejects.toMatchObject({ code: 'ENOSPC' })

    expect(await workspace.readText('/kept.txt')).toBe('kept')
    await workspace.delete('/filler')
    await workspace.write('/again.txt', 'again')
    // the attempt left nothing that is in the way
    await (await threads.open({ threadId: 't2', userId: 'u1' })).workspace.write('/mine.txt', 'mine')
  })
})

/** Appends until the disk is full. */
async function fill(append: (data: Uint8Array) => Promise<unknown>): Promise<void> {
  for (const size of [65_536, 4_096, 1]) {
    for (let full = false; !full; )
      full = await append(randomBytes(size)).then(
        () => false,
        () => true,
      )
  }
}

interface Refusing {
  readonly store: StorageAdapter
  /** From now on, it refuses the calls for which this is true. */
  refuse(isRefused: ((path: string, isRead: boolean) => boolean) | undefined): void
  /** No error may name it. */
  readonly secret: string
}

/** A store in this process that refuses as one with permissions does. */
async function refusingMemory(): Promise<Refusing> {
  const inner = createMemoryAdapter()
  let refused: Parameters<Refusing['refuse']>[0]
  const store = wrapAdapter(inner, {
    name: inner.name,
    capabilities: inner.capabilities,
    async call({ operation, path }, run) {
      if (refused?.(path, !/^(?:write|createDirectory)$/u.test(operation)) !== true) return run()
      throw new WorkspaceError({ code: 'EBACKEND', operation, path, reason: 'was refused by the store' })
    },
  })
  return { store, secret: 'bucket', refuse: (isRefused) => (refused = isRefused) }
}

async function refusingBucket(): Promise<Refusing> {
  const server = await sharedS3Server('r2')
  const proxy = await startFaultProxy(server)
  onTestFinished(async () => {
    await proxy.close()
    await server.close()
  })
  const { endpoint, region, credentials, bucket } = proxy
  const store = await createS3Adapter({ endpoint, region, credentials, bucket, forcePathStyle: true })
  return {
    store,
    secret: bucket,
    refuse: (isRefused) =>
      proxy.setFaults(({ method, key, query }) =>
        isRefused?.(`/${key}${query.get('prefix') ?? ''}`, method === 'GET') === true
          ? { kind: 'refuse', status: 403, code: 'AccessDenied' }
          : undefined,
      ),
  }
}

const refusing = [
  { name: 'memory', needs: [], tags: [], open: refusingMemory },
  { name: 'a bucket', needs: s3Needs('r2'), tags: ['all'], open: refusingBucket },
]

for (const { name, needs, tags, open } of refusing) {
  describeWith(needs, `[RP12] a store that lacks permissions: ${name}`, { tags }, () => {
    it('is one error for the thread that it refuses; the others go on', async () => {
      const { store, secret, refuse } = await open()
      const threads = await threadsOn(store)
      const first = await threads.open({ threadId: 't1', userId: 'u1' })
      refuse((path, isRead) => !isRead && path.startsWith('/threads/t2'))
      await expect(threads.open({ threadId: 't2', userId: 'u1' })).rejects.toMatchObject({
        code: 'EBACKEND',
        message: expect.not.stringContaining(secret) as string,
      })
      await first.workspace.write('/a.txt', 'a')
      await (await threads.open({ threadId: 't3', userId: 'u1' })).workspace.write('/b.txt', 'b')

      refuse(undefined)
      await (await threads.open({ threadId: 't2', userId: 'u1' })).workspace.write('/c.txt', 'c')
    })

    it('shows skills that it refuses as empty, with a warning', async () => {
      const { store, refuse } = await open()
      const threads = await threadsOn(store)
      refuse((path) => path.startsWith('/skills'))
      const thread = await threads.open({ threadId: 't1', userId: 'u1' })
      expect(thread.status().warnings).toContainEqual({
        path: '/.solven/skills/system',
        reason: 'is empty: the store answered EBACKEND',
      })
      expect(await thread.formatCatalogue()).toBe('')
      await thread.workspace.write('/a.txt', 'a')
    })
  })
}

describe('[RP12] a store that does not answer', () => {
  it('is an error that names the thread, the store, and since when it was asked', async () => {
    const failing = new Set<string>()
    const inner = createMemoryAdapter()
    const store = wrapAdapter(inner, {
      name: inner.name,
      capabilities: inner.capabilities,
      async call({ operation, path }, run) {
        if (![...failing].some((place) => path.startsWith(place))) return run()
        throw new WorkspaceError({
          code: 'ETIMEDOUT',
          operation,
          path,
          reason: 'was not served in time',
          remedy: 'wait',
        })
      },
    })
    const leases = createObjectLeases({ adapter: store, directory: '.ws/threads' })
    const threads = await createThreads({ store, leases })
    onTestFinished(() => threads.close())
    const error = (part: string, operation = 'openThread') => ({
      code: 'ETIMEDOUT',
      operation,
      path: 't1',
      reason: expect.stringMatching(
        new RegExp(`: its ${part} in the store memory, asked since 20[-0-9T:.]+Z, was not served in time$`, 'u'),
      ) as string,
      remedy: 'wait',
    })
    failing.add('/.ws')
    await expect(threads.open({ threadId: 't1', userId: 'u1' })).rejects.toMatchObject(error('lease'))
    await expect(threads.delete('t1')).rejects.toMatchObject(error('lease', 'deleteThread'))
    failing.clear()
    failing.add('/threads/t1')
    await expect(threads.open({ threadId: 't1', userId: 'u1' })).rejects.toMatchObject(error('directory'))
    failing.clear()
    failing.add('/threads/t1/package.json')
    await expect(threads.open({ threadId: 't1', userId: 'u1' })).rejects.toMatchObject(error('`/package.json`'))
    failing.clear()
    await (await threads.open({ threadId: 't1', userId: 'u1' })).close()
  })
})

describe('[RP12] a store that fails for a moment', () => {
  it('leaves nothing of the attempt: the thread opens afterwards', async () => {
    const store = createMemoryAdapter()
    const threads = await threadsOn(store)
    const signal = AbortSignal.abort(new Error('stopped'))
    await expect(threads.open({ threadId: 't1', userId: 'u1', signal })).rejects.toThrow('stopped')
    await (await threads.open({ threadId: 't1', userId: 'u1' })).workspace.write('/a.txt', 'a')
  })
})
