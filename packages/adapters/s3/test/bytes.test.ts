import type { GetObjectCommandOutput } from '@aws-sdk/client-s3'
import { describeWith } from '@ws/test-fixtures'
import { s3ServerNames, startFaultProxy, type Fault, type FaultProxy } from '@ws/test-fixtures/s3'
import { s3Needs } from '@ws/test-fixtures/s3/vitest'
import { Crc64Nvme } from '@aws-sdk/checksums/crc'
import { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createS3Adapter, type S3StorageAdapter } from '../src/index.ts'
import { at, Bench, encode, text, tagsOn } from './support.ts'

const content = encode('the bytes that were stored, '.repeat(100))
const damaged = { code: 'EIO', reason: expect.stringContaining('damaged') }

for (const name of s3ServerNames) {
  describeWith(s3Needs(name), `bytes that arrive damaged, again and again, on ${name}`, { tags: tagsOn(name) }, () => {
    let bench: Bench
    let proxy: FaultProxy
    let adapter: S3StorageAdapter
    let prefix: string
    beforeAll(async () => {
      bench = await Bench.open(name)
      proxy = await startFaultProxy(bench.server)
    })
    beforeEach(async () => {
      proxy.setFaults(undefined)
      prefix = bench.prefix()
      const { endpoint, region, credentials, bucket } = proxy
      const { dialect } = bench
      adapter = await createS3Adapter({
        endpoint,
        region,
        credentials,
        bucket,
        prefix,
        dialect,
        symlinks: 'rclonelink',
      })
    })
    afterAll(async () => {
      await proxy?.close()
      await bench?.close()
    })

    const faults: [string, Fault][] = [
      ['a flipped bit', { kind: 'flip', at: 0.5 }],
      ['a truncation that fits its length', { kind: 'shorten', keep: 0.5 }],
    ]
    describe.each(faults)('%s', (_, fault) => {
      const damage = () => proxy.setFaults(({ operation }) => (operation === 'GetObject' ? fault : undefined))

      it('is EIO for read and readStream', { timeout: 60_000 }, async () => {
        await adapter.write(at('/a'), content)
        damage()
        await expect(adapter.read(at('/a'))).rejects.toMatchObject(damaged)
        const { stream } = await adapter.readStream(at('/a'))
        await expect(Array.fromAsync(stream)).rejects.toMatchObject({ code: 'EIO' })
      })

      it('is never stored: append is EIO, and the object is as it was', { timeout: 60_000 }, async () => {
        await adapter.write(at('/a'), content)
        await bench.put(`${prefix}/foreign`, content)
        damage()
        await expect(adapter.append?.(at('/a'), encode('more'))).rejects.toMatchObject(damaged)
        if (fault.kind === 'flip') {
          await expect(adapter.append?.(at('/foreign'), encode('more'))).rejects.toMatchObject(damaged)
        }
        proxy.setFaults(undefined)
        expect(Buffer.from((await adapter.read(at('/a'))).bytes).equals(content)).toBe(true)
        expect(Buffer.from((await adapter.read(at('/foreign'))).bytes).equals(content)).toBe(true)
      })

      it('is EIO where it would make another link', { timeout: 60_000 }, async () => {
        await adapter.createSymlink?.(at('/link'), '/some/where')
        damage()
        await expect(adapter.readSymlink?.(at('/link'))).rejects.toMatchObject({ code: 'EIO' })
      })
    })

    it('that come once only are asked for again', async () => {
      await adapter.write(at('/a'), content)
      let times = 1
      proxy.setFaults(({ operation }) =>
        operation === 'GetObject' && times-- > 0 ? { kind: 'flip', at: 0.1 } : undefined,
      )
      expect(Buffer.from((await adapter.read(at('/a'))).bytes).equals(content)).toBe(true)
    })
  })
}

describe('the check of a whole object', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await Bench.open('r2')
  })
  afterAll(() => bench.close())

  /** Gives other bytes, and checksums as a store sends them. */
  const answering = (bytes: Uint8Array, checksums: Partial<GetObjectCommandOutput>) => {
    bench.interceptor = async ({ name }, send) => {
      const answer = (await send()) as { output: GetObjectCommandOutput }
      if (name !== 'GetObject') return answer
      Object.assign(answer.output, checksums, { Body: Readable.from([bytes]), ContentLength: bytes.length })
      return answer
    }
  }
  const crc32Of = (bytes: Uint8Array): string => {
    const buffer = Buffer.alloc(4)
    buffer.writeUInt32BE(crc32(bytes))
    return buffer.toString('base64')
  }
  const crc64Of = async (bytes: Uint8Array): Promise<string> => {
    const crc = new Crc64Nvme()
    crc.update(bytes)
    return Buffer.from(await crc.digest()).toString('base64')
  }
  const wrong = encode('x'.repeat(content.length))

  it('is the store’s own checksum where it sends one', { timeout: 60_000 }, async () => {
    const prefix = bench.prefix()
    // where nothing else is left
    const adapter = await bench.adapter({ prefix, dialect: { ...bench.dialect, md5Etags: false } })
    await bench.put(`${prefix}/a`, content)
    for (const right of [{ ChecksumCRC32: crc32Of(content) }, { ChecksumCRC64NVME: await crc64Of(content) }]) {
      answering(content, { ...right, ChecksumType: 'FULL_OBJECT' })
      expect((await adapter.read(at('/a'))).bytes).toHaveLength(content.length)
      answering(wrong, { ...right, ChecksumType: 'FULL_OBJECT' })
      await expect(adapter.read(at('/a'))).rejects.toMatchObject(damaged)
    }
    // a checksum of checksums is none of the bytes
    answering(content, { ChecksumCRC32: 'AAAAAA==-2', ChecksumType: 'COMPOSITE' })
    expect((await adapter.read(at('/a'))).bytes).toHaveLength(content.length)
    bench.interceptor = (_, send) => send()
  })

  it('is this adapter’s own where ETags are no checksums', { timeout: 60_000 }, async () => {
    const adapter = await bench.adapter({ dialect: { ...bench.dialect, md5Etags: false } })
    await adapter.write(at('/a'), content)
    answering(wrong, {})
    await expect(adapter.read(at('/a'))).rejects.toMatchObject(damaged)
    bench.interceptor = (_, send) => send()
    expect(await text(adapter, '/a')).toBe(new TextDecoder().decode(content))
  })

  it('believes the ETag where others have kept the metadata of bytes that they replaced', async () => {
    const prefix = bench.prefix()
    const adapter = await bench.adapter({ prefix })
    await adapter.write(at('/a'), content)
    const { metadata } = await bench.get(`${prefix}/a`)
    await bench.put(`${prefix}/a`, 'other bytes', metadata)
    expect(await text(adapter, '/a')).toBe('other bytes')
  })

  it('of an object of others whose ETag is no checksum is its length', async () => {
    const prefix = bench.prefix()
    const adapter = await bench.adapter({ prefix })
    await bench.put(`${prefix}/a`, content)
    answering(content, { ETag: '"00000000000000000000000000000000"' })
    expect((await adapter.read(at('/a'))).bytes).toHaveLength(content.length)
    bench.interceptor = (_, send) => send()
  })
})
