import { createS3Adapter } from '@ws/adapter-s3'
import type { S3Client } from '@aws-sdk/client-s3'
import { describeWith } from '@ws/test-fixtures'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { createThreads } from '@ws/threads'
import { expect, it, onTestFinished } from 'vitest'

describeWith(s3Needs('r2'), 'requests of threads on a bucket', () => {
  it('are as few as the README says', async () => {
    const server = await sharedS3Server('r2')
    onTestFinished(() => server.close())
    const client = server.client({ maxAttempts: 1 })
    const sent = watch(client)
    const counts: Record<string, number> = {}
    const count = async <Result>(what: string, work: () => Promise<Result>): Promise<Result> => {
      sent.length = 0
      const result = await work()
      counts[what] = sent.length
      return result
    }
    const make = () => createS3Adapter({ client, bucket: server.bucket })
    const store = await count('start', make)
    const again = await count('start again', make)
    const threads = await createThreads({ store, idleTimeout: 0 })
    const { workspace, ...thread } = await count('new', () => threads.open({ threadId: 't1', userId: 'u1' }))
    await count('write', () => workspace.write('/a.txt', 'a'))
    await count('write again', () => workspace.write('/a.txt', 'b'))
    await count('append', () => workspace.append('/a.txt', 'c'))
    await count('close', () => thread.close())
    await count('known', () => threads.open({ threadId: 't1', userId: 'u1' }))
    await threads.close()
    await store.close()
    await again.close()
    expect(counts).toEqual({
      start: 11,
      'start again': 1,
      new: 19,
      write: 1,
      'write again': 1,
      append: 2,
      close: 1,
      known: 4,
    })
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
