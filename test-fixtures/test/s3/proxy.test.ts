import {
  CopyObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { describeWith } from '../../src/index.ts'
import {
  s3ServerNames,
  seededFaults,
  startFaultProxy,
  type Fault,
  type FaultProxy,
  type S3Server,
} from '../../src/s3/index.ts'
import { s3Needs, sharedS3Server } from '../../src/s3/shared/index.ts'

const body = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251))

describe.each(s3ServerNames)('the proxy before %s', (name) => {
  describeWith(s3Needs(name), 'with a client that does not try again', { tags: name === 'ceph' ? 'all' : [] }, () => {
    let server: S3Server
    let proxy: FaultProxy
    let client: ReturnType<FaultProxy['client']>
    let direct: ReturnType<S3Server['client']>
    beforeAll(async () => {
      server = await sharedS3Server(name)
      proxy = await startFaultProxy(server)
      client = proxy.client({ maxAttempts: 1 })
      direct = server.client()
    })
    afterAll(async () => {
      await proxy?.close()
      await server?.close()
    })
    beforeEach(() => {
      proxy.setFaults(undefined)
      proxy.clear()
    })

    const put = (Key: string, Body: Buffer | string = body) =>
      client.send(new PutObjectCommand({ Bucket: proxy.bucket, Key, Body }))
    const get = async (Key: string, signal?: AbortSignal) => {
      const command = new GetObjectCommand({ Bucket: proxy.bucket, Key })
      const got = await client.send(command, signal === undefined ? {} : { abortSignal: signal })
      return Buffer.from((await got.Body?.transformToByteArray()) ?? [])
    }
    const exists = (Key: string) =>
      direct.send(new HeadObjectCommand({ Bucket: server.bucket, Key })).then(
        () => true,
        () => false,
      )
    /** Lets the next request meet a fault, and no other. */
    const failNext = (fault: Fault) => {
      let used = false
      proxy.setFaults(() => {
        if (used) return undefined
        used = true
        return fault
      })
    }

    it('passes signed requests and answers unchanged, and records them', async () => {
      const Bucket = proxy.bucket
      await put('a/ü +%', body)
      expect((await get('a/ü +%')).equals(body)).toBe(true)
      await client.send(new HeadObjectCommand({ Bucket, Key: 'a/ü +%' }))
      await client.send(new CopyObjectCommand({ Bucket, Key: 'b', CopySource: `${Bucket}/a/%C3%BC%20%2B%25` }))
      await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'a/', MaxKeys: 7 }))
      await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'a/ü +%' }, { Key: 'b' }] } }))
      const seen = proxy.requests.map(({ operation, bucket, key, status }) => ({ operation, bucket, key, status }))
      expect(seen).toEqual([
        { operation: 'PutObject', bucket: Bucket, key: 'a/ü +%', status: 200 },
        { operation: 'GetObject', bucket: Bucket, key: 'a/ü +%', status: 200 },
        { operation: 'HeadObject', bucket: Bucket, key: 'a/ü +%', status: 200 },
        { operation: 'CopyObject', bucket: Bucket, key: 'b', status: 200 },
        { operation: 'ListObjectsV2', bucket: Bucket, key: '', status: 200 },
        { operation: 'DeleteObjects', bucket: Bucket, key: '', status: 200 },
      ])
      const [first, second, , , list] = proxy.requests
      expect(first).toMatchObject({ requestBytes: body.length, headers: { host: new URL(proxy.endpoint).host } })
      expect(second?.responseBytes).toBe(body.length)
      expect(list?.query.get('max-keys')).toBe('7')
    })

    it('counts the requests of one action', async () => {
      await put('counted', 'x')
      const { result, requests } = await proxy.record(() => get('counted'))
      expect(result.toString()).toBe('x')
      expect(requests.map(({ operation }) => operation)).toEqual(['GetObject'])
    })

    it.each<[string, Fault]>([
      ['an error', { kind: 'status', status: 503 }],
      ['a reset at the start', { kind: 'reset', when: 'before' }],
      ['a reset in the middle of the body', { kind: 'reset', when: 'during' }],
    ])('lets a write fail with %s, and the server never gets it', async (title, fault) => {
      failNext(fault)
      await expect(put(title)).rejects.toThrow()
      expect(await exists(title)).toBe(false)
    })

    it.each<[string, Fault]>([
      ['an error', { kind: 'status', status: 500, acted: true }],
      ['a reset', { kind: 'reset', when: 'after' }],
    ])('lets a write fail with %s after the server has acted', async (title, fault) => {
      const key = `acted: ${title}`
      failNext(fault)
      await expect(put(key)).rejects.toThrow()
      expect(await exists(key)).toBe(true)
      expect(proxy.requests[0]).toMatchObject({ serverStatus: 200 })
    })

    it('answers as S3 does when it is asked too much', async () => {
      failNext({ kind: 'status', status: 429, retryAfter: 3 })
      await expect(put('much')).rejects.toMatchObject({
        name: 'TooManyRequests',
        $metadata: { httpStatusCode: 429 },
        $response: { headers: { 'retry-after': '3' } },
      })
    })

    it('ends answers too early', async () => {
      await put('cut')
      failNext({ kind: 'truncate', keep: 0.5 })
      await expect(get('cut')).rejects.toMatchObject({ code: 'ECONNRESET' })
      expect(proxy.requests.at(-1)).toMatchObject({ responseBytes: body.length / 2 })
    })

    it('ends listings too early, whose length is not announced', async () => {
      await put('listed')
      failNext({ kind: 'truncate', keep: 0.5 })
      const list = () => client.send(new ListObjectsV2Command({ Bucket: proxy.bucket }))
      await expect(list()).rejects.toMatchObject({ code: 'ECONNRESET' })
      expect(proxy.requests.at(-1)?.responseBytes).toBeGreaterThan(100)
      expect((await list()).Contents?.length).toBeGreaterThan(0)
    })

    it('changes one bit', async () => {
      await put('bit')
      failNext({ kind: 'flip', at: 0.999_999 })
      const got = await get('bit')
      const last = body.length - 1
      expect(got.subarray(0, last).equals(body.subarray(0, last))).toBe(true)
      expect(got[last]).toBe((body[last] ?? 0) ^ 1)
    })

    it('leaves bytes out, and announces what is left', async () => {
      await put('short')
      failNext({ kind: 'shorten', keep: 0.5 })
      expect((await get('short')).equals(body.subarray(0, body.length / 2))).toBe(true)
    })

    it('delivers a request twice', async () => {
      failNext({ kind: 'duplicate', ms: 5 })
      await put('twice', 'x')
      await expect.poll(() => proxy.requests[0]?.secondStatus).toBe(200)
      expect(proxy.requests).toHaveLength(1)
    })

    it('refuses in the words of S3, and answers with a page for people', async () => {
      failNext({ kind: 'refuse', status: 403, code: 'ExpiredToken' })
      await expect(put('refused')).rejects.toMatchObject({ name: 'ExpiredToken' })
      failNext({ kind: 'html', status: 200 })
      expect(await put('page')).not.toHaveProperty('ETag')
      expect([await exists('refused'), await exists('page')]).toEqual([false, false])
    })

    it('is slow', async () => {
      await put('slow')
      failNext({ kind: 'slow', ms: 50 })
      expect((await get('slow')).equals(body)).toBe(true)
      const { startedAt, endedAt = 0 } = proxy.requests.at(-1) ?? expect.fail()
      // timers may fire a fraction of a millisecond early
      expect(endedAt - startedAt).toBeGreaterThanOrEqual(45)
    })

    it.each(['before', 'during', 'after'] as const)('hangs %s, until the client gives up', async (when) => {
      await put('hung')
      failNext({ kind: 'hang', when })
      const giveUp = new AbortController()
      const getting = get('hung', giveUp.signal)
      getting.catch(() => undefined)
      if (when === 'during') await expect.poll(() => proxy.requests[1]?.responseBytes).toBe(body.length / 2)
      else if (when === 'after') await expect.poll(() => proxy.requests[1]?.serverStatus).toBe(200)
      else await expect.poll(() => proxy.requests.length).toBe(2)
      expect(proxy.requests[1]?.endedAt).toBeUndefined()
      giveUp.abort()
      await expect(getting).rejects.toThrow()
      await expect.poll(() => proxy.requests[1]?.endedAt).toBeTypeOf('number')
      expect(proxy.requests[1]?.serverStatus).toBe(when === 'before' ? undefined : 200)
    })

    it('delays', async () => {
      failNext({ kind: 'delay', ms: 30 })
      await put('late')
      const [late] = proxy.requests
      // timers may fire a fraction of a millisecond early
      expect((late?.endedAt ?? 0) - (late?.startedAt ?? 0)).toBeGreaterThanOrEqual(29)
    })
  })
})

