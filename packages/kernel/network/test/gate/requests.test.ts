import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { Socket } from 'node:net'
import { connect, createServer as createTlsServer, type TLSSocket } from 'node:tls'

import { describe, expect, it, onTestFinished } from 'vitest'

import { type Authority, createAuthority, HostRequests, type RequestRules, verdictOf } from '../../src/gate/index.ts'
import { drain, type GateBench, listen, listOf, openGate } from './bench.ts'

const secret = 'hunter2-and-more'
const allow = ['api.test', 'other.test']
const rules: RequestRules = {
  'api.test': [
    { match: { method: 'GET', path: '/repos/acme/**' }, transform: { headers: { authorization: `Bearer ${secret}` } } },
    { match: { method: ['POST'], query: { dry: '1' }, headers: { 'x-kind': 'a' } } },
    { match: { path: '/local' }, respond: { status: 410, headers: { 'x-by': 'rule' }, body: 'gone\n' } },
    { match: { path: '/broken' }, transform: { headers: { 'x-token': () => Promise.reject(new Error(secret)) } } },
    { match: { path: '/line' }, transform: { headers: { 'x-token': () => `a\r\nx-evil: ${secret}` } } },
  ],
}

let known: Promise<Authority> | undefined
/** One for all tests: keys take a while to make. */
const authorityOf = (): Promise<Authority> => (known ??= createAuthority([{ name: 'api.test' }]))

interface Seen {
  readonly line: string
  readonly headers: IncomingMessage['headers']
}

async function bench({ given = rules, trusted = true, isPlain = false } = {}) {
  const authority = await authorityOf()
  const seen: Seen[] = []
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    seen.push({ line: `${request.method} ${request.url}`, headers: request.headers })
    response.end('from the host\n')
  }
  const server = isPlain
    ? createHttpServer(answer)
    : createServer({ SNICallback: (name, done) => done(null, authority.contextFor(name)) }, answer)
  server.on('upgrade', ({ headers, method, url }: IncomingMessage, socket: Socket) => {
    seen.push({ line: `${method} ${url}`, headers })
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n')
    socket.pipe(socket)
  })
  const origin = await listen(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const hosts = new HostRequests(given, listOf(...allow).entries)
  const authorities = trusted ? [authority.certificate] : undefined
  return { seen, authority, ...(await openGate({ allow, origin, requests: { hosts, authority, authorities } })) }
}

type Bench = GateBench & { readonly authority: Authority }

async function secureTo({ connect: reach, authority }: Bench, name = 'api.test', more = {}): Promise<TLSSocket> {
  const socket = connect({ socket: await reach('api.test', 443), servername: name, ca: authority.certificate, ...more })
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  await new Promise((resolve) => socket.once('secureConnect', resolve).once('close', resolve))
  return socket
}

const request = (line: string, ...headers: readonly string[]): string =>
  `${[`${line} HTTP/1.1`, 'Host: api.test', ...headers].join('\r\n')}\r\n\r\n`

async function ask(from: Bench, text: string): Promise<string> {
  const socket = await secureTo(from)
  socket.end(text)
  return drain(socket)
}

it('[RU14] the verdict about a host says that its requests have rules', () => {
  const verdict = verdictOf(listOf(...allow), new HostRequests(rules, listOf(...allow).entries))
  expect(verdict('api.test', 443)).toMatchObject({ effect: 'allow', judgesRequests: true })
  expect(verdict('other.test', 443)).toMatchObject({ effect: 'allow', judgesRequests: false })
  expect(verdict('evil.test', 443)).toMatchObject({ effect: 'deny' })
})

