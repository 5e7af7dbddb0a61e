/** @module-tag all */
import { createRcloneAdapter } from '@ws/adapter-rclone'
import { createS3Adapter } from '@ws/adapter-s3'
import type { StorageAdapter } from '@ws/core/adapter'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, createScratchDirectory, describeWith, ordinaryOwner } from '@ws/test-fixtures'
import type { S3Server } from '@ws/test-fixtures/s3'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { createObjectLeases, createThreads, type Threads } from '@ws/threads'
import { expect, it, onTestFinished } from 'vitest'

const user = { threadId: 't1', userId: 'u1' }

async function machine(store: StorageAdapter, api: StorageAdapter): Promise<Threads> {
  const executors = [createBubblewrapExecutor()]
  const leases = createObjectLeases({ adapter: api, directory: '.ws/threads' })
  const threads = await createThreads({ store, executors, leases, provision: false, idleTimeout: 0 })
  onTestFinished(async () => {
    await threads.close()
    await store.close()
    await api.close()
  })
  return threads
}

const api = (server: S3Server): Promise<StorageAdapter> =>
  createS3Adapter({ client: server.client({ maxAttempts: 1 }), bucket: server.bucket })

async function mount(server: S3Server): Promise<StorageAdapter> {
  const scratch = await createScratchDirectory({ prefix: 'ws-threads-' })
  onTestFinished(() => scratch.remove())
  const { endpoint, region, credentials, bucket } = server
  const directory = scratch.path
  return createRcloneAdapter({ endpoint, region, credentials, bucket, owner: ordinaryOwner(), directory })
}

const needs = [component('radosgw'), component('rclone'), component('fuse'), component('bubblewrap')]

describeWith(needs, 'the hand-over of a thread between mounts of a bucket', () => {
  it('[TH2] opens with what the other has just written, at both doors, and neither loses anything', async () => {
    const server = await sharedS3Server('ceph')
    onTestFinished(() => server.close())
    const make = async (): Promise<Threads> => machine(await mount(server), await api(server))
    const [first, second] = [await make(), await make()]
    // both know the store: what they know is old from now on
    expect(await Array.fromAsync(second.list())).toEqual([])
    for (const [round, threads] of [first, second, first].entries()) {
      const thread = await threads.open(user)
      const { workspace } = thread
      const before = Array.from({ length: round }, (_, index) => `turn ${index}\n`).join('')
      if (round > 0) {
        expect(await workspace.readText('/log')).toBe(before)
        expect((await workspace.exec('cat log; ls')).stdout).toBe(`${before}log\nonly-${round - 1}\nversion\n`)
        await workspace.edit('/version', { oldText: `version ${round - 1}`, newText: `version ${round}` })
        await workspace.delete(`/only-${round - 1}`)
      } else await workspace.write('/version', `version ${round}, and more text\n`)
      await workspace.append('/log', `turn ${round}\n`)
      await workspace.write(`/only-${round}`, 'x'.repeat(round))
      await thread.close()
    }
    const last = await second.open(user)
    expect(await last.workspace.readText('/version')).toBe('version 2, and more text\n')
    const names = (await Array.fromAsync(last.workspace.list('/'))).map(({ name }) => name)
    expect(names.sort()).toEqual(['.solven', 'log', 'only-2', 'version'])

    // a bucket holds no empty directory for rclone 1.60: nothing of an emptied thread is in it
    for (const name of names) if (name !== '.solven') await last.workspace.delete(`/${name}`)
    await last.close()
    for (const threads of [second, first, await make()]) {
      const thread = await threads.open(user)
      expect((await thread.workspace.exec('ls')).stdout).toBe('')
      await thread.close()
    }
  })
})
