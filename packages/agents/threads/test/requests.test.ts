/** @module-tag all */
import { createReplicaAdapter } from '@ws/adapter-replica'
import { createS3Adapter } from '@ws/adapter-s3'
import type { StorageAdapter } from '@ws/core/adapter'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { watchRequests } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { createObjectLeases, createThreads } from '@ws/threads'
import { expect, it, onTestFinished } from 'vitest'

describeWith(s3Needs('r2'), 'requests of threads on a bucket', () => {
  it('are as few as the README says', async () => {
    const server = await sharedS3Server('r2')
    onTestFinished(() => server.close())
    const client = server.client({ maxAttempts: 1 })
    const sent = watchRequests(client)
    const { counts, all, count } = counterOf(sent)
    const make = () => createS3Adapter({ client, bucket: server.bucket })
    const store = await count('start', make)
    const again = await count('start again', make)
    const threads = await createThreads({ store, leases: leasesIn(store), idleTimeout: 0 })
    const { workspace, ...thread } = await count('new', () => threads.open({ threadId: 't1', userId: 'u1' }))
    await count('write', () => workspace.write('/a.txt', 'a'))
    await count('write again', () => workspace.write('/a.txt', 'b'))
    await count('append', () => workspace.append('/a.txt', 'c'))
    await count('close', () => thread.close())
    await count('known', () => threads.open({ threadId: 't1', userId: 'u1' }))
    await threads.close()
    await store.close()
    await again.close()
    expect(counts, all.join('\n')).toEqual({
      start: 11,
      'start again': 1,
      new: 20,
      write: 1,
      'write again': 1,
      append: 2,
      close: 1,
      known: 5,
    })
  })
})

// one server, and five sandboxes
describeWith(
  [...s3Needs('r2'), component('bubblewrap'), component('python3-venv')],
  'requests of threads with a copy',
  () => {
    it('[RE2] are as few as the README says', async () => {
      const server = await sharedS3Server('r2')
      const scratch = await createScratchDirectory()
      onTestFinished(async () => {
        await server.close()
        await scratch.remove()
      })
      const client = server.client({ maxAttempts: 1 })
      const { counts, all, count } = counterOf(watchRequests(client))
      const store = await createS3Adapter({ client, bucket: server.bucket, symlinks: 'rclonelink' })
      const threads = await createThreads({
        store,
        leases: leasesIn(store),
        replica: ({ store: part, threadId }) =>
          createReplicaAdapter({
            store: part,
            directory: threadId === undefined ? undefined : `${scratch.path}/${threadId}`,
          }),
        executors: [createBubblewrapExecutor()],
        idleTimeout: 0,
      })
      const open = () => threads.open({ threadId: 't1', userId: 'u1' })
      const { workspace, ...thread } = await count('new', open)
      await count('a command that changes nothing', () => workspace.exec('true'))
      await count('a command that makes a file', () => workspace.exec('echo a > a.txt'))
      await count('a command that changes it', () => workspace.exec('echo b > a.txt'))
      await count('a command that removes it', () => workspace.exec('rm a.txt'))
      await count('write', () => workspace.write('/b.txt', 'b'))
      await count('read', () => workspace.readText('/b.txt'))
      await count('close', () => thread.close())
      const again = await count('known', open)
      await again.close()
      await threads.close()
      await store.close()
      expect(counts, all.join('\n')).toEqual({
        // entries that change during the look take one more listing
        new: expect.toBeOneOf([56, 57]) as number,
        'a command that changes nothing': 1,
        'a command that makes a file': 2,
        'a command that changes it': 2,
        'a command that removes it': 6,
        write: 1,
        read: 0,
        close: 1,
        known: 4,
      })
    })
  },
)

/** The leases that there are by default, but renewed after minutes: a slow test would count a renewal. */
function leasesIn(store: StorageAdapter) {
  return createObjectLeases({ adapter: store, directory: '.ws/threads', ttl: 1_800_000 })
}

function counterOf(sent: string[]) {
  const counts: Record<string, number> = {}
  const all: string[] = []
  return {
    counts,
    all,
    async count<Result>(step: string, work: () => Promise<Result>): Promise<Result> {
      sent.length = 0
      const result = await work()
      counts[step] = sent.length
      all.push(...sent.map((request) => `${step}: ${request}`))
      return result
    },
  }
}
