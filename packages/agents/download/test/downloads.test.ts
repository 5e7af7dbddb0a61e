import { once } from 'node:events'
import { connect } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'

import { describe, expect, it } from 'vitest'

import { loadImpitClient } from '../src/client/impit.ts'
import { undiciClient } from '../src/client/undici.ts'
import { createDownloader } from '../src/index.ts'
import { collect, openSite, publicAddress } from './site.ts'

const impit = await loadImpitClient()
const clients = [...(impit === undefined ? [] : [impit]), undiciClient]

describe.each(clients)('downloads by $name', (client) => {
  const only = { clients: [client] }

  it('[FS10] gives the content, its type and the final URL', async () => {
    const site = await openSite((request, response) => {
      if (request.url === '/a') return void response.writeHead(302, { location: '/b' }).end()
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 5 }).end('hello')
    })
    const download = await site.open(only).open(site.url('/a'))
    expect(download).toMatchObject({
      url: site.url('/b'),
      status: 200,
      contentType: 'text/plain',
      size: 5,
      redirects: 1,
      client: client.name,
      throughTor: false,
    })
    expect((await collect(download.stream)).toString()).toBe('hello')
  })

  it('[FS10] goes where UTF-8 in a redirect leads, and shows no more of a type than a type', async () => {
    const bytes = Buffer.from('/größe €').toString('latin1')
    const long = `text/html; a=${'x'.repeat(9_000)}`
    const site = await openSite((request, response) => {
      if (request.url === '/a') response.writeHead(302, { location: bytes }).end()
      else response.writeHead(200, { 'content-type': long }).end(decodeURIComponent(request.url ?? ''))
    })
    const download = await site.open(only).open(site.url('/a'))
    expect((await collect(download.stream)).toString()).toBe('/größe €')
    expect(download.contentType).toBe('text/html')
  })

  it.each([
    ['gzip', gzipSync('hello')],
    ['br', brotliCompressSync('hello')],
  ])('decodes %s once', async (encoding, body) => {
    const site = await openSite((_, response) => {
      response.writeHead(200, { 'content-encoding': encoding, 'content-length': body.length }).end(body)
    })
    const download = await site.open(only).open(site.url('/'))
    expect(download.size).toBeUndefined()
    expect((await collect(download.stream)).toString()).toBe('hello')
  })

  it('[FS10] follows five redirects, and not six', async () => {
    const site = await openSite((request, response) => {
      const left = Number(request.url?.slice(1))
      if (left === 0) response.end('end')
      else response.writeHead(302, { location: `/${left - 1}` }).end()
    })
    const downloader = site.open(only)
    expect((await downloader.open(site.url('/5'))).redirects).toBe(5)
    await expect(downloader.open(site.url('/6'))).rejects.toMatchObject({ code: 'ELOOP' })
  })

  it('[FS10] reaches no private address, however it is written', async () => {
    const site = await openSite((request, response) => {
      const to = decodeURIComponent(request.url?.slice(1) ?? '')
      if (to === '') response.end('public')
      else response.writeHead(302, { location: to }).end()
    })
    const private_ = [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '0177.0.0.1',
      '127.1',
      '[::ffff:127.0.0.1]',
      '[::1]',
      '0.0.0.0',
      'localhost',
      'localhost.',
    ]
    const resolve = async (name: string) => (name.startsWith('localhost') ? ['127.0.0.1'] : [publicAddress])
    const downloader = site.open({ ...only, resolve })
    for (const host of private_) {
      const target = `http://${host}:${site.port}/secret`
      await expect(downloader.open(target), host).rejects.toMatchObject({ code: 'EACCES' })
      await expect(
        downloader.open(site.url(`/${encodeURIComponent(target)}`)),
        `redirect to ${host}`,
      ).rejects.toMatchObject({ code: 'EACCES' })
    }
    expect(site.stolen).toEqual([])
  })

  it('[FS10] refuses a name with a private address, also one that changes its answer', async () => {
    const site = await openSite((_, response) => response.end('public'))
    const mixed = site.open({ ...only, resolve: async () => [publicAddress, '127.0.0.1'] })
    await expect(mixed.open(site.url('/'))).rejects.toMatchObject({ code: 'EACCES' })
    let asked = 0
    const changing = site.open({ ...only, resolve: async () => (asked++ === 0 ? [publicAddress] : ['127.0.0.1']) })
    const download = await changing.open(site.url('/'))
    expect((await collect(download.stream)).toString()).toBe('public')
    await expect(changing.open(site.url('/'))).rejects.toMatchObject({ code: 'EACCES' })
    expect(site.stolen).toEqual([])
  })

  it('[FS10] stops at its limit, counted as it comes, whatever the server promised', async () => {
    const site = await openSite((request, response) => {
      if (request.url === '/promised') return void response.writeHead(200, { 'content-length': 2_000_000 }).end()
      if (request.url === '/bomb') {
        return void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50_000_000)))
      }
      response.writeHead(200)
      const timer = setInterval(() => response.write(Buffer.alloc(100_000)), 1)
      response.once('close', () => clearInterval(timer))
    })
    const downloader = site.open(only)
    const options = { maxBytes: 1_000_000 }
    await expect(downloader.open(site.url('/promised'), options)).rejects.toMatchObject({ code: 'EFBIG' })
    for (const path of ['/endless', '/bomb']) {
      const { stream } = await downloader.open(site.url(path), options)
      let bytes = 0
      const reading = (async () => {
        for await (const chunk of stream) bytes += chunk.length
      })()
      await expect(reading, path).rejects.toMatchObject({ code: 'EFBIG' })
      expect(bytes).toBeLessThanOrEqual(1_000_000)
    }
  })

  it('tells a body that ends too early', async () => {
    const site = await openSite((_, response) => {
      response.writeHead(200, { 'content-length': 1000 })
      response.write('x'.repeat(500), () => response.destroy())
    })
    const { stream } = await site.open(only).open(site.url('/'))
    await expect(collect(stream)).rejects.toMatchObject({ code: 'EIO' })
  })

  it('ends when nothing comes, when it takes too long, and when the caller gives up', async () => {
    const site = await openSite((request, response) => {
      if (request.url === '/silent') return
      response.writeHead(200)
      response.write('x')
      if (request.url === '/stalls') return
      const timer = setInterval(() => response.write('x'), 10)
      response.once('close', () => clearInterval(timer))
    })
    const impatient = site.open({ ...only, idleTimeout: 1000 })
    await expect(impatient.open(site.url('/silent'))).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    const stalled = await impatient.open(site.url('/stalls'))
    await expect(collect(stalled.stream)).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    const slow = await site.open({ ...only, timeout: 1000 }).open(site.url('/drips'))
    await expect(collect(slow.stream)).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    const controller = new AbortController()
    const dripping = await site.open(only).open(site.url('/drips'), { signal: controller.signal })
    const reason = new Error('enough')
    await dripping.stream.next()
    controller.abort(reason)
    await expect(collect(dripping.stream)).rejects.toBe(reason)
    await expect(site.open(only).open(site.url('/drips'), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
  })

  it.each([
    [404, 'ENOENT'],
    [403, 'EBACKEND'],
    [500, 'EBACKEND'],
  ])('says what a server answered: %i', async (status, code) => {
    const site = await openSite((_, response) => response.writeHead(status).end('no'))
    await expect(site.open(only).open(site.url('/'))).rejects.toMatchObject({
      code,
      reason: `the server answered ${status}`,
    })
  })
})

