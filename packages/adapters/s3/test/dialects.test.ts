import { Readable } from 'node:stream'

import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createR2Adapter, createS3Adapter, type S3Dialect } from '../src/index.ts'
import { at, Bench, encode, text } from './support.ts'

const refusal = (): Error =>
  Object.assign(new Error('no'), { name: 'PreconditionFailed', $metadata: { httpStatusCode: 412 } })

/** The conditions that AWS honours, which no server at hand does. */
const everything: Partial<S3Dialect> = {
  conditionalCopySource: true,
  conditionalCopyDestination: true,
  conditionalComplete: true,
  conditionalDelete: true,
}

describe('a server that honours every condition', () => {
  let bench: Bench
  let inputs: [name: string, input: Readonly<Record<string, unknown>>][] = []
  beforeAll(async () => {
    bench = await Bench.open('r2')
  })
  beforeEach(() => {
    inputs = []
    bench.interceptor = ({ name, input }, send) => {
      inputs.push([name, input])
      return send()
    }
  })
  afterAll(() => bench.close())

  const conditionsOf = (name: string): unknown[] =>
    inputs
      .filter(([sent]) => sent === name)
      .map(([, { IfMatch, IfNoneMatch, CopySourceIfMatch }]) =>
        Object.fromEntries(Object.entries({ IfMatch, IfNoneMatch, CopySourceIfMatch }).filter(([, value]) => value)),
      )

  it('is asked to check them all, and the capabilities say so', async () => {
    const adapter = await bench.adapter({ dialect: { ...bench.dialect, ...everything }, partBytes: 5 * 1024 * 1024 })
    expect(adapter.capabilities).toMatchObject({
      conditionalWrite: 'server',
      conditionalDelete: 'server',
      conditionalMove: 'server',
    })
    const { version } = await adapter.write(at('/a'), encode('1'))
    await adapter.copy(at('/a'), at('/b'))
    expect(conditionsOf('CopyObject')).toEqual([{ CopySourceIfMatch: `"${version}"`, IfNoneMatch: '*' }])
    await adapter.delete(at('/b'), { ifVersion: version })
    expect(conditionsOf('DeleteObject')).toEqual([{ IfMatch: `"${version}"` }])
    async function* large(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(6 * 1024 * 1024)
    }
    await adapter.write(at('/a'), large(), { ifVersion: version })
    expect(conditionsOf('CompleteMultipartUpload')).toEqual([{ IfMatch: `"${version}"` }])
    expect(inputs.filter(([name]) => name === 'PutObject').length).toBe(1)
  })

  it('is believed when it refuses', async () => {
    const adapter = await bench.adapter({ dialect: { ...bench.dialect, ...everything } })
    const { version } = await adapter.write(at('/a'), encode('1'))
    await adapter.write(at('/b'), encode('2'))
    bench.interceptor = ({ name }, send) =>
      name === 'DeleteObject' || name === 'CopyObject' ? Promise.reject(refusal()) : send()
    await expect(adapter.delete(at('/a'), { ifVersion: version })).rejects.toMatchObject({ code: 'ECONFLICT' })
    await expect(adapter.copy(at('/a'), at('/c'), { ifDestination: 'absent' })).rejects.toMatchObject({
      code: 'ECONFLICT',
      path: '/c',
    })
    await expect(adapter.move(at('/a'), at('/c'))).rejects.toMatchObject({ code: 'EEXIST', path: '/c' })
    expect(await text(adapter, '/a')).toBe('1')
  })

  it('keeps bits and times of a file, by a copy onto itself that both sides check', async () => {
    const adapter = await bench.adapter({ dialect: { ...bench.dialect, ...everything }, symlinks: 'rclonelink' })
    expect(adapter.capabilities).toMatchObject({ chmod: true, utimes: true })
    const { version } = await adapter.write(at('/a'), encode('text'), { mode: 0o644 })
    await adapter.chmod?.(at('/a'), 0o600)
    await adapter.utimes?.(at('/a'), { modifiedAt: 1_000_000_000_123 })
    const conditions = { IfMatch: `"${version}"`, CopySourceIfMatch: `"${version}"` }
    expect(conditionsOf('CopyObject')).toEqual([conditions, conditions])
    expect(await adapter.stat(at('/a'))).toMatchObject({ mode: 0o600, modifiedAt: 1_000_000_000_123, version })
    expect(await text(adapter, '/a')).toBe('text')
    await adapter.write(at('/dir/a'), encode('x'))
    await expect(adapter.chmod?.(at('/dir'), 0o700)).rejects.toMatchObject({ code: 'ENOTSUP', path: '/dir' })
    await adapter.createSymlink?.(at('/link'), 'a')
    await expect(adapter.chmod?.(at('/link'), 0o700)).rejects.toMatchObject({ name: 'LinkSignal', at: '/link' })
  })

  it('keeps the bytes that others write while bits are set', async () => {
    const adapter = await bench.adapter({ dialect: { ...bench.dialect, ...everything } })
    await adapter.write(at('/a'), encode('old'))
    let copies = 0
    bench.interceptor = async ({ name }, send) => {
      if (name !== 'CopyObject') return send()
      copies += 1
      if (copies > 1) return send()
      await adapter.write(at('/a'), encode('new'))
      throw refusal()
    }
    await adapter.chmod?.(at('/a'), 0o600)
    expect(copies).toBe(2)
    expect(await text(adapter, '/a')).toBe('new')
    expect((await adapter.stat(at('/a'))).mode).toBe(0o600)
  })

  it('may have deleted already what it refuses to delete again', async () => {
    const adapter = await bench.adapter({ dialect: { ...bench.dialect, ...everything } })
    const { version } = await adapter.write(at('/a'), encode('1'))
    let attempts = 0
    bench.interceptor = async ({ name }, send) => {
      if (name !== 'DeleteObject') return send()
      attempts += 1
      if (attempts > 1) throw refusal()
      await send()
      throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
    }
    await adapter.delete(at('/a'), { ifVersion: version })
    expect(attempts).toBe(2)
  })

  it('takes ETags in its own form', async () => {
    const adapter = await bench.adapter({ dialect: { ...bench.dialect, etags: 'bare' } })
    const { version } = await adapter.write(at('/a'), encode('1'))
    bench.interceptor = ({ name, input }) => {
      inputs.push([name, input])
      return Promise.reject(refusal())
    }
    await expect(adapter.write(at('/a'), encode('2'), { ifVersion: version })).rejects.toMatchObject({})
    expect(conditionsOf('PutObject').at(-1)).toEqual({ IfMatch: version })
  })
})

