import { setTimeout as delay } from 'node:timers/promises'

import type { S3Client } from '@aws-sdk/client-s3'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import { paths } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { describeWith } from '@ws/test-fixtures'
import { s3ServerNames } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { createObjectLeases, createProcessLeases, createThreads } from '@ws/threads'
import type { ThreadEvent } from '../src/types.ts'
import { describe, expect, it, onTestFinished } from 'vitest'

const user = { threadId: 't1', userId: 'u1' }

for (const name of s3ServerNames) {
  const tags = name === 'r2' ? [] : ['deep']
  describeWith(s3Needs(name), `a holder on ${name} that was stopped in the middle`, { tags }, () => {
    it('[TH2] sends nothing more after its loss, and changes nothing of its successor', async () => {
      const server = await sharedS3Server(name)
      onTestFinished(() => server.close())
      const client = server.client({ maxAttempts: 1 })
      const store = await createS3Adapter({ client, bucket: server.bucket })
      const other = await createS3Adapter({ client: server.client({ maxAttempts: 1 }), bucket: server.bucket })
      onTestFinished(() => Promise.all([store.close(), other.close()]).then(() => undefined))
      const clockOf = () => {
        const clock = { at: 1000, now: () => ({ monotonic: clock.at, uptime: clock.at }), time: () => clock.at }
        return clock
      }
      const successor = (path: string) =>
        other.write(paths.parseMount(`/threads/t1${path}`), Buffer.from('successor\n'))

      /** Stops the holder while the `nth` request of a kind is under way; counts those to its tree that are begun afterwards. */
      const stopAt = async (nth: number, command: RegExp, meanwhile: () => Promise<unknown>, work: Work) => {
        const [clock, otherClock] = [clockOf(), clockOf()]
        const leases = createObjectLeases({ adapter: store, directory: '.ws/threads', clock })
        const others = createObjectLeases({ adapter: other, directory: '.ws/threads', clock: otherClock })
        const threads = await createThreads({ store, leases, provision: false, idleTimeout: 0 })
        const { workspace } = await threads.open(user)
        // the holder does not look until its time is over
        await expect(others.acquire('t1')).rejects.toMatchObject({ code: 'EBUSY' })
        otherClock.at += 30_000
        await others.acquire('t1')
        let seen = 0
        let isLost = false
        let late = 0
        const stop = watch(client, async (sent, next) => {
          if (isLost && !sent.includes('.ws/')) late += 1
          const result = await next()
          if (command.test(sent) && ++seen === nth) {
            await meanwhile()
            clock.at += 25_000
            isLost = true
          }
          return result
        })
        const error: unknown = await work(workspace).catch((failure: unknown) => failure)
        stop()
        expect(isLost).toBe(true)
        expect(error).toMatchObject({ code: 'ECLOSED', reason: expect.stringContaining('right to change') as string })
        await threads.close()
        await others.close()
        return late
      }
      type Work = (
        workspace: Awaited<ReturnType<Awaited<ReturnType<typeof createThreads>>['open']>>['workspace'],
      ) => Promise<unknown>

      for (let index = 0; index < 40; index++)
        await other.write(paths.parseMount(`/threads/t1/d/${index}`), Buffer.from('x'))
      const late: Record<string, number> = {}
      late['copy'] = await stopAt(
        5,
        /^CopyObject/,
        async () => {},
        (workspace) => workspace.copy('/d', '/e'),
      )
      await successor('/log')
      late['append'] = await stopAt(
        1,
        /^GetObject.* .*log/,
        () => successor('/log'),
        (workspace) => workspace.append('/log', 'mine\n'),
      )
      late['move'] = await stopAt(
        1,
        /^(Head|List)/,
        () => successor('/log'),
        (workspace) => workspace.move('/d/1', '/log', { overwrite: true }),
      )
      late['delete'] = await stopAt(
        1,
        /^(Head|List|Get)/,
        () => successor('/log'),
        (workspace) => workspace.delete('/log'),
      )
      expect(late).toEqual({ copy: 0, append: 0, move: 0, delete: 0 })
      const { bytes } = await other.read(paths.parseMount('/threads/t1/log'))
      expect(Buffer.from(bytes).toString()).toBe('successor\n')
    })

    it('[TH2] has no more changes under way than the README says', async () => {
      const server = await sharedS3Server(name)
      const client = server.client({ maxAttempts: 1 })
      const store = await createS3Adapter({ client, bucket: server.bucket })
      const threads = await createThreads({ store, provision: false })
      onTestFinished(async () => {
        await threads.close()
        await store.close()
        await server.close()
      })
      const { workspace } = await threads.open(user)
      const files = Array.from({ length: 40 }, (_, index) => `/d/${index}`)
      await Promise.all(files.map((path) => workspace.write(path, 'x', { parents: true })))
      const counts: Record<string, number> = {}
      const count = async (what: string, work: () => Promise<unknown>): Promise<void> => {
        let running = 0
        const stop = watch(client, async (sent, next) => {
          if (!/^(?:Copy|Put|Delete)/.test(sent)) return next()
          counts[what] = Math.max(counts[what] ?? 0, ++running)
          await delay(50) // a store that takes its time: all that can begin, begins
          return next().finally(() => (running -= 1))
        })
        await work()
        stop()
      }
      await count('copy', () => workspace.copy('/d', '/e', { recursive: true }))
      await count('move', () => workspace.move('/d', '/f'))
      await count('delete', () => workspace.delete('/e', { recursive: true }))
      expect(counts).toEqual({ copy: 16, move: 16, delete: 1 })
    })
  })
}

