import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import type { StorageAdapter } from '@ws/core/adapter'
import { createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { startFaultProxy } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { createProcessLeases, createThreads, type Threads } from '@ws/threads'
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
  it('is ENOSPC for a write and for a new thread; threads that are open go on', async ({ skip }) => {
    const scratch = await createScratchDirectory({ prefix: 'ws-threads-' })
    onTestFinished(() => scratch.remove())
    const mounted = spawnSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', scratch.path])
    if (mounted.status !== 0) skip('mounting is not permitted here')
    onTestFinished(() => void spawnSync('/usr/bin/umount', ['-l', scratch.path]))
    const threads = await threadsOn(await createLocalAdapter({ root: scratch.path }))
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

describeWith(s3Needs('r2'), '[RP12] a store that lacks permissions', () => {
  it('is one error for the thread that it refuses; the others go on', async () => {
    const server = await sharedS3Server('r2')
    const proxy = await startFaultProxy(server)
    onTestFinished(async () => {
      await proxy.close()
      await server.close()
    })
    const { endpoint, region, credentials, bucket } = proxy
    const store = await createS3Adapter({ endpoint, region, credentials, bucket, forcePathStyle: true })
    const threads = await threadsOn(store)
    const open = await threads.open({ threadId: 't1', userId: 'u1' })
    proxy.setFaults(({ method, key, query }) =>
      method !== 'GET' && `${key}${query.get('prefix') ?? ''}`.startsWith('threads/t2')
        ? { kind: 'refuse', status: 403, code: 'AccessDenied' }
        : undefined,
    )
    await expect(threads.open({ threadId: 't2', userId: 'u1' })).rejects.toMatchObject({
      code: 'EBACKEND',
      message: expect.not.stringContaining(bucket) as string,
    })
    await open.workspace.write('/a.txt', 'a')
    await (await threads.open({ threadId: 't3', userId: 'u1' })).workspace.write('/b.txt', 'b')

    proxy.setFaults(undefined)
    await (await threads.open({ threadId: 't2', userId: 'u1' })).workspace.write('/c.txt', 'c')
  })

  it('shows skills that it refuses as empty, with a warning', async () => {
    const server = await sharedS3Server('r2')
    const proxy = await startFaultProxy(server)
    onTestFinished(async () => {
      await proxy.close()
      await server.close()
    })
    const { endpoint, region, credentials, bucket } = proxy
    const store = await createS3Adapter({ endpoint, region, credentials, bucket, forcePathStyle: true })
    const threads = await threadsOn(store)
    proxy.setFaults(({ key, query }) =>
      `${key}${query.get('prefix') ?? ''}`.startsWith('skills')
        ? { kind: 'refuse', status: 403, code: 'AccessDenied' }
        : undefined,
    )
    const thread = await threads.open({ threadId: 't1', userId: 'u1' })
    expect(thread.status().warnings).toContainEqual({
      path: '/.solven/skills/system',
      reason: 'is empty: the store answered EBACKEND',
    })
    expect(await thread.formatCatalogue()).toBe('')
    await thread.workspace.write('/a.txt', 'a')
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
