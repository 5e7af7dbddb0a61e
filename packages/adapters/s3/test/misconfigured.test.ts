import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import type { WorkspaceError } from '@ws/core'
import { certificate, describeWith, privateKey } from '@ws/test-fixtures'
import { s3ServerNames, startFaultProxy, type Fault, type FaultProxy, type S3Server } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createS3Adapter, type S3AdapterOptions } from '../src/index.ts'
import { at, encode, failureOf, tagsOn, text } from './support.ts'

const refused = (code: string, status = 403): Fault => ({ kind: 'refuse', status, code })
const onList = 'ListObjectsV2'
const onPut = 'PutObject'

for (const name of s3ServerNames) {
  describeWith(s3Needs(name), `a mistake in the options for ${name}`, { tags: tagsOn(name) }, () => {
    let server: S3Server
    let proxy: FaultProxy
    beforeAll(async () => {
      server = await sharedS3Server(name)
      proxy = await startFaultProxy(server)
    })
    afterEach(() => {
      proxy.setFaults(undefined)
      vi.useRealTimers()
    })
    afterAll(async () => {
      await proxy?.close()
      await server?.close()
    })

    const failed = async (options: Partial<S3AdapterOptions>, fault?: Fault, on?: string): Promise<WorkspaceError> => {
      const { endpoint, region, bucket, credentials } = proxy
      proxy.setFaults(({ operation }) => (on === undefined || operation === on ? fault : undefined))
      // a function: answers are not kept for the next
      const given = { endpoint, region, bucket, credentials: async () => credentials, prefix: 'p', ...options }
      return failureOf(createS3Adapter(given as S3AdapterOptions).then((adapter) => adapter.close()))
    }

    it('has a sentence and a remedy of its own, ten times', { timeout: 60_000 }, async () => {
      const { credentials, bucket, endpoint } = proxy
      const found: [word: string, remedy: string, error: WorkspaceError][] = [
        ['another region', '`region`', await failed({}, refused('AuthorizationHeaderMalformed', 400))],
        ['answers at the endpoint', 'endpoint', await failed({ endpoint: `http://127.0.0.1:${await freePort()}` })],
        ['bucket does not exist', 'make the bucket', await failed({ bucket: 'no-such-bucket-anywhere' })],
        ['access key', 'accessKeyId', await failed({ credentials: { ...credentials, accessKeyId: 'AKIAWRONG' } })],
        [
          'secret of the',
          'secretAccessKey',
          await failed({ credentials: { ...credentials, secretAccessKey: 'wrong' } }),
        ],
        ['expired', 'still valid', await failed({}, refused('ExpiredToken', 400))],
        ['in the host name', 'forcePathStyle', await failed({}, refused('SecondLevelDomainForbidden'))],
        ['TLS', '`http://`', await failed({ endpoint: endpoint.replace('http:', 'https:') })],
        ['names ', 'bucket', await failed({ endpoint: `${endpoint}/${bucket}` })],
        ['clock', 'set the clock', await failed({}, refused('RequestTimeTooSkewed'))],
        ['listed', 's3:ListBucket', await failed({}, refused('AccessDenied'), onList)],
        ['written', 's3:PutObject', await failed({}, refused('AccessDenied'), onPut)],
      ]
      for (const [word, remedy, error] of found) {
        expect(error.code).toMatch(/^E(?:BACKEND|NOWORKSPACE|INVAL)$/u)
        expect(error.reason).toContain(word)
        expect(error.remedy).toContain(remedy)
        for (const secret of [bucket, '127.0.0.1', credentials.secretAccessKey])
          expect(`${error}`).not.toContain(secret)
      }
      expect(new Set(found.map(([, , { reason, remedy }]) => `${reason}; ${remedy}`)).size).toBe(found.length)
      proxy.setFaults(undefined)
      const { Contents = [] } = await server.client().send(new ListObjectsV2Command({ Bucket: bucket }))
      expect(Contents).toEqual([])
    })

    it.each([3_600_000, -86_400_000])('is none where the clock is wrong by %d ms: it is corrected', async (jump) => {
      const { endpoint, region, bucket, credentials } = proxy
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + jump })
      const options = { bucket, prefix: `clock/${jump}` }
      await using own = await createS3Adapter({ ...options, endpoint, region, credentials: async () => credentials })
      expect(own.capabilities.controlCharacters).toBe(name === 'ceph')
      await own.write(at('/a'), encode('1'))
      await using given = await createS3Adapter({ ...options, client: proxy.client({ maxAttempts: 1 }) })
      expect(await text(given, '/a')).toBe('1')
      await own.delete(at('/a'))
    })
  })
}