function watch(client: S3Client, around: (sent: string, next: () => Promise<unknown>) => Promise<unknown>): () => void {
  const name = 'watchLoss'
  client.middlewareStack.add(
    (next, context) => (given) => {
      const { Key, Prefix } = given.input as { Key?: string; Prefix?: string }
      return around(`${context.commandName ?? ''} ${Key ?? Prefix ?? ''}`, () => next(given)) as ReturnType<typeof next>
    },
    { step: 'initialize', priority: 'low', name },
  )
  return () => void client.middlewareStack.remove(name)
}

describe('a flush that fails at the end of a thread', () => {
  it('[TH2] keeps the lease, says so, and is made up for by the next open', async () => {
    const inner = createMemoryAdapter()
    let failing = true
    const flush = async (): Promise<void> => {
      if (failing) throw new Error('the store is down')
    }
    const store: StorageAdapter = { ...plain(inner), capabilities: { ...inner.capabilities, flush: true }, flush }
    const leases = createProcessLeases()
    const events: ThreadEvent[] = []
    const first = await createThreads({ store, leases, idleTimeout: 0, onState: (event) => events.push(event) })
    const second = await createThreads({ store, leases, idleTimeout: 0 })
    const thread = await first.open(user)
    await thread.workspace.write('/a', 'x')
    const unflushed = { code: 'EBUSY', path: 't1', reason: expect.stringContaining('keeps its lease') as string }
    await expect(thread.close()).rejects.toMatchObject(unflushed)
    expect(thread.status().state).toBe('unflushed')
    expect(events).toMatchObject([{ threadId: 't1', state: 'unflushed', error: unflushed }])
    await expect(second.open(user)).rejects.toMatchObject({ code: 'EBUSY' })
    await expect(first.open(user)).rejects.toMatchObject(unflushed)
    await expect(first.close()).rejects.toMatchObject(unflushed)
    expect(await leases.holder('t1')).toBeDefined()
    failing = false
    await first.close()
    expect(thread.status().state).toBe('closed')
    await (await second.open(user)).close()
    await second.close()
  })
})

/** An adapter as an object of its own, whose parts can be exchanged. */
function plain(adapter: StorageAdapter): StorageAdapter {
  const methods = [
    'stat',
    'read',
    'readStream',
    'write',
    'list',
    'createDirectory',
    'delete',
    'move',
    'copy',
    'close',
  ] as const
  const own = Object.fromEntries(methods.map((name) => [name, adapter[name].bind(adapter)]))
  return { ...own, name: adapter.name, [Symbol.asyncDispose]: () => adapter.close() } as unknown as StorageAdapter
}
