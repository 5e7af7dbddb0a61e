import {
  CopyObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type HeadObjectCommandOutput,
} from '@aws-sdk/client-s3'
import { describeWith } from '@ws/test-fixtures'
import { s3ServerNames } from '@ws/test-fixtures/s3'
import { s3Needs } from '@ws/test-fixtures/s3/vitest'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createS3Adapter } from '../src/index.ts'
import { at, Bench, encode, tagsOn } from './support.ts'

const MiB = 1024 * 1024
const partBytes = 5 * MiB

async function* inParts(bytes: number, value: number): AsyncGenerator<Uint8Array> {
  for (let left = bytes; left > 0; left -= MiB) yield new Uint8Array(Math.min(MiB, left)).fill(value)
}

for (const name of s3ServerNames) {
  describeWith(s3Needs(name), `type and metadata on ${name}`, { tags: tagsOn(name) }, () => {
    let bench: Bench
    let prefix: string
    beforeAll(async () => {
      bench = await Bench.open(name)
    })
    beforeEach(() => {
      prefix = bench.prefix()
      bench.interceptor = (_, send) => send()
    })
    afterAll(() => bench.close())

    const head = (path: string): Promise<HeadObjectCommandOutput> =>
      bench.client.send(new HeadObjectCommand({ Bucket: bench.server.bucket, Key: prefix + path }))
    /** An object of others with all that one can have. */
    const putRich = (path: string) =>
      bench.client.send(
        new PutObjectCommand({
          Bucket: bench.server.bucket,
          Key: prefix + path,
          Body: 'old',
          ContentType: 'text/x-mine',
          CacheControl: 'max-age=60',
          ContentDisposition: 'attachment',
          ContentLanguage: 'de',
          Metadata: { author: 'somebody' },
        }),
      )
    const rich = {
      ContentType: 'text/x-mine',
      CacheControl: 'max-age=60',
      ContentDisposition: 'attachment',
      ContentLanguage: 'de',
      Metadata: expect.objectContaining({ author: 'somebody' }),
    }

    it('are kept when a file is overwritten, whether it has been seen or not', async () => {
      const adapter = await bench.adapter({ prefix, partBytes })
      await putRich('/a')
      await adapter.write(at('/a'), encode('new'))
      expect(await head('/a')).toMatchObject(rich)
      await adapter.write(at('/a'), encode('newer'))
      expect(await head('/a')).toMatchObject(rich)
      await putRich('/b')
      const { version } = await adapter.stat(at('/b'))
      await adapter.write(at('/b'), encode('new'), { ifVersion: version })
      expect(await head('/b')).toMatchObject(rich)
      await putRich('/c')
      await adapter.write(at('/c'), inParts(6 * MiB, 1))
      expect(await head('/c')).toMatchObject({ ...rich, ContentLength: 6 * MiB })
      await putRich('/d')
      await adapter.write(at('/d'), new Uint8Array(2 * MiB))
      expect(await head('/d')).toMatchObject(rich)
    })

    it('are kept by append, copy and move', async () => {
      const adapter = await bench.adapter({ prefix })
      await putRich('/a')
      await adapter.append?.(at('/a'), encode(' and more'))
      expect(await head('/a')).toMatchObject({ ...rich, ContentLength: 12 })
      await adapter.copy(at('/a'), at('/b'))
      expect(await head('/b')).toMatchObject(rich)
      await adapter.move(at('/b'), at('/c'))
      expect(await head('/c')).toMatchObject(rich)
      await adapter.write(at('/d'), encode('replaced'))
      await adapter.copy(at('/c'), at('/d'), { overwrite: true })
      expect(await head('/d')).toMatchObject(rich)
      await putRich('/tree/a')
      await adapter.move(at('/tree'), at('/moved'))
      expect(await head('/moved/a')).toMatchObject(rich)
    })

    it('of a new file are those of its name and of the options', async () => {
      const plain = await bench.adapter({ prefix })
      for (const [path, type] of [
        ['/a.md', 'text/markdown; charset=utf-8'],
        ['/b.PNG', 'image/png'],
        ['/c.json', 'application/json'],
      ] as const) {
        await plain.write(at(path), encode('x'))
        expect(await head(path)).toMatchObject({ ContentType: type })
      }
      const contentType = (path: string) => (path.endsWith('.x') ? 'text/x-chosen' : undefined)
      const chosen = await bench.adapter({ prefix, contentType, cacheControl: 'no-store', metadata: { team: 'a' } })
      await chosen.write(at('/d.x'), encode('x'))
      await chosen.write(at('/e.md'), inParts(9 * MiB, 1))
      await chosen.append?.(at('/f.x'), encode('x'))
      const given = { CacheControl: 'no-store', Metadata: expect.objectContaining({ team: 'a' }) }
      expect(await head('/d.x')).toMatchObject({ ...given, ContentType: 'text/x-chosen' })
      expect(await head('/e.md')).toMatchObject({ ...given, ContentType: 'text/markdown; charset=utf-8' })
      expect(await head('/f.x')).toMatchObject({ ...given, ContentType: 'text/x-chosen' })
    })

    it('with encryption and storage class are asked of the store with every write and copy', async () => {
      const options = { encryption: { algorithm: 'aws:kms', keyId: 'k' }, storageClass: 'STANDARD_IA' } as const
      const adapter = await bench.adapter({ prefix, partBytes, ...options })
      const sent: Record<string, unknown>[] = []
      bench.interceptor = async ({ name: request, input }, send) => {
        if (!/^(?:Put|Copy)Object$|^Create/u.test(request)) return send()
        sent.push({ request, ...input })
        throw Object.assign(new Error('no'), { name: 'AccessDenied', $metadata: { httpStatusCode: 403 } })
      }
      await bench.put(`${prefix}/a`, 'x')
      await expect(adapter.write(at('/b'), encode('x'))).rejects.toMatchObject({ code: 'EBACKEND' })
      await expect(adapter.write(at('/b'), inParts(6 * MiB, 1))).rejects.toMatchObject({ code: 'EBACKEND' })
      await expect(adapter.copy(at('/a'), at('/b'), { overwrite: true })).rejects.toMatchObject({ code: 'EBACKEND' })
      expect(sent.map(({ request }) => request)).toEqual(['PutObject', 'CreateMultipartUpload', 'CopyObject'])
      for (const input of sent) {
        expect(input).toMatchObject({ ServerSideEncryption: 'aws:kms', SSEKMSKeyId: 'k', StorageClass: 'STANDARD_IA' })
      }
    })

    it('in odd encodings hold up neither an overwrite nor a copy, and are not lost', async () => {
      const adapter = await bench.adapter({ prefix })
      const Metadata = { title: 'größe', packed: '=?UTF-8?B?Z3LDvMOf?=' }
      // Node sends headers in UTF-8 before a body that is text
      const put = new PutObjectCommand({ Bucket: bench.server.bucket, Key: `${prefix}/a`, Body: 'x', Metadata })
      await bench.client.send(put)
      await adapter.copy(at('/a'), at('/b'))
      await adapter.write(at('/a'), encode('y'))
      for (const path of ['/a', '/b']) {
        const { Metadata: kept = {} } = await head(path)
        const title = kept['title'] ?? ''
        const found = /^=\?UTF-8\?B\?(?<text>[^?]+)\?=$/u.exec(title)?.groups?.['text']
        expect(Buffer.from(found ?? title, found === undefined ? 'latin1' : 'base64').toString()).toBe('größe')
        expect(kept['packed']).toBe('=?UTF-8?B?Z3LDvMOf?=')
      }
    })

    it('leave room for metadata of others, of almost all that a store takes', async () => {
      const adapter = await bench.adapter({ prefix })
      await bench.put(`${prefix}/a`, 'x', { much: 'x'.repeat(1_800) })
      for (let index = 0; index < 5; index += 1) {
        const { version } = await adapter.stat(at('/a'))
        await adapter.write(at('/a'), encode(`${index}`), { ifVersion: version })
      }
      const { Metadata = {} } = await head('/a')
      expect(Metadata['much']).toHaveLength(1_800)
      expect(Object.entries(Metadata).flat().join('').length).toBeLessThanOrEqual(2_048)
    })

    it('say that bytes are packed: they are read, copied and appended to as they are', async () => {
      const adapter = await bench.adapter({ prefix })
      const packed = gzipSync('hello '.repeat(1_000))
      await bench.client.send(
        new PutObjectCommand({
          Bucket: bench.server.bucket,
          Key: `${prefix}/a.txt`,
          Body: packed,
          ContentEncoding: 'gzip',
          ContentType: 'text/plain',
        }),
      )
      expect((await adapter.stat(at('/a.txt'))).size).toBe(packed.length)
      const { bytes, stat } = await adapter.read(at('/a.txt'))
      expect([Buffer.from(bytes).equals(packed), stat.size]).toEqual([true, packed.length])
      const range = { offset: 3, length: 10 }
      expect(Buffer.from((await adapter.read(at('/a.txt'), { range })).bytes)).toEqual(packed.subarray(3, 13))
      const { stream } = await adapter.readStream(at('/a.txt'))
      expect(Buffer.concat(await Array.fromAsync(stream)).equals(packed)).toBe(true)
      await adapter.move(at('/a.txt'), at('/b.txt'))
      expect(await head('/b.txt')).toMatchObject({ ContentEncoding: 'gzip', ContentType: 'text/plain' })
      expect(Buffer.from((await adapter.read(at('/b.txt'))).bytes).equals(packed)).toBe(true)
      await adapter.write(at('/b.txt'), encode('plain'))
      expect((await head('/b.txt')).ContentEncoding).toBeUndefined()
    })

    it('go with a copy by parts, which the store makes, of one state only', { timeout: 60_000 }, async () => {
      const adapter = await bench.adapter({ prefix, partBytes, copyPartBytes: partBytes })
      await putRich('/a')
      await adapter.write(at('/a'), inParts(20 * MiB, 7))
      const sent = await bench.count(() => adapter.copy(at('/a'), at('/b')))
      // the simulator refuses the first, with a condition
      expect(sent.filter((request) => request === 'UploadPartCopy').length).toBeGreaterThanOrEqual(4)
      expect(sent).not.toContain('GetObject')
      expect(await head('/b')).toMatchObject({ ...rich, ContentLength: 20 * MiB })
      const { stream } = await adapter.readStream(at('/b'))
      let sum = 0
      for await (const chunk of stream) sum += chunk.every((byte) => byte === 7) ? chunk.length : 0
      expect(sum).toBe(20 * MiB)
      await expect(adapter.copy(at('/a'), at('/b'))).rejects.toMatchObject({ code: 'EEXIST' })
      let copied = 0
      bench.interceptor = async ({ name: request }, send) => {
        const answer = await send()
        if (request === 'UploadPartCopy' && (copied += 1) === 2) await bench.put(`${prefix}/a`, 'other')
        return answer
      }
      await expect(adapter.copy(at('/a'), at('/c'))).rejects.toMatchObject({ code: 'ECONFLICT', path: '/a' })
      expect(await bench.keys(`${prefix}/c`)).toEqual([])
    })

    it('of what others copy in the store are theirs', async () => {
      const adapter = await bench.adapter({ prefix })
      await adapter.write(at('/a.md'), encode('x'))
      const { bucket } = bench.server
      const copy = { Bucket: bucket, Key: `${prefix}/b`, CopySource: `${bucket}/${prefix}/a.md` }
      await bench.client.send(new CopyObjectCommand(copy))
      expect((await adapter.read(at('/b'))).bytes).toEqual(encode('x'))
    })

    it.each([{ algorithm: 'SSE-C', key: 'c2VjcmV0' }, { SSECustomerKey: 'c2VjcmV0' }])(
      'encryption with a key of the caller is refused at once, and the key is not told',
      async (encryption) => {
        const failed = await createS3Adapter({ bucket: 'b', encryption } as never).catch((error: unknown) => error)
        const reason = expect.stringContaining('(SSE-C)')
        expect(failed).toMatchObject({ code: 'EINVAL', reason, remedy: expect.stringContaining('aws:kms') })
        expect(String(failed)).not.toContain('c2VjcmV0')
      },
    )

    it('options that are wrong are refused by name', async () => {
      const { endpoint, region, credentials, bucket } = bench.server
      for (const [option, value] of [
        ['contentType', ''],
        ['metadata', { Ä: 'x' }],
        ['encryption', { algorithm: 'none' }],
        ['copyPartBytes', 1],
        ['ca', 'no certificate'],
      ] as const) {
        const options = { endpoint, region, credentials, bucket, [option]: value }
        await expect(createS3Adapter(options as never)).rejects.toMatchObject({
          code: 'EINVAL',
          message: expect.stringContaining(option),
        })
      }
    })
  })
}
