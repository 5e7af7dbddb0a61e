import { S3Client } from '@aws-sdk/client-s3'
import { describeWith } from '@ws/test-fixtures'
import { s3ServerNames } from '@ws/test-fixtures/s3'
import { s3Needs } from '@ws/test-fixtures/s3/vitest'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createR2Adapter, createS3Adapter, probeS3Dialect } from '../src/index.ts'
import { at, Bench, encode, tagsOn } from './support.ts'

/** An answer of a server that refuses, as the SDK gives it. */
function answer(status: number, name?: string, headers: Record<string, string> = {}): Error {
  return Object.assign(new Error('secret-key of bucket-x'), {
    name: name ?? 'UnknownError',
    ...(name === undefined ? {} : { Code: name }),
    $metadata: { httpStatusCode: status },
    $response: { statusCode: status, headers },
  })
}

for (const name of s3ServerNames) {
  describeWith(s3Needs(name), `what the server refuses on ${name}`, { tags: tagsOn(name) }, () => {
    let bench: Bench
    beforeAll(async () => {
      bench = await Bench.open(name)
    })
    beforeEach(() => {
      bench.interceptor = (_, send) => send()
    })
    afterAll(() => bench.close())

    it('a bucket that does not exist is ENOWORKSPACE, at the start and for every operation', async () => {
      const { endpoint, region, credentials } = bench.server
      const options = { bucket: 'no-such-bucket-anywhere', endpoint, region, credentials }
      await expect(createS3Adapter(options)).rejects.toMatchObject({ code: 'ENOWORKSPACE' })
      await using adapter = await createS3Adapter({ ...options, dialect: bench.dialect })
      const attempts = [
        () => adapter.stat(at('/')),
        () => adapter.stat(at('/a')),
        () => adapter.read(at('/a')),
        () => adapter.readStream(at('/a')),
        () => adapter.write(at('/a'), encode('x')),
        () => adapter.list(at('/')).next(),
        () => adapter.delete(at('/a')),
        () => adapter.move(at('/a'), at('/b')),
        () => adapter.createDirectory(at('/a')),
      ]
      for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: 'ENOWORKSPACE' })
    })

    it('credentials that are wrong are EBACKEND, and no message tells them', async () => {
      const { endpoint, region, credentials, bucket } = bench.server
      const wrong = { ...credentials, secretAccessKey: 'wrong-secret-of-mine' }
      const failed = await createS3Adapter({ bucket, endpoint, region, credentials: wrong }).catch(
        (error: unknown) => error,
      )
      expect(failed).toMatchObject({ code: 'EBACKEND' })
      for (const word of ['wrong-secret', credentials.accessKeyId, bucket, '127.0.0.1']) {
        expect(`${String(failed)} ${JSON.stringify(failed)}`).not.toContain(word)
      }
      await using adapter = await createS3Adapter({
        ...{ bucket, endpoint, region, credentials: wrong },
        dialect: bench.dialect,
      })
      await expect(adapter.read(at('/a'))).rejects.toMatchObject({ code: 'EBACKEND' })
      await expect(adapter.stat(at('/a'))).rejects.toMatchObject({ code: 'EBACKEND' })
    })

    it('asks for credentials anew when they come from a function', async () => {
      const { endpoint, region, credentials, bucket } = bench.server
      let asked = 0
      const provide = async () => {
        asked += 1
        return { ...credentials, expiration: new Date(Date.now() + 1_000) }
      }
      await using adapter = await createS3Adapter({
        ...{ bucket, endpoint, region, credentials: provide },
        dialect: bench.dialect,
        prefix: bench.prefix(),
      })
      await adapter.write(at('/a'), encode('x'))
      await adapter.read(at('/a'))
      expect(asked).toBeGreaterThan(1)
    })

    it.each([
      [answer(403, 'ExpiredToken'), 'EBACKEND', 'expired'],
      [answer(403, 'RequestTimeTooSkewed'), 'EBACKEND', 'clock'],
      [answer(301, 'PermanentRedirect'), 'EBACKEND', 'region'],
      [answer(400, 'AuthorizationHeaderMalformed'), 'EBACKEND', 'region'],
      [answer(403, 'AccessDenied'), 'EBACKEND', 'denies'],
      [answer(403), 'EBACKEND', 'denies'],
      [answer(403, 'InvalidObjectState'), 'EBACKEND', 'archived'],
      [answer(507, 'InsufficientCapacity'), 'ENOSPC', 'full'],
      [answer(400, 'EntityTooLarge'), 'EFBIG', 'larger'],
      [answer(501, 'NotImplemented'), 'ENOTSUP', 'not offer'],
      [Object.assign(new Error('x'), { name: 'CredentialsProviderError' }), 'EBACKEND', 'no credentials'],
      [Object.assign(new Error('x'), { code: 'ENOTFOUND' }), 'EBACKEND', 'endpoint'],
    ])('%o is %s, and says why', async (error, code, word) => {
      const adapter = await bench.adapter()
      bench.interceptor = () => Promise.reject(error)
      const failed = await adapter.write(at('/a'), encode('x')).catch((thrown: unknown) => thrown)
      expect(failed).toMatchObject({ code, operation: 'write', path: '/a' })
      expect(String(failed)).toContain(word)
      expect(String(failed)).not.toMatch(/secret-key|bucket-x/u)
    })

    it('is asked again after a HEAD that is refused without a word, where a GET is not', async () => {
      const adapter = await bench.adapter()
      await adapter.write(at('/a'), encode('x'))
      let left = 3
      bench.interceptor = ({ name: request }, send) =>
        request === 'HeadObject' && left-- > 0 ? Promise.reject(answer(403)) : send()
      expect(await adapter.stat(at('/a'))).toMatchObject({ size: 1 })
    })

    it('is asked again after what passes, and waits as long as the server says', async () => {
      const adapter = await bench.adapter()
      const passing = [answer(503, 'SlowDown', { 'retry-after': '0.2' }), answer(500), answer(429)]
      const started = performance.now()
      bench.interceptor = (_, send) => {
        const error = passing.shift()
        return error === undefined ? send() : Promise.reject(error)
      }
      await adapter.write(at('/a'), encode('x'))
      expect(performance.now() - started).toBeGreaterThanOrEqual(199)
      // the first error may have come after the store had acted: from then on it is looked first
      const sent = bench.requests.map(({ name: request }) => request)
      expect(sent).toEqual(['PutObject', 'HeadObject', 'HeadObject', 'HeadObject', 'PutObject'])
    })

    it('is not asked for longer than the deadline, and an abort ends every wait', async () => {
      const adapter = await bench.adapter({ deadline: 1000 })
      bench.interceptor = () => Promise.reject(answer(503, 'SlowDown', { 'retry-after': '60' }))
      await expect(adapter.read(at('/a'))).rejects.toMatchObject({ code: 'EIO' })
      const patient = await bench.adapter()
      const reason = new Error('enough')
      const controller = new AbortController()
      bench.interceptor = () => {
        setImmediate(() => controller.abort(reason))
        return Promise.reject(answer(503, 'SlowDown', { 'retry-after': '60' }))
      }
      await expect(patient.read(at('/a'), { signal: controller.signal })).rejects.toBe(reason)
      const hanging = new AbortController()
      bench.interceptor = () => {
        setImmediate(() => hanging.abort(reason))
        return new Promise(() => undefined)
      }
      await expect(patient.write(at('/a'), encode('x'), { signal: hanging.signal })).rejects.toBe(reason)
      const impatient = await bench.adapter({ attemptTimeout: 50, deadline: 200 })
      bench.interceptor = () => new Promise(() => undefined)
      await expect(impatient.stat(at('/a'))).rejects.toMatchObject({ code: 'ETIMEDOUT' })
      bench.interceptor = (_, send) => send()
    })

    it('close ends what is running', async () => {
      const adapter = await bench.adapter({ attemptTimeout: 3_600_000 })
      bench.interceptor = () => new Promise(() => undefined)
      const reading = adapter.read(at('/a'))
      await adapter.close()
      await expect(reading).rejects.toMatchObject({ code: 'ECLOSED' })
    })

    it('a read-only adapter asks nothing at the start, and changes nothing', async () => {
      const prefix = bench.prefix()
      await bench.put(`${prefix}/a`, 'content')
      const { endpoint, region, credentials, bucket } = bench.server
      const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true })
      let sent = 0
      client.middlewareStack.add((next) => (given) => ((sent += 1), next(given)), { step: 'initialize' })
      await using adapter = await createS3Adapter({ client, bucket, prefix, readOnly: true })
      expect(sent).toBe(0)
      expect((await adapter.read(at('/a'))).stat.size).toBe(7)
      await expect(adapter.write(at('/a'), encode('x'))).rejects.toMatchObject({ code: 'EROFS' })
      await expect(adapter.delete(at('/none'), { force: true })).rejects.toMatchObject({ code: 'EROFS' })
      client.destroy()
    })

    it('does not believe a refused delete when the object is gone: its answer may have been lost', async () => {
      let deletes = 0
      bench.interceptor = async ({ name: sent, input }, send) => {
        if (sent !== 'DeleteObject' || input['IfMatch'] === undefined) return send()
        deletes += 1
        if (deletes > 1) throw answer(412, 'PreconditionFailed')
        await send()
        throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
      }
      const { bucket } = bench.server
      const dialect = await probeS3Dialect({ client: bench.watched, bucket, prefix: bench.prefix() })
      expect(deletes).toBe(2)
      expect(dialect.conditionalDelete).toBe(false)
    })

    it('finds out what the server honours, and leaves nothing behind', async () => {
      const { endpoint, region, credentials, bucket } = bench.server
      const prefix = bench.prefix()
      const dialect = await probeS3Dialect({ bucket, prefix, endpoint, region, credentials })
      expect(dialect).toEqual({
        etags: name === 'ceph' ? 'bare' : 'quoted',
        conditionalPut: true,
        conditionalCopySource: name === 'r2',
        conditionalCopyDestination: false,
        conditionalComplete: false,
        conditionalDelete: false,
        controlCharacters: name === 'ceph',
        normalisesKeys: false,
        md5Etags: true,
        checksums: false,
      })
      expect(await bench.keys(`${prefix}/`)).toEqual([])
    })
  })
}

