import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'

import type { S3Client } from '@aws-sdk/client-s3'
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace, prefix, readOnly } from '@ws/core'
import { describeWith, deep } from '@ws/test-fixtures'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { createThreads } from '@ws/threads'
import { describe, expect, it } from 'vitest'

import { kinds } from './support.ts'

const threadCount = deep ? 200 : 20
const times = deep ? 3 : 2

for (const kind of kinds.filter(({ name }) => !['ceph', 'rclone'].includes(name))) {
  describeWith(kind.needs, `many threads on ${kind.name}`, () => {
    it(`[TH3] ${threadCount} are opened, used at both doors and closed, ${times} times, and leave nothing`, {
      tags: 'rounds',
    }, async () => {
      await using site = await kind.open()
      const run = async (): Promise<void> => {
        const threads = await site.open({ provision: false, idleTimeout: 0 })
        const open = await inParts(threadCount, (index) => threads.open({ threadId: `t${index}`, userId: 'u1' }))
        await inParts(threadCount, async (index) => {
          const { workspace } = open[index] ?? {}
          await workspace?.write('/a.txt', `${index}\n`)
          expect((await workspace?.exec('cat a.txt'))?.stdout).toBe(`${index}\n`)
        })
        await Promise.all(open.map((thread) => thread.close()))
        await threads.close()
      }
      await run() // what is kept for good, such as connections, is there after the first
      const before = counts()
      for (let round = 0; round < times; round++) await run()
      const after = counts()
      expect(after.processes).toBeLessThanOrEqual(before.processes)
      expect(after.mounts).toBe(before.mounts)
      expect(after.temporary).toBe(before.temporary)
      expect(after.descriptors - before.descriptors).toBeLessThan(10)
    })
  })
}

async function inParts<Result>(count: number, make: (index: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) {
      const index = next++
      results[index] = await make(index)
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  return results
}

function counts() {
  const children = readdirSync('/proc/self/task').flatMap((thread) => {
    try {
      return readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' ').filter(Boolean)
    } catch {
      return []
    }
  })
  return {
    descriptors: readdirSync('/proc/self/fd').length,
    processes: children.length,
    mounts: readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes(tmpdir())).length,
    temporary: readdirSync(tmpdir()).length,
  }
}

describe('opening a thread behind an API', () => {
  it('costs two requests more than the workspace itself', async () => {
    const server = await sharedS3Server('r2')
    const client = server.client({ maxAttempts: 1 })
    const sent = watch(client)
    const store = await createS3Adapter({ client, bucket: server.bucket })
    const first = await createThreads({ store, provision: false })
    await (await first.open({ threadId: 't1', userId: 'u1' })).workspace.write('/a', 'x')
    await first.close()

    sent.length = 0
    const shared = { shared: true }
    const plain = await createWorkspace({
      mounts: [
        { at: '/', adapter: () => prefix(store, 'threads/t1', shared) },
        { at: '/.solven/skills/system', adapter: () => readOnly(prefix(store, 'skills/system', shared), shared) },
        { at: '/.solven/skills/u1', adapter: () => readOnly(prefix(store, 'skills/u1', shared), shared) },
      ],
    })
    const ofWorkspace = [...sent]
    await plain.close()

    const second = await createThreads({ store, provision: false })
    await second.open({ threadId: 't2', userId: 'u1' }) // looks at the skills, once for all threads of a minute
    sent.length = 0
    await second.open({ threadId: 't1', userId: 'u1' })
    const lease = ['GetObjectCommand .ws/threads/t1/lease', 'PutObjectCommand .ws/threads/t1/lease']
    expect(sent).toEqual([...lease, ...ofWorkspace])
    await second.close()
    await store.close()
  })
})

function watch(client: S3Client): string[] {
  const sent: string[] = []
  client.middlewareStack.add(
    (next, context) => (given) => {
      const { Key, Prefix } = given.input as { Key?: string; Prefix?: string }
      sent.push(`${context.commandName ?? ''} ${Key ?? Prefix ?? ''}`)
      return next(given)
    },
    { step: 'initialize', priority: 'low', name: 'watch' },
  )
  return sent
}
