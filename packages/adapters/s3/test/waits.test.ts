/** @module-tag all */
import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
} from '@aws-sdk/client-s3'
import { describeWith } from '@ws/test-fixtures'
import { startFaultProxy, type FaultProxy, type S3Server } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createS3Adapter, probeS3Dialect, type S3AdapterOptions, type S3Dialect } from '../src/index.ts'
import { Requests } from '../src/client/requests.ts'
import { KeySpace } from '../src/keys/key-space.ts'
import { sweepUploads } from '../src/objects/uploads.ts'
import { at, encode } from './support.ts'

const partBytes = 5 * 1024 * 1024

async function* parts(count: number, then: () => unknown = () => undefined): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count; index += 1) yield new Uint8Array(partBytes)
  await then()
  yield encode('the end')
}

const never = (): Promise<never> => new Promise(() => undefined)

// the simulator of R2 cannot list uploads
describeWith(s3Needs('ceph'), 'uploads that are not finished', () => {
  let server: S3Server
  let proxy: FaultProxy
  let dialect: S3Dialect
  let prefix: string
  beforeAll(async () => {
    server = await sharedS3Server('ceph')
    proxy = await startFaultProxy(server)
    const { endpoint, region, credentials, bucket } = server
    dialect = await probeS3Dialect({ endpoint, region, credentials, bucket })
  })
  beforeEach(() => {
    proxy.setFaults(undefined)
    prefix = `waits/${crypto.randomUUID()}`
  })
  afterAll(async () => {
    await proxy?.close()
    await server?.close()
  })

  const open = (options: Partial<S3AdapterOptions> = {}) => {
    const { endpoint, region, credentials, bucket } = proxy
    return createS3Adapter({
      endpoint,
      region,
      credentials,
      bucket,
      prefix,
      partBytes,
      dialect,
      ...options,
    } as S3AdapterOptions)
  }
  const uploads = async (): Promise<string[]> => {
    const command = new ListMultipartUploadsCommand({ Bucket: server.bucket, Prefix: prefix })
    const { Uploads = [] } = await server.client().send(command)
    return Uploads.map(({ Key = '' }) => Key)
  }

  it('are left at once when the caller gives up, though the store hangs', async () => {
    await using adapter = await open({ attemptTimeout: 60_000, deadline: 60_000 })
    const hanging = Promise.withResolvers<void>()
    proxy.setFaults(({ operation }) => {
      if (operation !== 'UploadPart')
        return operation === 'AbortMultipartUpload' ? { kind: 'hang', when: 'before' } : undefined
      hanging.resolve()
      return { kind: 'hang', when: 'before' }
    })
    const caller = new AbortController()
    const reason = new Error('enough')
    const writing = adapter.write(at('/a'), parts(3), { signal: caller.signal })
    await hanging.promise
    caller.abort(reason)
    await expect(writing).rejects.toBe(reason)
    proxy.setFaults(undefined)
  })

  it.each(['sending', 'waiting for the body'])(
    'are ended before the adapter is closed, while it is %s',
    async (what) => {
      const adapter = await open()
      const reached = Promise.withResolvers<void>()
      if (what === 'sending') {
        proxy.setFaults(({ operation }) => {
          if (operation !== 'UploadPart') return undefined
          reached.resolve()
          return { kind: 'hang', when: 'before' }
        })
      }
      const body = parts(2, () => {
        if (what !== 'sending') reached.resolve()
        return never()
      })
      const writing = adapter.write(at('/a'), body)
      const ended = expect(writing).rejects.toMatchObject({ code: 'ECLOSED' })
      await reached.promise
      await adapter.close()
      await ended
      expect(await uploads()).toEqual([])
    },
  )

  it('do not hold up the end of an adapter whose store hangs for longer than its deadline', async () => {
    const adapter = await open({ attemptTimeout: 1000, deadline: 3000 })
    proxy.setFaults(({ operation }) =>
      operation === 'AbortMultipartUpload' ? { kind: 'hang', when: 'before' } : undefined,
    )
    const writing = adapter.write(
      at('/a'),
      parts(2, () => Promise.reject(new Error('no more'))),
    )
    await expect(writing).rejects.toThrow('no more')
    await adapter.close()
    proxy.setFaults(undefined)
  })

  it('whose beginning was not answered are found and ended', async () => {
    const adapter = await open()
    let lost = 0
    proxy.setFaults(({ operation }) =>
      operation === 'CreateMultipartUpload' && lost++ < 2 ? { kind: 'reset', when: 'after' } : undefined,
    )
    await adapter.write(at('/a'), parts(2))
    await adapter.close()
    expect(lost).toBe(3)
    expect(await uploads()).toEqual([])
    const second = await open()
    expect((await second.stat(at('/a'))).size).toBe(2 * partBytes + 7)
    await second.close()
  })

  it('are ended before the adapter is closed, though the store fails at that for a moment', async () => {
    const adapter = await open()
    let failures = 0
    proxy.setFaults(({ operation }) =>
      operation === 'AbortMultipartUpload' && failures++ < 2 ? { kind: 'status', status: 500 } : undefined,
    )
    const reached = Promise.withResolvers<void>()
    const body = parts(2, () => {
      reached.resolve()
      return never()
    })
    const ended = expect(adapter.write(at('/a'), body)).rejects.toMatchObject({ code: 'ECLOSED' })
    await reached.promise
    await adapter.close()
    await ended
    expect(failures).toBe(3)
    expect(await uploads()).toEqual([])
  })

  it('whose beginning was not answered are looked for once more, when the look fails that the end of the adapter met', async () => {
    const adapter = await open({ attemptTimeout: 1000 })
    const looking = Promise.withResolvers<void>()
    let [lost, looks] = [0, 0]
    proxy.setFaults(({ operation }) => {
      if (operation === 'CreateMultipartUpload' && lost++ === 0) return { kind: 'reset', when: 'after' }
      if (operation !== 'ListMultipartUploads') return undefined
      looking.resolve()
      return looks++ === 0 ? { kind: 'hang', when: 'before' } : undefined
    })
    await adapter.write(at('/a'), parts(2))
    await looking.promise
    await adapter.close()
    expect(await uploads()).toEqual([])
  })

  it('whose beginning was not answered are looked for again at the end, when they could not be found before', async () => {
    const adapter = await open()
    const [began, looked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let lost = 0
    proxy.setFaults(({ operation }) => {
      if (operation === 'CreateMultipartUpload' && lost++ === 0) return { kind: 'reset', when: 'after' }
      if (operation === 'CompleteMultipartUpload') began.resolve()
      if (operation !== 'ListMultipartUploads') return undefined
      void began.promise.then(looked.resolve)
      return { kind: 'status', status: 500 }
    })
    await adapter.write(at('/a'), parts(2))
    await looked.promise
    await adapter.delete(at('/a'))
    proxy.setFaults(undefined)
    await adapter.close()
    expect(await uploads()).toEqual([])
  })

  it('of processes that were killed are ended at the start when nothing has come for a day, and no others', async () => {
    const Key = `${prefix}/a`
    const client = server.client()
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket: server.bucket, Key }))
    // what is younger stays
    await (await open()).close()
    expect(await uploads()).toEqual([Key])
    const requests = new Requests(client, { attemptTimeout: 30_000, deadline: 30_000, bucket: server.bucket })
    const store = { bucket: server.bucket, keys: new KeySpace({ prefix }), requests }
    await sweepUploads(store, { operation: 'test', path: '/' }, Date.now() + 25 * 3_600_000)
    expect(await uploads()).toEqual([])
    const again = client.send(new AbortMultipartUploadCommand({ Bucket: server.bucket, Key, UploadId }))
    await expect(again).rejects.toMatchObject({ name: 'NoSuchUpload' })
  })

  it('and every operation end by the deadline of all their requests together', async () => {
    await (await open()).write(at('/a'), encode('x'))
    await using adapter = await open({ attemptTimeout: 200, deadline: 500 })
    const started = performance.now()
    proxy.setFaults(({ operation }) => (operation === 'HeadObject' ? undefined : { kind: 'hang', when: 'before' }))
    await expect(adapter.write(at('/b'), parts(2))).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    await expect(adapter.move(at('/a'), at('/c'))).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    // far below what each request alone would have
    expect(performance.now() - started).toBeLessThan(20_000)
    proxy.setFaults(undefined)
  })
})
