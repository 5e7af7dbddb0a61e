import { describeWith } from '@ws/test-fixtures'
import {
  type FaultProxy,
  type RecordedRequest,
  s3ServerNames,
  type S3Server,
  startFaultProxy,
} from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { createS3Adapter, type S3Credentials } from '../src/index.ts'
import { at, decode, encode, listed, tagsOn } from './support.ts'

const partBytes = 5 * 1024 * 1024

for (const name of s3ServerNames) {
  describeWith(s3Needs(name), `the short way of frequent requests, to ${name}`, { tags: tagsOn(name) }, () => {
    let server: S3Server
    let proxy: FaultProxy
    beforeAll(async () => {
      server = await sharedS3Server(name)
      proxy = await startFaultProxy(server)
    })
    afterEach(() => vi.useRealTimers())
    afterAll(async () => {
      await proxy.close()
      await server.close()
    })

    const connection = () => {
      const { endpoint, region, credentials, bucket } = proxy
      return { endpoint, region, credentials, bucket, partBytes, prefix: `transport/${crypto.randomUUID()}` }
    }

    it('is taken by the adapter’s own client, for these requests only, on connections that stay open', async () => {
      await using adapter = await createS3Adapter(connection())
      const { requests } = await proxy.record(async () => {
        await adapter.write(at('/a'), encode('one'))
        await adapter.read(at('/a'))
        await adapter.stat(at('/a'))
        await adapter.write(at('/parts'), large())
        await adapter.copy(at('/a'), at('/b'))
        await adapter.delete(at('/b'))
      })
      const short = new Set(requests.filter(isShort).map(({ operation }) => operation))
      const long = new Set(requests.filter((one) => !isShort(one)).map(({ operation }) => operation))
      expect([...short].toSorted()).toEqual(['GetObject', 'HeadObject', 'ListObjectsV2', 'PutObject', 'UploadPart'])
      expect([...short].filter((operation) => long.has(operation))).toEqual([])
      expect(requests.map(({ headers }) => headers.connection)).not.toContain('close')
    })

    it('is not taken by a client that was given', async () => {
      const { bucket, prefix } = connection()
      const client = proxy.client({ maxAttempts: 1 })
      await using adapter = await createS3Adapter({ client, bucket, prefix })
      const { requests } = await proxy.record(async () => {
        await adapter.write(at('/a'), encode('one'))
        expect(decode((await adapter.read(at('/a'))).bytes)).toBe('one')
      })
      expect(requests.map(({ operation }) => operation)).toEqual(['PutObject', 'GetObject'])
      expect(requests.filter(isShort)).toEqual([])
    })

    it('signs every name and every query as the server does', async () => {
      await using adapter = await createS3Adapter(connection())
      const names = ["!*'()", 'a b+c%20&=?#', '~ä😀', ';:@,$[]{}|^`"<>\\', '%2F%00']
      for (const name of names) {
        await adapter.write(at(`/${name}/file`), encode(name))
        expect(decode((await adapter.read(at(`/${name}/file`))).bytes)).toBe(name)
        expect(await listed(adapter, `/${name}`)).toEqual([`file /${name}/file`])
      }
    })

    it('gets over a clock that is wrong', async () => {
      await using adapter = await createS3Adapter(connection())
      await adapter.write(at('/a'), encode('one'))
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
      const { requests } = await proxy.record(async () => {
        expect(decode((await adapter.read(at('/a'))).bytes)).toBe('one')
        expect(decode((await adapter.read(at('/a'))).bytes)).toBe('one')
      })
      expect(requests.map(({ status }) => status)).toEqual([403, 200, 200])
      expect(requests.filter(isShort)).toHaveLength(3)
    })

    it('asks for credentials again when they are about to expire', async () => {
      let current: S3Credentials = proxy.credentials
      const credentials = async () => ({ ...current, expiration: new Date(Date.now() + 60_000) })
      await using adapter = await createS3Adapter({ ...connection(), credentials })
      await adapter.write(at('/a'), encode('one'))
      current = { ...current, secretAccessKey: 'no longer this one' }
      await expect(adapter.read(at('/a'))).rejects.toMatchObject({ code: 'EBACKEND' })
      current = proxy.credentials
      expect(decode((await adapter.read(at('/a'))).bytes)).toBe('one')
    })

    async function* large(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(partBytes)
      yield encode('and more')
    }
  })
}

function isShort({ headers }: RecordedRequest): boolean {
  return headers['user-agent'] === 'ws-adapter-s3'
}
