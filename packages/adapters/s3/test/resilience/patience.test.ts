import type { S3Client } from '@aws-sdk/client-s3'
import { paths } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { startFaultProxy, type Fault, type FaultProxy, type S3Server } from '@ws/test-fixtures/s3'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Lookout } from '../../src/client/lookout.ts'
import type { S3Dialect } from '../../src/index.ts'
import { adapterOn, dialectOf } from './site.ts'

const file = paths.parseMount('/directory/file')
const other = paths.parseMount('/directory/other')
const directory = paths.parseMount('/directory')
const content = new Uint8Array(100_000).fill(7)

/** Longer than a test may take: what ends it earlier is the caller. */
const patient = { attemptTimeout: 3_600_000, deadline: 3_600_000 }

async function drain(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

async function* chunks(): AsyncGenerator<Uint8Array> {
  yield content
  yield content
}

type Operation = (adapter: StorageAdapter, options: { signal?: AbortSignal }) => Promise<unknown>

const operations: Record<string, Operation> = {
  stat: (adapter, options) => adapter.stat(file, options),
  read: (adapter, options) => adapter.read(file, options),
  readStream: async (adapter, options) => drain((await adapter.readStream(file, options)).stream),
  list: (adapter, options) => drain(adapter.list(directory, options)),
  search: (adapter, options) => drain(adapter.search?.({ pattern: 'x', in: directory }, options) ?? chunks()),
  write: (adapter, options) => adapter.write(other, content, options),
  'write of a stream': (adapter, options) => adapter.write(other, chunks(), options),
  createDirectory: (adapter, options) => adapter.createDirectory(paths.parseMount('/new'), options),
  copy: (adapter, options) => adapter.copy(file, other, { overwrite: true, ...options }),
  move: (adapter, options) => adapter.move(file, other, { overwrite: true, ...options }),
  delete: (adapter, options) => adapter.delete(file, options),
  'recursive delete': (adapter, options) => adapter.delete(directory, { recursive: true, ...options }),
}

describe('a server that falls silent', () => {
  let server: S3Server
  let proxy: FaultProxy
  let dialect: S3Dialect
  let direct: StorageAdapter
  let adapter: StorageAdapter
  beforeAll(async () => {
    server = await sharedS3Server('r2')
    proxy = await startFaultProxy(server)
    dialect = await dialectOf(server)
    direct = await adapterOn(server, { dialect })
  })
  afterAll(async () => {
    await direct?.close()
    await proxy?.close()
    await server?.close()
  })
  beforeEach(async () => {
    proxy.setFaults(undefined)
    await direct.write(file, content, { parents: true })
  })
  afterEach(() => adapter?.close())

  describe.each(Object.entries(operations))('during %s', (name, operation) => {
    it.each(['before', 'after'] as const)('is given up when its time is over, %s it has acted', async (when) => {
      adapter = await adapterOn(proxy, { dialect, attemptTimeout: 50, deadline: 120 })
      proxy.setFaults(() => ({ kind: 'hang', when }))
      await expect(operation(adapter, {})).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    })

    it('is left at once when the caller gives up, with the caller’s reason', async () => {
      adapter = await adapterOn(proxy, { dialect, ...patient })
      const silent = Promise.withResolvers<void>()
      proxy.setFaults(() => {
        silent.resolve()
        return { kind: 'hang', when: 'before' }
      })
      const caller = new AbortController()
      const running = operation(adapter, { signal: caller.signal })
      const reason = new Error(`no more ${name}`)
      void silent.promise.then(() => caller.abort(reason))
      await expect(running).rejects.toBe(reason)
    })
  })

  it.each(['read', 'readStream', 'list'] as const)('in the middle of what %s gets, is asked again', async (name) => {
    adapter = await adapterOn(proxy, { dialect, attemptTimeout: 500 })
    const silent: Fault = { kind: 'hang', when: 'during' }
    let first = true
    proxy.clear()
    proxy.setFaults(() => {
      if (!first) return undefined
      first = false
      return silent
    })
    await operations[name]?.(adapter, {})
    // once more, or oftener where the machine is too busy to answer within the time of an attempt
    const [asked, ...again] = proxy.requests.map(({ fault }) => fault)
    expect(asked).toEqual(silent)
    expect(again).toContain(undefined)
  })

  const large = new Uint8Array(6 * 1024 * 1024).fill(7)
  async function* streamed(): AsyncGenerator<Uint8Array> {
    yield large
    yield large
  }
  const lostOnes: [string, () => Promise<unknown>][] = [
    [
      'small requests',
      () => Promise.all([adapter.write(other, content), adapter.stat(file), drain(adapter.list(directory))]),
    ],
    ['a large file', () => adapter.write(other, large)],
    // one that goes from a file on this machine
    ['a large file with a condition', () => adapter.write(other, streamed(), { ifVersion: 'absent' })],
    ['a copy in the store', () => adapter.copy(other, paths.parseMount('/directory/copy'), { overwrite: true })],
  ]
  it.each(lostOnes)(
    'and answers again, gets %s anew, long before the time of an attempt is over',
    {
      tags: 'all',
    },
    async (name, send) => {
      adapter = await adapterOn(proxy, { dialect, ...patient })
      if (name.startsWith('a copy')) await adapter.write(other, large)
      else await adapter.delete(other).catch(() => undefined)
      proxy.clear()
      const isBody = ({ operation }: { readonly operation: string }) => /^(?:Put|Copy)/u.test(operation)
      let isSilent = name === 'small requests'
      proxy.setFaults((request) => {
        isSilent ||= isBody(request)
        return isSilent ? { kind: 'hang', when: 'before' } : undefined
      })
      const lost = send()
      // it has been asked more than once whether it is there
      const asked = () => proxy.requests.filter(({ operation }) => operation === 'HeadBucket').length
      await vi.waitUntil(() => asked() > 1, { timeout: 30_000 })
      proxy.setFaults(undefined)
      await lost
    },
  )

  it('keeps its time where it is slow, and answers other questions', { tags: 'all' }, async () => {
    adapter = await adapterOn(proxy, { dialect, ...patient })
    proxy.clear()
    proxy.setFaults(({ operation }) => (operation === 'PutObject' ? { kind: 'delay', ms: 4_500 } : undefined))
    await adapter.write(paths.parseMount('/slow'), content)
    const sent = proxy.requests.map(({ operation }) => operation)
    expect(sent.filter((operation) => operation !== 'HeadBucket')).toEqual(['PutObject'])
    expect(sent).toContain('HeadBucket')
  })

  it('in the middle of what is read, is left at once when the caller gives up', async () => {
    adapter = await adapterOn(proxy, { dialect, ...patient })
    proxy.clear()
    proxy.setFaults(() => ({ kind: 'hang', when: 'during' }))
    const caller = new AbortController()
    const { stream } = await adapter.readStream(file, { signal: caller.signal })
    const first = await stream.next()
    expect(first.done).toBe(false)
    const reason = new Error('no more')
    const reading = drain(stream)
    caller.abort(reason)
    await expect(reading).rejects.toBe(reason)
  })
})

it('what goes on is not lost, and what may be on its way has time, though the server was silent', {
  tags: 'all',
}, async () => {
  const silent = Promise.withResolvers<void>()
  let asked = 0
  const send = async (): Promise<void> => {
    asked += 1
    if (asked > 1) return
    silent.resolve()
    await new Promise(() => undefined)
  }
  const lookout = new Lookout({ send } as unknown as S3Client, 'bucket')
  const ended: string[] = []
  const watch = (name: string, sending: number) => lookout.watch(() => ended.push(name), sending)
  const unknown = watch('unknown', 3_600_000)
  const going = watch('going', 3_600_000)
  const stuck = watch('stuck', 3_600_000)
  const ticking = setInterval(() => going.alive(), 100)
  onTestFinished(() => clearInterval(ticking))
  stuck.alive()
  const small = watch('small', 0)
  await silent.promise
  await vi.waitUntil(() => ended.includes('stuck'), { timeout: 60_000 })
  expect([ended[0], new Set(ended)]).toEqual(['small', new Set(['small', 'stuck'])])
  for (const one of [unknown, going, stuck, small]) one.over()
})

it('a large request that begins does not keep the look from smaller ones', { tags: 'all' }, async () => {
  let asked = 0
  const send = () => ((asked += 1) === 1 ? new Promise(() => undefined) : Promise.resolve())
  const lookout = new Lookout({ send } as unknown as S3Client, 'bucket')
  const large = lookout.watch(() => undefined, 3_600_000)
  await new Promise(setImmediate)
  const { promise, resolve } = Promise.withResolvers<void>()
  const small = lookout.watch(resolve, 0)
  await promise
  large.over()
  small.over()
})

describe('a server that is busy', () => {
  it('is asked again when it says so, and not before', async () => {
    await using server = await sharedS3Server('r2')
    await using proxy = await startFaultProxy(server)
    await using adapter = await adapterOn(proxy)
    proxy.clear()
    let refused = 0
    proxy.setFaults(() => {
      refused += 1
      return refused > 1 ? undefined : { kind: 'status', status: 429, retryAfter: 1 }
    })
    await adapter.write(file, content)
    const [first, second] = proxy.requests
    expect(proxy.requests.map(({ status }) => status)).toEqual([429, 200])
    // timers may fire a fraction of a millisecond early
    expect((second?.startedAt ?? 0) - (first?.endedAt ?? 0)).toBeGreaterThan(990)
  })

  it('for longer than one has time is an error that says so', async () => {
    await using server = await sharedS3Server('r2')
    await using proxy = await startFaultProxy(server)
    await using adapter = await adapterOn(proxy, { dialect: await dialectOf(server), deadline: 1000 })
    proxy.setFaults(() => ({ kind: 'status', status: 503 }))
    await expect(adapter.write(file, content)).rejects.toMatchObject({
      code: 'EIO',
      reason: expect.stringMatching(/overloaded/u),
    })
    proxy.setFaults(() => ({ kind: 'status', status: 429, retryAfter: 3_600 }))
    await expect(adapter.read(file)).rejects.toMatchObject({
      code: 'EIO',
      reason: expect.stringMatching(/overloaded/u),
    })
  })
})