describe('a downloader', () => {
  it.each([
    'file:///etc/passwd',
    'ftp://example.org/',
    'data:text/plain,x',
    'http://u:p@example.org/',
    'no url',
    'http://',
    'javascript:1',
  ])('refuses the URL %s', async (url) => {
    await using downloader = createDownloader()
    await expect(downloader.open(url)).rejects.toMatchObject({ code: 'EINVAL', operation: 'download' })
  })

  it('[FS10] refuses private hosts and other ports without asking anybody', async () => {
    await using downloader = createDownloader()
    await expect(downloader.open('http://127.0.0.1/')).rejects.toMatchObject({ code: 'EACCES' })
    await expect(downloader.open('http://1.1.1.1:25/')).rejects.toMatchObject({ code: 'EACCES', reason: /port 25/ })
  })

  it('lets no other process of this machine use its proxy', async () => {
    const site = await openSite((_, response) => response.end('x'))
    const downloader = site.open()
    await collect((await downloader.open(site.url('/'))).stream)
    const { EgressProxy } = await import('../src/egress/proxy.ts')
    await using proxy = await EgressProxy.start({
      resolve: async () => [publicAddress],
      permits: () => true,
      ports: new Set([site.port]),
      tor: undefined,
    })
    for (const line of [
      `CONNECT site.example:${site.port} HTTP/1.1`,
      `GET http://site.example:${site.port}/ HTTP/1.1`,
    ]) {
      for (const credential of [
        '',
        `Proxy-Authorization: Basic ${Buffer.from('transfer:guess').toString('base64')}\r\n`,
      ]) {
        const socket = connect(proxy.port, '127.0.0.1')
        socket.write(`${line}\r\nHost: site.example\r\n${credential}\r\n`)
        const [answer] = (await once(socket, 'data')) as [Buffer]
        expect(answer.toString()).toMatch(/^HTTP\/1\.1 407/)
        socket.destroy()
      }
    }
  })

  it('ends every download when it is closed', async () => {
    const site = await openSite((_, response) => {
      response.writeHead(200)
      response.write('x')
    })
    const downloader = site.open()
    const { stream } = await downloader.open(site.url('/'))
    await stream.next()
    await downloader.close()
    await expect(collect(stream)).rejects.toMatchObject({ code: 'ECLOSED' })
    await expect(downloader.open(site.url('/'))).rejects.toMatchObject({ code: 'ECLOSED' })
  })
})

it('[FS10] names the client to install where a server refuses one that is not a browser', async () => {
  const site = await openSite((_, response) => response.writeHead(403).end())
  const only = { clients: [undiciClient] }
  await expect(site.open(only).open(site.url('/'))).rejects.toMatchObject({
    code: 'EBACKEND',
    remedy: expect.stringContaining('install the package `impit`'),
  })
  const wanted = site.open({ ...only, client: 'undici' })
  await expect(wanted.open(site.url('/'))).rejects.toMatchObject({ remedy: 'check the URL, or try another' })
})
