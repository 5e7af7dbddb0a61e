import { parseMountPath, type StorageAdapter } from '@ws/core/adapter'
import { startFaultProxy, type Fault, type FaultProxy, type S3Server } from '@ws/test-fixtures/s3'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { S3Dialect } from '../../src/index.ts'
import { adapterOn, dialectOf } from './site.ts'

const file = parseMountPath('/directory/file')
const other = parseMountPath('/directory/other')
const directory = parseMountPath('/directory')
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
  createDirectory: (adapter, options) => adapter.createDirectory(parseMountPath('/new'), options),
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

  it('and answers again, gets what was lost anew, long before the time of an attempt is over', {
    tags: 'all',
  }, async () => {
    adapter = await adapterOn(proxy, { dialect, ...patient })
    proxy.clear()
    proxy.setFaults(() => ({ kind: 'hang', when: 'before' }))
    const lost = Promise.all([adapter.write(other, content), adapter.stat(file), drain(adapter.list(directory))])
    // it has been asked more than once whether it is there
    const asked = () => proxy.requests.filter(({ operation }) => operation === 'HeadBucket').length
    await vi.waitUntil(() => asked() > 1, { timeout: 30_000 })
    proxy.setFaults(undefined)
    const back = performance.now()
    await lost
    expect(performance.now() - back).toBeLessThan(5_000)
  })

  it('keeps its time where it is slow, and answers other questions', { tags: 'all' }, async () => {
    adapter = await adapterOn(proxy, { dialect, ...patient })
    proxy.clear()
    proxy.setFaults(({ operation }) => (operation === 'PutObject' ? { kind: 'delay', ms: 4_500 } : undefined))
    await adapter.write(parseMountPath('/slow'), content)
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
