import { describeWith } from '@ws/test-fixtures'
import { s3ServerNames, startFaultProxy, type Fault, type FaultProxy } from '@ws/test-fixtures/s3'
import { s3Needs } from '@ws/test-fixtures/s3/vitest'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createS3Adapter, type S3AdapterOptions } from '../src/index.ts'
import { certificate, privateKey } from '@ws/test-fixtures'
import { at, Bench, decode, encode, tagsOn } from './support.ts'

const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
const badGateway = 'HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nno'

for (const name of s3ServerNames) {
  describeWith(s3Needs(name), `a store that is reached again on ${name}`, { tags: tagsOn(name) }, () => {
    let bench: Bench
    let proxy: FaultProxy
    beforeAll(async () => {
      bench = await Bench.open(name)
      proxy = await startFaultProxy(bench.server)
    })
    afterEach(() => {
      proxy.setFaults(undefined)
      vi.useRealTimers()
    })
    afterAll(async () => {
      await proxy?.close()
      await bench?.close()
    })

    const open = (options: Partial<S3AdapterOptions> = {}) => {
      const { endpoint, region, credentials: fixed, bucket } = proxy
      const { dialect } = bench
      const given = { endpoint, region, credentials: fixed, bucket, dialect, prefix: bench.prefix(), ...options }
      return createS3Adapter(given as S3AdapterOptions)
    }

    it('when it says that credentials have expired: they are asked for again, once for all, whatever their date', async () => {
      let asked = 0
      const provide = async () => {
        asked += 1
        return proxy.credentials
      }
      await using adapter = await open({ credentials: provide })
      await adapter.write(at('/a'), encode('1'))
      expect(asked).toBe(1)
      for (const operation of ['GetObject', 'PutObject']) {
        const before = asked
        let refused = false
        proxy.setFaults((request) => {
          if (request.operation !== operation || refused) return undefined
          refused = true
          return { kind: 'refuse', status: 400, code: 'ExpiredToken' }
        })
        if (operation === 'GetObject') expect(decode((await adapter.read(at('/a'))).bytes)).toBe('1')
        else await adapter.write(at('/b'), encode('2'))
        expect(asked).toBe(before + 1)
      }
      // HEAD has no words
      let left = 3
      proxy.setFaults(() => (left-- > 0 ? { kind: 'refuse', status: 400, code: 'ExpiredToken' } : undefined))
      expect((await adapter.stat(at('/a'))).size).toBe(1)
    })

    it('and says that those which it gave anew have expired too', async () => {
      await using adapter = await open({ credentials: async () => proxy.credentials })
      proxy.setFaults(() => ({ kind: 'refuse', status: 400, code: 'ExpiredToken' }))
      await expect(adapter.write(at('/a'), encode('1'))).rejects.toMatchObject({
        code: 'EBACKEND',
        reason: expect.stringContaining('expired'),
        remedy: expect.stringContaining('asked again'),
      })
    })

    it.each([3_600_000, -86_400_000])('when a clock jumps by %d ms, in the first stat too', async (jump) => {
      await using adapter = await open()
      await adapter.write(at('/a'), encode('1'))
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + jump })
      expect((await adapter.stat(at('/a'))).size).toBe(1)
      await adapter.write(at('/a'), encode('22'))
      expect((await adapter.stat(at('/a'))).size).toBe(2)
    })

    it('and is not taken for one when a proxy answers with a page', { timeout: 60_000 }, async () => {
      await using adapter = await open()
      await adapter.write(at('/a'), encode('1'))
      const page = { code: 'EBACKEND', reason: expect.stringContaining('page') }
      for (const status of [200, 403, 404]) {
        proxy.setFaults(() => ({ kind: 'html', status }))
        await expect(adapter.read(at('/a'))).rejects.toMatchObject(page)
        await expect(adapter.stat(at('/a'))).rejects.toMatchObject(page)
        await expect(Array.fromAsync(adapter.list(at('/')))).rejects.toMatchObject(page)
        await expect(adapter.delete(at('/a'))).rejects.toMatchObject({
          code: expect.stringMatching(/^E(?:BACKEND|IO)$/u),
        })
        await expect(adapter.write(at('/a'), encode('2'))).rejects.toMatchObject({
          message: expect.stringContaining('page'),
        })
      }
      let left = 2
      proxy.setFaults(() => (left-- > 0 ? { kind: 'html', status: 502 } : undefined))
      expect(decode((await adapter.read(at('/a'))).bytes)).toBe('1')
    })

    it('unless its bucket is gone, or is somebody else’s', async () => {
      await using adapter = await open()
      await adapter.write(at('/a'), encode('1'))
      const answers: [Fault, string][] = [
        [{ kind: 'refuse', status: 404, code: 'NoSuchBucket' }, 'ENOWORKSPACE'],
        [{ kind: 'refuse', status: 403, code: 'AccessDenied' }, 'EBACKEND'],
        [{ kind: 'refuse', status: 400, code: 'InvalidBucketName' }, 'EINVAL'],
      ]
      for (const [fault, code] of answers) {
        proxy.setFaults(() => fault)
        await expect(adapter.write(at('/a'), encode('2'))).rejects.toMatchObject({ code })
        await expect(adapter.read(at('/a'))).rejects.toMatchObject({ code })
        await expect(adapter.stat(at('/a'))).rejects.toMatchObject({ code })
      }
      proxy.setFaults(undefined)
      expect(decode((await adapter.read(at('/a'))).bytes)).toBe('1')
    })

    it('takes no name that it cannot hold, and says so', async () => {
      await using adapter = await open()
      const write = adapter.write(at('/a\u2028b'), encode('x'))
      if (name === 'ceph') await write
      else await expect(write).rejects.toMatchObject({ code: 'EINVAL', remedy: expect.any(String) })
    })
  })
}