describe('an endpoint that is none', () => {
  it('is EBACKEND where nobody listens', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    server.close()
    await once(server, 'close')
    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
    const failed = createS3Adapter({ bucket: 'b', endpoint: `http://127.0.0.1:${port}`, region: 'auto', credentials })
    await expect(failed).rejects.toMatchObject({ code: 'EBACKEND', reason: expect.stringContaining('endpoint') })
  })

  it('is EBACKEND where something answers that is no S3 server', { timeout: 60_000 }, async () => {
    const server = createServer((_, response) => response.end('<html><body>hello'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const address = server.address()
      const port = typeof address === 'object' ? address?.port : 0
      const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
      const options = { bucket: 'b', endpoint: `http://127.0.0.1:${port}`, credentials, deadline: 500 }
      await expect(createR2Adapter(options)).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:EBACKEND|EIO)$/u),
      })
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })

  it.each([
    [{ bucket: '' }, 'bucket'],
    [{ bucket: 'b', partBytes: 1 }, 'partBytes'],
    [{ bucket: 'b', concurrency: 0 }, 'concurrency'],
    [{ bucket: 'b', prefix: '../x' }, '..'],
  ])('and options that are none are refused before anything is asked: %j', async (options, word) => {
    const failed = await createS3Adapter({ region: 'auto', ...options }).catch((error: unknown) => error)
    expect(failed).toMatchObject({ code: expect.stringMatching(/^E(?:INVAL|OUTSIDE)$/u) })
    expect(String(failed)).toContain(word)
  })
})
