import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import type { SearchHit, StorageAdapter } from '@ws/core/adapter'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createS3Adapter } from '../src/index.ts'
import { at, Bench, encode, fill } from './support.ts'

const hitsOf = (adapter: StorageAdapter, pattern: string, more: { maxHits?: number; signal?: AbortSignal } = {}) => {
  const { signal, maxHits } = more
  const query = { pattern, in: at('/'), ...(maxHits === undefined ? {} : { maxHits }) }
  return adapter.search?.(query, { signal }) ?? ([] as unknown as AsyncIterableIterator<SearchHit>)
}

describe('search on S3', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await Bench.open('r2')
  })
  beforeEach(() => {
    bench.interceptor = (_, send) => send()
  })
  afterAll(() => bench.close())

  it('[PC21] gives hits in the order of keys, of small files and of large ones, and skips what is binary', async () => {
    const adapter = await bench.adapter()
    const filler = 'hay hay hay\n'.repeat(30_000)
    await adapter.write(at('/a'), encode('needle\n'))
    await adapter.write(at('/b/large'), encode(`${filler}needle\n${filler}`))
    await adapter.write(at('/binary'), encode('\0needle\n'))
    await adapter.write(at('/c'), encode('hay\nneedle\n'))
    await adapter.write(at('/large-binary'), encode(`\0${filler}needle\n`))
    const hits = await Array.fromAsync(hitsOf(adapter, 'needle'))
    expect(hits.map(({ path, line }) => `${path}:${line}`)).toEqual(['/a:1', '/b/large:30001', '/c:2'])
  })

  it('fetches some files at a time, and none any more when its limit is reached or its reader leaves', async () => {
    const adapter = await bench.adapter({ concurrency: 4 })
    await fill(30, (index) => adapter.write(at(`/${String(index).padStart(2, '0')}`), encode('needle\n')))
    let [running, most] = [0, 0]
    bench.interceptor = async ({ name }, send) => {
      if (name !== 'GetObject') return send()
      running += 1
      most = Math.max(most, running)
      return send().finally(() => {
        running -= 1
      })
    }
    const gets = (sent: readonly string[]): number => sent.filter((name) => name === 'GetObject').length
    expect(gets(await bench.count(() => Array.fromAsync(hitsOf(adapter, 'needle'))))).toBe(30)
    expect(most).toBe(4)
    const limited = await bench.count(() => Array.fromAsync(hitsOf(adapter, 'needle', { maxHits: 2 })))
    expect(gets(limited)).toBeLessThanOrEqual(6)
    const left = await bench.count(async () => {
      for await (const { path } of hitsOf(adapter, 'needle')) if (path === '/01') break
    })
    expect(gets(left)).toBeLessThanOrEqual(6)
  })

  it('leaves out what vanishes meanwhile, and ends with the reason of its signal', async () => {
    const prefix = bench.prefix()
    const adapter = await bench.adapter({ prefix })
    await fill(5, (index) => adapter.write(at(`/${index}`), encode('needle\n')))
    bench.interceptor = async ({ name }, send) => {
      const answer = await send()
      if (name === 'ListObjectsV2') await bench.remove(`${prefix}/2`)
      return answer
    }
    const hits = await Array.fromAsync(hitsOf(adapter, 'needle'))
    expect(hits.map(({ path }) => path)).toEqual(['/0', '/1', '/3', '/4'])
    const controller = new AbortController()
    const reason = new Error('enough')
    bench.interceptor = ({ name }, send) => {
      if (name !== 'GetObject') return send()
      controller.abort(reason)
      return new Promise(() => undefined)
    }
    await expect(Array.fromAsync(hitsOf(adapter, 'needle', { signal: controller.signal }))).rejects.toBe(reason)
  })

  it('works the same on a client of its own', async () => {
    const server = await sharedS3Server('r2')
    const { bucket, endpoint, region, credentials } = server
    await using adapter = await createS3Adapter({ bucket, endpoint, region, credentials, dialect: bench.dialect })
    await fill(20, (index) => adapter.write(at(`/d/${index}`), encode(`needle ${index}\n`)))
    expect((await Array.fromAsync(hitsOf(adapter, 'needle 1'))).length).toBe(11)
    await server.close()
  })
})