describe('requests to a host with rules', () => {
  it('[NW5] get the credential on their way, in place of their own', async () => {
    const from = await bench()
    const line = 'GET /repos/acme/app?x=1'
    const answer = await ask(from, request(line, 'Authorization: Bearer mine', 'authorization: Basic too', 'X-Own: 1'))
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK.*from the host/s)
    expect(from.seen).toMatchObject([
      { line, headers: { authorization: `Bearer ${secret}`, 'x-own': '1', host: 'api.test' } },
    ])
    expect(answer + JSON.stringify(from.reports)).not.toContain(secret)
  })

  it('[NW7] are refused where no rule matches, each of a connection by itself', async () => {
    const from = await bench()
    const texts = [
      request('DELETE /repos/acme/app'),
      request('GET /repos/other/app'),
      request('POST /any?dry=1'),
      request('POST /any?dry=1&dry=2', 'x-kind: a', 'content-length: 0'),
      request('POST /any', 'x-kind: a', 'content-length: 0'),
    ]
    for (const text of texts)
      expect(await ask(from, text)).toMatch(/^HTTP\/1\.1 403 .*ws: `api\.test` was not asked: no rule/s)
    expect(from.seen).toEqual([])
    expect(from.reports[0]).toMatchObject({
      host: 'api.test',
      port: 443,
      outcome: 'denied',
      reason: 'was not asked: no rule for it allows `DELETE /repos/acme/app`',
      remedy: expect.stringContaining('`network.requests`'),
    })
    expect(await ask(from, request('POST /any?dry=1', 'x-kind: a', 'content-length: 0'))).toContain('200 OK')
    const both = await ask(from, request('GET /repos/acme/1') + request('GET /secret') + request('GET /repos/acme/2'))
    expect(both).toMatch(/200 OK.*403 Forbidden.*`GET \/secret`/s)
    expect(from.seen.map(({ line }) => line)).not.toContain('GET /secret')
  })

  it.each(['/repos/acme/../other', '/repos/acme/%2e%2E/other', '/repos/acme/..%2fother', '/repos/acme/..\\other'])(
    '[NW7] are refused where their path could be read as another one: %s',
    async (path) => {
      const from = await bench()
      expect(await ask(from, request(`GET ${path}`))).toMatch(/403 .*could be read as another one/s)
      expect(from.seen).toEqual([])
    },
  )

  it('[NW7] are refused for a double encoding, and for a path parameter behind two dots', async () => {
    const from = await bench()
    const nested = `/repos/acme/%${'25'.repeat(900)}2e`
    for (const path of ['/repos/acme/%252e%252e/x', '/repos/acme/..;a=b/x', '/repos/acme/./x', nested])
      expect(await ask(from, request(`GET ${path}`))).toMatch(/403 .*could be read as another one/s)
    expect(await ask(from, request('GET /repos/acme/a..b/%2fx/.git'))).toContain('200 OK')
    const long = request(`GET /repos/acme/${'a'.repeat(2_048)}`)
    expect(await ask(from, long)).toMatch(/403 .*the path is longer than its rules look at; use a path of at most/s)
  })

  it('[NW5] get no credential on cleartext', async () => {
    const from = await bench({ isPlain: true })
    const plain = async (text: string): Promise<string> => {
      const socket = await from.connect('api.test', 80)
      socket.end(text)
      return drain(socket)
    }
    expect(await plain(request('GET /repos/acme/app'))).toMatch(/403 .*needs TLS; ask by `https`/s)
    expect(from.seen).toEqual([])
    expect(await plain(request('POST /any?dry=1', 'x-kind: a', 'content-length: 0'))).toContain('200 OK')
    expect(JSON.stringify(from.seen)).not.toContain(secret)
  })

  it('[NW7] are answered by a rule, and the host is not asked', async () => {
    const from = await bench()
    expect(await ask(from, request('GET /local'))).toMatch(/^HTTP\/1\.1 410 .*x-by: rule.*\r\n\r\ngone\n$/s)
    expect(from.seen).toEqual([])
  })

  it.each(['/broken', '/line'])(
    '[NW5] fail where the credential cannot be had, without a word of it: %s',
    async (path) => {
      const from = await bench()
      const answer = await ask(from, request(`GET ${path}`))
      expect(answer).toMatch(/^HTTP\/1\.1 502 .*could not be had/s)
      expect(from.seen).toEqual([])
      expect(answer + JSON.stringify(from.reports)).not.toContain(secret)
    },
  )

  it('[NW7] by WebSocket are judged too', async () => {
    const from = await bench()
    const upgrade = (path: string): string => request(`GET ${path}`, 'Connection: Upgrade', 'Upgrade: websocket')
    const socket = await secureTo(from)
    socket.write(upgrade('/repos/acme/ws'))
    const [head] = (await once(socket, 'data')) as [Buffer]
    expect(String(head)).toMatch(/^HTTP\/1\.1 101 /)
    socket.write('ping')
    expect(String(((await once(socket, 'data')) as [Buffer])[0])).toBe('ping')
    expect(from.seen).toMatchObject([{ headers: { authorization: `Bearer ${secret}` } }])
    expect(await ask(from, upgrade('/secret'))).toMatch(/^HTTP\/1\.1 403 /)
    expect(from.seen).toHaveLength(1)
  })

  it('[NW3] reach no other host: by the name of TLS, by `Host`, by HTTP/2', async () => {
    const from = await bench()
    const other = await secureTo(from, 'evil.test', { checkServerIdentity: () => undefined })
    expect(other.authorized).toBe(false)
    const fronted = await ask(from, request('GET /repos/acme/app').replace('api.test', 'evil.test'))
    expect(fronted).toMatch(/403 .*`evil\.test` was asked for over a connection to `api\.test`/s)
    const two = await secureTo(from, 'api.test', { ALPNProtocols: ['h2', 'http/1.1'] })
    expect(two.alpnProtocol).toBe('http/1.1')
    expect(from.seen).toEqual([])
  })

  it('[NW5] get nothing where the host does not prove its name', async () => {
    const from = await bench({ trusted: false })
    expect(await ask(from, request('GET /repos/acme/app'))).toMatch(/^HTTP\/1\.1 502 .*did not prove its name/s)
    expect(from.seen).toEqual([])
  })

  it('[NW7] leave hosts without rules alone: their TLS passes untouched', async () => {
    const from = await bench({ given: {} })
    const socket = connect({
      socket: await from.connect('api.test', 443),
      servername: 'api.test',
      ca: from.authority.certificate,
    })
    onTestFinished(() => void socket.destroy())
    await once(socket, 'secureConnect')
    socket.end(request('GET /any'))
    expect(await drain(socket)).toContain('from the host')
  })
})

