/** @module-tag all */
import { createLocalAdapter } from '@ws/adapter-local'
import { createS3Adapter } from '@ws/adapter-s3'
import type { WorkspaceError } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createScratchDirectory, deep, describeWith } from '@ws/test-fixtures'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { createObjectLeases, createThreads, type Thread } from '@ws/threads'
import { expect, it, onTestFinished } from 'vitest'

const ttl = 12_000
const count = deep ? 200 : 60
/** Writes of each thread at a time: together many more than a store takes at once. */
const atOnce = deep ? 20 : 8

const stores: readonly { name: string; needs: ReturnType<typeof s3Needs>; open(): Promise<StorageAdapter> }[] = [
  {
    name: 'a disk',
    needs: [],
    async open() {
      const scratch = await createScratchDirectory({ prefix: 'ws-threads-' })
      onTestFinished(() => scratch.remove())
      return createLocalAdapter({ root: scratch.path })
    },
  },
  {
    name: 'r2',
    needs: s3Needs('r2'),
    async open() {
      const server = await sharedS3Server('r2')
      onTestFinished(() => server.close())
      const { endpoint, region, credentials, bucket } = server
      return createS3Adapter({ endpoint, region, credentials, bucket, forcePathStyle: true })
    },
  },
]

for (const { name, needs, open } of stores) {
  describeWith(needs, `many threads at work on ${name}`, () => {
    it(`[TH2] ${count} keep their leases while the store and the event loop are busy`, {
      tags: 'rounds',
      timeout: 300_000,
    }, async () => {
      const store = await open()
      const lost: string[] = []
      const leases = createObjectLeases({ adapter: store, directory: '.ws/threads', ttl })
      const onState = ({ threadId }: { readonly threadId: string }) => void lost.push(threadId)
      const threads = await createThreads({ store, leases, provision: false, onState })
      onTestFinished(async () => {
        await threads.close().catch(() => undefined)
        await store.close()
      })
      const opened: Thread[] = []
      while (opened.length < count) {
        const next = Array.from({ length: 10 }, (_, index) => `t${opened.length + index}`)
        opened.push(...(await Promise.all(next.map((threadId) => threads.open({ threadId, userId: 'u1' })))))
      }
      const end = performance.now() + 1.5 * ttl
      const hold = setInterval(() => {
        const until = performance.now() + 60
        while (performance.now() < until);
      }, 100)
      const outcomes = new Map<string, number>()
      const bytes = 'x'.repeat(20_000)
      const work = async ({ workspace }: Thread): Promise<void> => {
        for (let turn = 0; performance.now() < end; turn += 1) {
          const writes = Array.from({ length: atOnce }, (_, index) => workspace.write(`/${(turn + index) % 30}`, bytes))
          for (const outcome of await Promise.allSettled(writes)) {
            const code = outcome.status === 'fulfilled' ? 'written' : (outcome.reason as WorkspaceError).code
            outcomes.set(code, (outcomes.get(code) ?? 0) + 1)
          }
        }
      }
      await Promise.all(opened.map(work))
      clearInterval(hold)
      expect(lost).toEqual([])
      expect(opened.filter((thread) => thread.status().state !== 'open')).toEqual([])
      // a busy machine writes less in this time
      expect(outcomes.get('written')).toBeGreaterThan(count / 10)
      // no work was stopped since a renewal came late; on a bucket that depends on the server
      if (name === 'a disk') expect([...outcomes.keys()]).not.toContain('EIO')
    })
  })
}
