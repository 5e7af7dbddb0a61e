import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'

import type { Connections } from '@ws/core'
import type { ConnectionReport } from '@ws/core/executor'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { loadImpitClient } from '../src/client/impit.ts'
import { undiciClient } from '../src/client/undici.ts'
import { collect, openSite, publicAddress } from './site.ts'

const impit = await loadImpitClient()
const clients = [...(impit === undefined ? [] : [impit]), undiciClient]

/** Lets these hosts pass, and keeps what it was told. */
function only(...hosts: readonly string[]): Connections & { readonly reports: ConnectionReport[] } {
  const reports: ConnectionReport[] = []
  return {
    reports,
    judge: (host) =>
      hosts.includes(host)
        ? { effect: 'allow', entry: host }
        : { effect: 'deny', rule: 'few', reason: 'is not in the list', remedy: 'do without it' },
    report: (report) => reports.push(report),
  }
}

/** A port that notes who connects, and answers nothing. */
const openPort = async () => {
  let connected = 0
  const server = createServer((socket) => {
    connected += 1
    socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as AddressInfo).port, count: () => connected }
}

describe.each(clients)('connections of $name', (client) => {
  const openCounted = async () => {
    const site = await openSite((request, response) => {
      if (request.url === '/to') response.writeHead(302, { location: `http://evil.example:${site.port}/` })
      response.end('hello')
    })
    const resolved: string[] = []
    const resolve = async (name: string) => {
      resolved.push(name)
      return [publicAddress]
    }
    return { site, resolved, downloader: site.open({ clients: [client], resolve }) }
  }

  it('[RU14, NW6] are each told once, when the download has ended', async () => {
    const { site, downloader } = await openCounted()
    const connections = only('site.example')
    const { stream } = await downloader.open(site.url('/'), { connections })
    await collect(stream)
    expect(connections.reports).toEqual([
      expect.objectContaining({ host: 'site.example', port: site.port, entry: 'site.example', outcome: 'allowed' }),
    ])
    expect(connections.reports[0]?.receivedBytes).toBeGreaterThan(5)
  })

  it.each([
    ['the first host', '/', 'evil.example', ['evil.example denied']],
    ['a redirect', '/to', 'site.example', ['site.example allowed', 'evil.example denied']],
  ])('[RU14, NW1] %s is refused before it is looked up', async (_, path, host, told) => {
    const { site, downloader, resolved } = await openCounted()
    const connections = only('site.example')
    await expect(downloader.open(site.url(path, host), { connections })).rejects.toMatchObject({
      code: 'EACCES',
      rule: 'few',
      reason: '`evil.example` is not in the list',
      remedy: 'do without it',
    })
    expect(resolved).not.toContain('evil.example')
    expect(connections.reports.map((one) => `${one.host} ${one.outcome}`)).toEqual(told)
  })

  it.each(['', '*'])('[RU14] no proxy of the environment leads past the judgement: NO_PROXY=%s', async (exempt) => {
    const other = await openPort()
    for (const name of ['http_proxy', 'https_proxy', 'all_proxy']) {
      for (const spelling of [name, name.toUpperCase()]) vi.stubEnv(spelling, `http://127.0.0.1:${other.port}`)
    }
    for (const name of ['no_proxy', 'NO_PROXY']) vi.stubEnv(name, exempt)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { site, downloader } = await openCounted()
    const connections = only('site.example')
    await collect((await downloader.open(site.url('/'), { connections })).stream)
    await expect(downloader.open(site.url('/', 'evil.example'), { connections })).rejects.toMatchObject({ rule: 'few' })
    expect(connections.reports.map(({ outcome }) => outcome)).toEqual(['allowed', 'denied'])
    expect(other.count()).toBe(0)
  })

  it('[RU14, NW3] to a listed host with a private address are refused, and told', async () => {
    const { site } = await openCounted()
    const connections = only('site.example')
    const downloader = site.open({ clients: [client], resolve: async () => ['127.0.0.1'] })
    await expect(downloader.open(site.url('/'), { connections })).rejects.toMatchObject({ code: 'EACCES' })
    expect(connections.reports).toMatchObject([{ host: 'site.example', entry: 'site.example', outcome: 'denied' }])
    expect(site.stolen).toEqual([])
  })
})

it('[RU14] the plain client that follows a browser-like one asks again', async () => {
  const site = await openSite((_, response) => {
    response.writeHead(200, { 'content-encoding': 'GZIP' }).end(gzipSync('hello'))
  })
  const connections = only('site.example')
  const { stream } = await site.open().open(site.url('/'), { connections })
  await collect(stream)
  expect(connections.reports).toHaveLength(clients.length)
})

it.each(['gzip', 'deflate', 'br', 'zstd'])(
  '[HO4] a body that is not %s, and is not read, ends nothing',
  async (encoding) => {
    const site = await openSite((_, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end('x')
    })
    const uncaught: unknown[] = []
    const note = (error: unknown): void => void uncaught.push(error)
    process.on('uncaughtException', note)
    onTestFinished(() => void process.off('uncaughtException', note))
    const { stream } = await site.open({ clients: [undiciClient] }).open(site.url('/'))
    await stream.return?.()
    // zlib works in other threads
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(uncaught).toEqual([])
  },
)

describe('connections through Tor', () => {
  it.each([
    ['where it is required', { requireTor: true }, 200],
    ['after a refusal', {}, 403],
  ])('[RU14, NW8] meet the same judgement %s', async (_, options, status) => {
    const tor = await openPort()
    let asked = 0
    const site = await openSite((__, response) => response.writeHead(status).end())
    const judge: Connections['judge'] = () => {
      asked += 1
      return status === 403 && asked === 1
        ? { effect: 'allow' }
        : { effect: 'deny', reason: 'is not in the list', remedy: 'do without it' }
    }
    const reports: ConnectionReport[] = []
    const connections = { judge, report: (report: ConnectionReport) => void reports.push(report) }
    const downloader = site.open({ tor: { port: tor.port }, clients: [undiciClient], ...options })
    await expect(downloader.open(site.url('/'), { connections })).rejects.toMatchObject({
      reason: '`site.example` is not in the list',
    })
    expect(tor.count()).toBe(0)
    expect(reports.at(-1)).toMatchObject({ host: 'site.example', outcome: 'denied' })
  })

  it('[RU14, NW6] are told when Tor does not answer', async () => {
    const tor = await openPort()
    const site = await openSite((_, response) => response.end())
    const connections = only('site.example')
    const downloader = site.open({ tor: { port: tor.port }, requireTor: true, clients: [undiciClient] })
    await expect(downloader.open(site.url('/'), { connections })).rejects.toMatchObject({ code: 'EBACKEND' })
    expect(connections.reports).toMatchObject([{ host: 'site.example', outcome: 'failed' }])
  })
})