describe('a mistake that a store explains', () => {
  const client = new S3Client({ region: 'auto', credentials: { accessKeyId: 'a', secretAccessKey: 'b' } })
  afterAll(() => client.destroy())
  const failed = async (error: object): Promise<WorkspaceError> => {
    const throws = Object.assign(Object.create(client) as S3Client, { send: () => Promise.reject(error as Error) })
    return failureOf(createS3Adapter({ client: throws, bucket: 'b' }))
  }

  it('in the region is told with the right one', async () => {
    const named = { name: 'AuthorizationHeaderMalformed', Region: 'eu-central-1', $metadata: { httpStatusCode: 400 } }
    expect((await failed(named)).remedy).toBe('set `region` to `eu-central-1`')
    const headers = { 'x-amz-bucket-region': 'ap-south-1' }
    const moved = { name: 'PermanentRedirect', $response: { statusCode: 301, headers } }
    expect((await failed(moved)).remedy).toBe('set `region` to `ap-south-1`')
    expect((await failed({ ...named, Region: '<script>' })).remedy).toBe('set `region` to that of the bucket')
  })

  it.each([
    ['InvalidRequest', 400, 'Content-MD5 OR x-amz-checksum- HTTP header is required with Object Lock parameters'],
    ['AccessDenied', 403, 'Access Denied because object protected by object lock.'],
  ])('by Object Lock does not blame region or rights: %s', async (name, httpStatusCode, message) => {
    const error = await failed(Object.assign(new Error(message), { name, $metadata: { httpStatusCode } }))
    expect(error).toMatchObject({ code: 'EBACKEND', reason: expect.stringContaining('Object Lock') })
    expect(error.remedy).toContain('retention')
  })

  it.each([
    ['https://storage.example.com/work', 'path'],
    ['https://work.s3.eu-central-1.amazonaws.com', 'host name'],
    ['https://work.0123456789abcdef0123456789abcdef.r2.cloudflarestorage.com', 'host name'],
  ])('with the bucket in the endpoint is refused before anything is asked: %s', async (endpoint, place) => {
    const error = await failureOf(createS3Adapter({ bucket: 'work', endpoint }))
    expect(error).toMatchObject({ code: 'EINVAL', remedy: expect.stringContaining(place) })
    expect(error.message).not.toContain(new URL(endpoint).host)
  })
})

describe('the proxy that the environment names', () => {
  let store: string
  let proxy: string
  let tunnels: string[] = []
  let isOpen = true
  const servers: { close(): unknown; closeAllConnections(): void }[] = []
  const sockets = new Set<Socket>()
  beforeAll(async () => {
    const tls = createTlsServer({ key: privateKey, cert: certificate }, (_, response) => {
      response.writeHead(404, { 'content-type': 'application/xml' })
      response.end('<Error><Code>NoSuchBucket</Code></Error>')
    })
    const http = createServer()
    http.on('connect', ({ url = '' }, socket: Socket) => {
      tunnels.push(url)
      sockets.add(socket)
      if (!isOpen) return socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
      const far = connect((tls.address() as AddressInfo).port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        far.pipe(socket).pipe(far)
      })
      sockets.add(far)
      for (const one of [far, socket]) one.on('error', () => one.destroy())
      return undefined
    })
    for (const server of [tls, http]) {
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      servers.push(server)
    }
    // the name in the certificate, in a form that is not taken for this machine
    store = `https://localhost.:${(tls.address() as AddressInfo).port}`
    proxy = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    tunnels = []
    isOpen = true
  })
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
    for (const server of servers) {
      server.close()
      server.closeAllConnections()
    }
  })

  const failed = async (endpoint: string): Promise<unknown> => {
    const credentials = async () => ({ accessKeyId: 'a', secretAccessKey: 'b' })
    const options = { bucket: 'b', endpoint, region: 'auto', credentials, ca: certificate }
    return createS3Adapter(options).then(undefined, (error: unknown) => error)
  }

  it('is used for all requests to an endpoint with https', async () => {
    vi.stubEnv('HTTPS_PROXY', proxy)
    expect(await failed(store)).toMatchObject({ code: 'ENOWORKSPACE' })
    // one for the SDK's own way, and one for the short way
    expect(tunnels).toEqual([new URL(store).host, new URL(store).host])
  })

  it('is named where it refuses', async () => {
    isOpen = false
    vi.stubEnv('https_proxy', proxy)
    expect(await failed(store)).toMatchObject({ code: 'EBACKEND', remedy: expect.stringContaining('NO_PROXY') })
  })

  it('is left aside for hosts in NO_PROXY, and for this machine itself', async () => {
    vi.stubEnv('HTTPS_PROXY', proxy)
    expect(await failed(store.replace('localhost.', 'localhost'))).toMatchObject({ code: 'ENOWORKSPACE' })
    vi.stubEnv('NO_PROXY', '*.invalid')
    expect(await failed('https://store.invalid')).toMatchObject({
      reason: expect.stringContaining('name of the endpoint'),
    })
    expect(tunnels).toEqual([])
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
