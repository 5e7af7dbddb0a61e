import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'

import { describe, expect, it, onTestFinished } from 'vitest'

import { loadImpitClient } from '../src/client/impit.ts'
import { undiciClient } from '../src/client/undici.ts'
import { EgressProxy } from '../src/egress/proxy.ts'
import { collect, openSite, publicAddress } from './site.ts'

const impit = await loadImpitClient()
const clients = [...(impit === undefined ? [] : [impit]), undiciClient]

describe('the limit of a download', () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1, 0, 1.5])('[FS10] cannot be %d', async (maxBytes) => {
    const site = await openSite((_, response) => response.end('x'))
    await expect(site.open().open(site.url('/'), { maxBytes })).rejects.toMatchObject({
      code: 'EINVAL',
      message: expect.stringContaining('`maxBytes`'),
    })
  })

  it.each(clients)('[FS10] is told as the caller gave it, by $name', async (client) => {
    const site = await openSite((_, response) => response.end(Buffer.alloc(9_000_000)))
    const reading = site
      .open({ clients: [client] })
      .open(site.url('/'), { maxBytes: 1000 })
      .then(({ stream }) => collect(stream))
    await expect(reading).rejects.toMatchObject({ code: 'EFBIG', reason: 'it has more than 1000 bytes' })
  })
})

describe('closing', () => {
  it('does not wait for a refused client that keeps its tunnel open', { timeout: 10_000 }, async () => {
    const proxy = await EgressProxy.start({
      resolve: async () => [publicAddress],
      permits: () => true,
      ports: new Set([1]),
      tor: undefined,
    })
    const socket = connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true })
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => undefined)
    socket.write('CONNECT a.example:1 HTTP/1.1\r\nHost: a.example\r\n\r\n')
    await once(socket, 'data')
    await proxy.close()
    expect(() => proxy.begin({ maxBytes: 1 })).toThrow(expect.objectContaining({ code: 'ECLOSED' }))
  })

  it('[FS10] leaves no connection to Tor, and none after an abort', async () => {
    const tor = createServer((socket) => void socket.on('error', () => undefined))
    tor.listen(0, '127.0.0.1')
    await once(tor, 'listening')
    onTestFinished(() => void tor.close())
    const site = await openSite((_, response) => response.end('x'))
    const downloader = site.open({ tor: { port: (tor.address() as AddressInfo).port }, requireTor: true })
    const controller = new AbortController()
    const reason = new Error('enough')
    const opening = downloader.open(site.url('/'), { signal: controller.signal }).catch((error: unknown) => error)
    const [socket] = await once(tor, 'connection')
    const closed = once(socket, 'close')
    socket.resume()
    controller.abort(reason)
    expect(await opening).toBe(reason)
    await closed
  })

  it.each(clients)('releases a download that nobody reads, when its stream is returned: $name', async (client) => {
    const site = await openSite((_, response) => {
      response.writeHead(200)
      response.write('x')
      response.once('close', () => released.resolve())
    })
    const released = Promise.withResolvers<void>()
    const { stream } = await site.open({ clients: [client] }).open(site.url('/'))
    await stream.return?.()
    await released.promise
    expect(await stream.next()).toMatchObject({ done: true })
  })
})

describe.each(clients)('encodings by $name', (client) => {
  it.each([
    ['that ends too early', 'gzip', gzipSync('hello').subarray(0, 16)],
    ['with a wrong checksum', 'gzip', Buffer.concat([gzipSync('hello').subarray(0, -8), Buffer.alloc(8)])],
  ])('does not take a body %s for a whole one', async (_, encoding, body) => {
    const site = await openSite((__, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end(body)
    })
    const { stream } = await site.open({ clients: [client] }).open(site.url('/'))
    await expect(collect(stream)).rejects.toMatchObject({ code: 'EIO' })
  })

  it.each(['foo', 'gzip, br'])('gives no body that is still encoded: %s', async (encoding) => {
    const site = await openSite((_, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end('hello')
    })
    await expect(site.open({ clients: [client] }).open(site.url('/'))).rejects.toMatchObject({
      code: 'EBACKEND',
      reason: expect.stringContaining(encoding),
    })
  })
})

it.each(['GZIP', 'x-gzip'])('leaves %s to the plain client, which decodes it', async (encoding) => {
  const site = await openSite((_, response) => {
    response.writeHead(200, { 'content-encoding': encoding }).end(gzipSync('hello'))
  })
  const download = await site.open().open(site.url('/'))
  expect(download.client).toBe('undici')
  expect((await collect(download.stream)).toString()).toBe('hello')
})

it('asks no resolver for a name that exists in Tor only', async () => {
  const site = await openSite((_, response) => response.end('x'))
  const asked: string[] = []
  const resolve = async (name: string) => {
    asked.push(name)
    return [publicAddress]
  }
  for (const host of ['abc.onion', 'abc.onion.']) {
    await expect(site.open({ resolve }).open(site.url('/', host))).rejects.toMatchObject({ code: 'EACCES' })
  }
  expect(asked).toEqual([])
})
