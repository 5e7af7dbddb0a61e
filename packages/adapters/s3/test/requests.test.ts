/** @module-tag all */
import { describeWith } from '@ws/test-fixtures'
import { s3ServerNames } from '@ws/test-fixtures/s3'
import { s3Needs } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createS3Adapter } from '../src/index.ts'
import { at, Bench, encode, fill, tagsInAll } from './support.ts'

for (const name of s3ServerNames) {
  describeWith(s3Needs(name), `the requests that operations cost on ${name}`, { tags: tagsInAll(name) }, () => {
    let bench: Bench
    beforeAll(async () => {
      bench = await Bench.open(name)
    })
    afterAll(() => bench.close())

    it('starts with 11 at most, once for a client and a bucket, and asks about parts before the first upload', async () => {
      const { bucket } = bench.server
      const start = () =>
        createS3Adapter({ client: bench.watched, bucket, prefix: bench.prefix(), partBytes: 5 * 1024 * 1024 })
      // 10, and one more where the server refuses control characters
      expect((await bench.count(start)).length).toBeLessThanOrEqual(11)
      expect(await bench.keys('')).toEqual([])
      const adapter = await start()
      expect(await bench.count(start)).toEqual(['ListMultipartUploads'])
      const stream = async (): Promise<unknown> =>
        adapter.write(
          at('/big'),
          (async function* () {
            yield Buffer.alloc(6 * 1024 * 1024)
          })(),
        )
      const first = await bench.count(stream)
      const second = await bench.count(stream)
      expect(first.length - second.length).toBe(7)
      expect(first.filter((name) => name === 'CreateMultipartUpload').length).toBe(2)
    })

    it('reads with one', async () => {
      const adapter = await bench.adapter()
      await adapter.write(at('/dir/a'), encode('x'))
      expect(await bench.count(() => adapter.read(at('/dir/a')))).toEqual(['GetObject'])
      expect(await bench.count(() => adapter.read(at('/dir/a'), { range: { offset: 0, length: 1 } }))).toEqual([
        'GetObject',
      ])
      const stream = async (): Promise<void> => {
        const { stream: chunks } = await adapter.readStream(at('/dir/a'))
        for await (const chunk of chunks) expect(chunk.length).toBe(1)
      }
      expect(await bench.count(stream)).toEqual(['GetObject'])
    })

    it('writes bytes with one, with a condition and with parents too', async () => {
      const adapter = await bench.adapter()
      const data = encode('x')
      expect(await bench.count(() => adapter.write(at('/a/b/c'), data, { parents: true }))).toEqual(['PutObject'])
      expect(await bench.count(() => adapter.write(at('/a/d'), data, { ifVersion: 'absent' }))).toEqual(['PutObject'])
      const { version } = await adapter.write(at('/a/d'), encode('y'))
      expect(await bench.count(() => adapter.write(at('/a/d'), data, { ifVersion: version }))).toEqual(['PutObject'])
    })

    it('looks at a path with two at once', async () => {
      const adapter = await bench.adapter()
      await adapter.write(at('/dir/a'), encode('x'))
      let [running, most] = [0, 0]
      bench.interceptor = async (_, send) => {
        running += 1
        most = Math.max(most, running)
        try {
          return await send()
        } finally {
          running -= 1
        }
      }
      for (const path of ['/dir', '/dir/a']) {
        const sent = await bench.count(() => adapter.stat(at(path)))
        expect(sent.toSorted()).toEqual(['HeadObject', 'ListObjectsV2'])
      }
      bench.interceptor = (_, send) => send()
      expect(most).toBe(2)
      expect((await bench.count(() => adapter.stat(at('/none')).catch(() => undefined))).length).toBe(2)
    })

    // a thousand objects take the simulator long
    it('lists and deletes by the thousand, and asks about no entry', {
      tags: tagsInAll(name),
      timeout: 120_000,
    }, async () => {
      const adapter = await bench.adapter({ concurrency: 32 })
      const count = 1_050
      await fill(count, (index) => adapter.write(at(`/many/d${index % 7}/f${index}`), encode('x')))
      await fill(30, (index) => adapter.write(at(`/flat/${index}`), encode('x')))
      const list = async (path: string, recursive: boolean): Promise<number> => {
        let entries = 0
        for await (const { size, version, type } of adapter.list(at(path), { recursive })) {
          if (type === 'file') expect([size, version]).toEqual([1, expect.any(String)])
          entries += 1
        }
        return entries
      }
      let entries = 0
      expect(
        await bench.count(async () => {
          entries = await list('/many', true)
        }),
      ).toEqual(['ListObjectsV2', 'ListObjectsV2'])
      expect(entries).toBe(count + 7)
      expect(await bench.count(() => list('/many', false))).toEqual(['ListObjectsV2'])
      expect(await bench.count(() => list('/flat', false))).toEqual(['ListObjectsV2'])
      expect(await bench.count(() => adapter.delete(at('/flat'), { recursive: true }))).toEqual([
        'ListObjectsV2',
        'DeleteObjects',
      ])
      const deleting = await bench.count(() => adapter.delete(at('/many'), { recursive: true }))
      expect(deleting.toSorted()).toEqual(['DeleteObjects', 'DeleteObjects', 'ListObjectsV2', 'ListObjectsV2'])
      await expect(adapter.stat(at('/many'))).rejects.toMatchObject({ code: 'ENOENT' })
    })

    it('pages, and fetches none that an excluded subtree fills', async () => {
      const adapter = await bench.adapter()
      await fill(30, (index) => adapter.write(at(`/big/deep/${index}`), encode('x')))
      for (const path of ['/a', '/big/sibling', '/last']) await adapter.write(at(path), encode('x'))
      bench.pageSize = 10
      try {
        const paths: string[] = []
        const list = async (exclude: readonly string[], recursive: boolean): Promise<void> => {
          paths.length = 0
          const options = { recursive, exclude: exclude.map(at) }
          for await (const { path } of adapter.list(at('/'), options)) paths.push(path)
        }
        expect((await bench.count(() => list([], true))).length).toBe(4)
        expect(paths.length).toBe(35)
        expect((await bench.count(() => list(['/big/deep'], true))).length).toBe(2)
        expect(paths.toSorted()).toEqual(['/a', '/big', '/big/deep', '/big/sibling', '/last'])
        expect((await bench.count(() => list([], false))).length).toBe(1)
        expect(paths.toSorted()).toEqual(['/a', '/big', '/last'])
        await adapter.copy(at('/big'), at('/copy'), { recursive: true })
        await adapter.delete(at('/big'), { recursive: true })
        await list([], true)
        expect(paths.filter((path) => path.startsWith('/copy/')).length).toBe(32)
        expect(paths.some((path) => path.startsWith('/big'))).toBe(false)
      } finally {
        bench.pageSize = undefined
      }
    })

    it('searches with a listing and one for each file', async () => {
      const adapter = await bench.adapter()
      await fill(20, (index) => adapter.write(at(`/src/${index}.ts`), encode('needle\n')))
      await adapter.write(at('/src/other.md'), encode('needle\n'))
      const hits: string[] = []
      const sent = await bench.count(async () => {
        for await (const { path } of adapter.search?.({ pattern: 'needle', in: at('/src'), glob: ['*.ts'] }) ?? []) {
          hits.push(path)
        }
      })
      expect(hits.length).toBe(20)
      expect(sent.toSorted()).toEqual([...Array<string>(20).fill('GetObject'), 'ListObjectsV2'])
      const first = adapter.search?.({ pattern: 'needle', in: at('/src'), maxHits: 1 })
      expect((await bench.count(async () => Array.fromAsync(first ?? []))).length).toBeLessThanOrEqual(18)
    })

    it('copies and moves without a byte passing through, where the store has the condition or needs none', async () => {
      const adapter = await bench.adapter()
      await adapter.write(at('/a'), new Uint8Array(100))
      await adapter.write(at('/b'), new Uint8Array(1))
      const copied = await bench.count(() => adapter.copy(at('/a'), at('/b'), { overwrite: true }))
      expect(copied.filter((request) => !/^(?:Head|List)/u.test(request))).toEqual(['CopyObject'])
      const moved = await bench.count(() => adapter.move(at('/a'), at('/b'), { overwrite: true }))
      expect(moved.filter((request) => !/^(?:Head|List)/u.test(request))).toEqual(['CopyObject', 'DeleteObject'])
    })
  })
}