describe('seededFaults', () => {
  const request = (index: number) => ({
    ...{ index, method: 'GET', path: '/b/k', query: new URLSearchParams(), headers: {} },
    ...{ operation: 'GetObject', bucket: 'b', key: 'k' },
  })
  const draw = (seed: number, rate: number) => {
    const plan = seededFaults({ seed, rate })
    return Array.from({ length: 2000 }, (_, index) => plan(request(index)))
  }

  it('gives the same faults for the same seed, as often as asked, of every kind', () => {
    const faults = draw(7, 0.2)
    expect(draw(7, 0.2)).toEqual(faults)
    expect(draw(8, 0.2)).not.toEqual(faults)
    const met = faults.filter((fault) => fault !== undefined)
    expect(met.length / faults.length).toBeGreaterThan(0.17)
    expect(met.length / faults.length).toBeLessThan(0.23)
    expect(new Set(met.map(({ kind }) => kind))).toEqual(
      new Set(['delay', 'status', 'reset', 'hang', 'truncate', 'flip']),
    )
    const bursts = seededFaults({ seed: 7, kinds: ['status'], burst: 8 })
    const drawn = Array.from({ length: 2000 }, (_, index) => bursts(request(index)))
    expect(drawn.some((fault, index) => fault !== undefined && fault === drawn[index + 1])).toBe(true)
    expect(draw(7, 0).every((fault) => fault === undefined)).toBe(true)
  })
})