describe('an endpoint that cannot be reached', () => {
  let tls: Server
  let plain: Server
  beforeAll(async () => {
    // all that a store says at first
    tls = createTlsServer({ key: privateKey, cert: certificate }, (_, response) => {
      response.writeHead(404, { 'content-type': 'application/xml' })
      response.end('<Error><Code>NoSuchBucket</Code></Error>')
    })
    plain = createServer((_, response) => response.end('hello'))
    for (const server of [tls, plain]) {
      server.listen(0, 'localhost')
      await once(server, 'listening')
    }
  })
  afterAll(async () => {
    tls?.close()
    plain?.close()
  })

  const portOf = (server: Server): number => (server.address() as AddressInfo).port
  const failureOf = async (options: Partial<S3AdapterOptions>): Promise<unknown> => {
    const given = { bucket: 'some-bucket', region: 'auto', credentials, ...options } as S3AdapterOptions
    return createS3Adapter(given).then(
      () => expect.fail('it was reached'),
      (error: unknown) => error,
    )
  }

  it('because nobody knows who signed its certificate: `ca` tells', async () => {
    const endpoint = `https://localhost:${portOf(tls)}`
    expect(await failureOf({ endpoint })).toMatchObject({ code: 'EBACKEND', remedy: expect.stringContaining('`ca`') })
    expect(await failureOf({ endpoint, ca: certificate })).toMatchObject({ code: 'ENOWORKSPACE' })
  })

  it('because its certificate is for another name', async () => {
    const endpoint = `https://127.0.0.1:${portOf(tls)}`
    const failed = await failureOf({ endpoint, ca: certificate })
    expect(failed).toMatchObject({ code: 'EBACKEND', reason: expect.stringContaining('another name') })
  })

  it('because it speaks no TLS', async () => {
    const failed = await failureOf({ endpoint: `https://localhost:${portOf(plain)}` })
    expect(failed).toMatchObject({ code: 'EBACKEND', remedy: expect.stringContaining('http://') })
  })

  it('because its name has no address', async () => {
    const failed = await failureOf({ endpoint: 'http://no-such-host.invalid' })
    expect(failed).toMatchObject({ code: 'EBACKEND', reason: expect.stringContaining('name of the endpoint') })
  })

  it('because the function that gives credentials fails', async () => {
    const endpoint = `http://localhost:${portOf(plain)}`
    const failed = await failureOf({ endpoint, credentials: () => Promise.reject(new Error('secret of mine')) })
    expect(failed).toMatchObject({ code: 'EBACKEND', reason: expect.stringContaining('function') })
    expect(String(failed)).not.toContain('secret of mine')
  })

  it.each([
    ['hangs up', 'EIO', 'closed before an answer', (socket: Socket) => socket.destroy()],
    ['speaks another protocol', 'EBACKEND', 'no S3', (socket: Socket) => socket.end('220 mail.example ready\r\n')],
    ['is a gateway without a store', 'EIO', 'gateway', (socket: Socket) => socket.end(badGateway)],
  ] as const)('because what answers %s, and it is not asked for long', async (_, code, reason, answer) => {
    let connections = 0
    const server = createTcpServer((socket) => {
      connections += 1
      socket.on('error', () => undefined).once('data', () => answer(socket))
    })
    server.listen(0, 'localhost')
    await once(server, 'listening')
    const failed = await failureOf({ endpoint: `http://localhost:${(server.address() as AddressInfo).port}` })
    expect(failed).toMatchObject({ code, reason: expect.stringContaining(reason), remedy: expect.any(String) })
    // with the pauses between them, less than three seconds; the first asks for control characters, and is not repeated
    expect(connections).toBeLessThanOrEqual(7)
    server.close()
  })

  it('because what answers speaks no S3', async () => {
    const failed = await failureOf({ endpoint: `http://localhost:${portOf(plain)}` })
    expect(failed).toMatchObject({ code: 'EBACKEND', reason: expect.stringContaining('no S3') })
  })
})