describe('a server that honours none', () => {
  it('keeps neither bits nor times: a copy could take back a write of others', async () => {
    const bench = await Bench.open('r2')
    const adapter = await bench.adapter({ dialect: { ...bench.dialect, conditionalCopyDestination: false } })
    expect(adapter.capabilities).toMatchObject({ chmod: false, utimes: false })
    expect([adapter.chmod, adapter.utimes]).toEqual([undefined, undefined])
    await bench.close()
  })

  it('makes conditional writes ENOTSUP, before anything is sent', async () => {
    const bench = await Bench.open('r2')
    const adapter = await bench.adapter({ dialect: { ...bench.dialect, conditionalPut: false } })
    expect(adapter.capabilities).toMatchObject({ conditionalWrite: 'none', append: false })
    expect(adapter.append).toBeUndefined()
    const sent = await bench.count(async () => {
      for (const ifVersion of ['absent', 'x']) {
        await expect(adapter.write(at('/a'), encode('1'), { ifVersion })).rejects.toMatchObject({ code: 'ENOTSUP' })
      }
    })
    expect(sent).toEqual([])
    await bench.close()
  })
})

describe('createR2Adapter', () => {
  it('works with an endpoint, asks the server itself, and is called r2', async () => {
    const server = await sharedS3Server('r2')
    const { endpoint, credentials, bucket } = server
    await using adapter = await createR2Adapter({ endpoint, credentials, bucket, prefix: 'r2' })
    expect(adapter.name).toBe('r2')
    expect(adapter.capabilities.conditionalWrite).toBe('server')
    await adapter.write(at('/a'), encode('x'), { ifVersion: 'absent' })
    await using same = await createS3Adapter({ endpoint, region: 'auto', credentials, bucket, prefix: 'r2' })
    expect(await text(same, '/a')).toBe('x')
    await server.close()
  })
})

describe('the question about uploads in parts', () => {
  it('is asked again by others where the adapter that asked is closed, and nobody waits for it after an abort', async () => {
    const bench = await Bench.open('r2')
    const { bucket } = bench.server
    const open = () =>
      createS3Adapter({ client: bench.watched, bucket, prefix: bench.prefix(), partBytes: 5 * 1024 * 1024 })
    const [first, second] = [await open(), await open()]
    const asked = Promise.withResolvers<void>()
    let asks = 0
    bench.interceptor = async ({ name, key }, send) => {
      if (name !== 'CreateMultipartUpload' || key?.includes('.ws-probe') !== true) return send()
      asks += 1
      asked.resolve()
      return asks === 1 ? new Promise(() => undefined) : send() // the first is never answered
    }
    const large = () => Readable.from([new Uint8Array(6 * 1024 * 1024)])
    const closed = expect(first.write(at('/a'), large())).rejects.toMatchObject({ code: 'ECLOSED', path: '/a' })
    await asked.promise
    const stop = new AbortController()
    const aborted = expect(second.write(at('/a'), large(), { signal: stop.signal })).rejects.toThrow('enough')
    const waiting = second.write(at('/b'), large())
    stop.abort(new Error('enough'))
    await aborted
    await first.close()
    await closed
    expect(await waiting).toMatchObject({ size: 6 * 1024 * 1024 })
    expect(asks).toBe(2)
    await second.close()
    expect(await bench.keys('')).toEqual(['p2/t1/b'])
    await bench.close()
  })
})