it('[NW7] an authority speaks for its hosts alone, whatever it signs', async () => {
  const authority = await authorityOf()
  const reach = async (name: string): Promise<string> => {
    const server = createTlsServer({ SNICallback: (_, done) => done(null, authority.contextFor(name)) })
    const port = await listen(server)
    onTestFinished(() => void server.close())
    const socket = connect({ host: '127.0.0.1', port, servername: name, ca: authority.certificate })
    const [end] = await Promise.race([once(socket, 'secureConnect').then(() => ['secure']), once(socket, 'error')])
    socket.destroy()
    return end instanceof Error ? end.message : String(end)
  }
  expect(await reach('api.test')).toBe('secure')
  expect(await reach('evil.test')).toContain('permitted subtree violation')
})

it('[NW1] an authority makes a certificate in little time, and keeps few', async () => {
  const authority = await createAuthority([{ name: 'wild.test' }])
  const first = authority.contextFor('a.wild.test')
  expect(authority.contextFor('a.wild.test')).toBe(first)
  const begin = process.cpuUsage()
  for (let number = 0; number < 256; number += 1) authority.contextFor(`n${number}.wild.test`)
  const { user, system } = process.cpuUsage(begin)
  // by the processor's clock, of which a busy machine takes nothing: forge alone takes 5 seconds
  expect((user + system) / 256 / 1_000).toBeLessThan(12)
  expect(authority.contextFor('n255.wild.test')).toBe(authority.contextFor('n255.wild.test'))
  expect(authority.contextFor('a.wild.test')).not.toBe(first)
})

it('[NW7] rules hold for every name that their entry covers, whatever other entries there are', () => {
  const { entries } = listOf('*.host.test', 'api.host.test:8443', 'api.host.test', 'raw.host.test')
  const hosts = new HostRequests({ 'api.host.test': [], 'api.host.test:8443': [{ match: { method: 'GET' } }] }, entries)
  expect(hosts.of('API.host.test.', 443)).toEqual([])
  expect(hosts.of('api.host.test', 8443)).toHaveLength(1)
  expect(hosts.of('raw.host.test', 443)).toBeUndefined()
  const wide = new HostRequests({ '*.host.test': [], 'api.host.test': [{ match: { method: 'GET' } }] }, entries)
  expect(wide.of('raw.host.test', 443)).toEqual([])
  expect(wide.of('api.host.test', 443)).toHaveLength(1)
})
