import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import { fixedTokens, openThreads, serveHttp, serveStdio, type HttpOptions } from '@ws/mcp-server'
import { createThreads } from '@ws/threads'
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'

import { openHttp } from './support/clients.ts'
import { openWorkspace, serveOne } from './support/serve.ts'

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

interface Ask {
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

const listTools = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
const callOf = (name: string, given: object) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } })

/** `fetch` cannot send a chosen `Host` header. */
function ask(
  url: URL,
  { path = url.pathname, method = 'POST', headers = {}, body = listTools }: Ask = {},
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const accept = 'application/json, text/event-stream'
  const sent = httpRequest(
    {
      host: url.hostname,
      port: url.port,
      path,
      method,
      headers: { accept, 'content-type': 'application/json', ...headers },
    },
    (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks).toString() })
      })
    },
  )
  sent.on('error', reject).end(method === 'GET' ? undefined : body)
  return promise
}

async function serveThreads(options: Partial<HttpOptions> = {}) {
  const store = createMemoryAdapter()
  const threads = await createThreads({ store, provision: false })
  const server = await serveHttp({
    tools: { face: 'split' },
    open: openThreads(threads),
    auth: { verify: fixedTokens({ 'token-a': 'a', 'token-b': 'b' }) },
    ...options,
  })
  onTestFinished(async () => {
    await server.close()
    await threads.close()
  })
  return { server, threads, store }
}

describe('the attack on a server over HTTP', () => {
  it('by DNS rebinding or from a foreign page is refused before anything else', async () => {
    const { url } = await serveOne(await openWorkspace())
    expect((await ask(url)).status).toBe(200)
    for (const host of [
      'evil.example.com',
      `evil.example.com:${url.port}`,
      '127.0.0.1.evil.example.com',
      'localhost@evil',
    ]) {
      expect((await ask(url, { headers: { host } })).status, host).toBe(403)
    }
    for (const origin of ['https://evil.example.com', 'null', 'http://localhost.evil.example.com', 'not an origin']) {
      expect((await ask(url, { headers: { origin } })).status, origin).toBe(403)
    }
    expect((await ask(url, { headers: { origin: 'http://localhost:3000' } })).status).toBe(200)
  })

  it('from a page that `allowedOrigins` names is served, and from a page of the loopback no longer', async () => {
    const { url } = await serveOne(await openWorkspace(), { allowedOrigins: ['app.example.com'] })
    expect((await ask(url, { headers: { origin: 'https://app.example.com' } })).status).toBe(200)
    expect((await ask(url, { headers: { origin: 'http://localhost:3000' } })).status).toBe(403)
  })

  it('without a token, or with a wrong one, learns nothing but where tokens are given', async () => {
    const issuer = 'https://login.example.com'
    const resource = {
      url: new URL('https://files.example.com/mcp'),
      authorizationServer: {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        response_types_supported: ['code'],
      },
    }
    const verify = async (token: string) => {
      if (token === 'right') return { id: 'a', resource: resource.url.href, scopes: ['files'] }
      if (token === 'foreign') return { id: 'a', resource: 'https://other.example.com/mcp', scopes: ['files'] }
      if (token === 'old') return { id: 'a', resource: resource.url.href, scopes: ['files'], expiresAt: 1 }
      return token === 'poor' ? { id: 'a', resource: resource.url.href } : undefined
    }
    const { server } = await serveThreads({ auth: { verify, resource, requiredScopes: ['files'] } })
    const as = (token: string) => ask(server.url, { headers: { authorization: `Bearer ${token}` } })
    expect((await as('right')).status).toBe(200)
    const without = await ask(server.url)
    expect(without.status).toBe(401)
    expect(without.headers['www-authenticate']).toContain(
      'resource_metadata="https://files.example.com/.well-known/oauth-protected-resource/mcp"',
    )
    for (const token of ['wrong', 'foreign', 'old', 'right2', '']) expect((await as(token)).status, token).toBe(401)
    expect((await as('poor')).status).toBe(403)
    const metadata = await ask(server.url, { method: 'GET', path: '/.well-known/oauth-protected-resource/mcp' })
    expect(JSON.parse(metadata.body)).toMatchObject({ resource: resource.url.href, authorization_servers: [issuer] })
    expect((await ask(server.url, { method: 'GET' })).status).toBe(401)
  })

  it("with another subject's thread in mind finds its own only, and hears of no other's changes", async () => {
    const { server, threads } = await serveThreads()
    const [a, b] = [await openHttp(server.url, 'token-a'), await openHttp(server.url, 'token-b')]
    onTestFinished(() => Promise.all([a.close(), b.close()]).then(() => undefined))
    const heard: string[] = []
    b.setNotificationHandler('notifications/resources/updated', ({ params }) => void heard.push(params.uri))
    await b.listen({ resourceSubscriptions: ['workspace:///a.txt', 'workspace:///b.txt'] })
    await a.callTool({ name: 'write', arguments: { path: '/a.txt', content: 'secret of a' } })
    const ids: string[] = []
    for await (const id of threads.list()) ids.push(id)
    expect(ids).toHaveLength(2)
    const list = await b.callTool({ name: 'list', arguments: { path: '/' } })
    expect(JSON.stringify(list)).not.toContain('a.txt')
    for (const id of ids) {
      for (const path of [`/threads/${id}/a.txt`, `/../${id}/a.txt`, `../${id}/a.txt`, '/a.txt']) {
        const read = await b.callTool({ name: 'read', arguments: { path } })
        expect(read, path).toMatchObject({ isError: true })
      }
      const headers = { authorization: 'Bearer token-b', 'mcp-session-id': id, 'x-thread': id, 'x-subject': 'a' }
      const body = callOf('read', { path: '/a.txt', threadId: id })
      expect((await ask(server.url, { headers, body })).body).not.toContain('secret')
      const elsewhere = await ask(server.url, { headers, body, path: `/mcp/${id}` })
      expect(elsewhere.status).toBe(404)
    }
    await b.callTool({ name: 'write', arguments: { path: '/b.txt', content: 'of b' } })
    await expect.poll(() => heard).toEqual(['workspace:///b.txt'])
  })

  it('with a token that ends loses the stream that it opened', async () => {
    let ends = 0
    const verify = async () => {
      ends = Math.floor(Date.now() / 1000) + 2
      return { id: 'a', expiresAt: ends }
    }
    const { server } = await serveThreads({ auth: { verify } })
    const client = await openHttp(server.url, 'token')
    onTestFinished(() => client.close())
    const stream = await client.listen({ resourceSubscriptions: ['workspace:///a.txt'] })
    const endsAt = ends * 1000
    await expect(stream.closed).resolves.toBe('remote')
    expect(Date.now()).toBeGreaterThan(endsAt - 50)
  })

  it('by too much at once is sent away with 503, and by too long a message with 413', async () => {
    const workspace = await openWorkspace()
    const { url } = await serveOne(workspace, {
      maxCalls: 2,
      maxStreams: 1,
      maxMessageBytes: 10_000,
      maxBodyBytes: 15_000,
    })
    const waitFor = (file: string): string =>
      callOf('execute', { command: `until test -e ${file}; do sleep 0.02; done` })
    const asked = Array.from({ length: 6 }, () => ask(url, { body: waitFor('go') }))
    const refused: Answer[] = []
    await new Promise<void>((resolve) => {
      for (const answer of asked) void answer.then((one) => refused.push(one) === 4 && resolve())
    })
    expect(refused.map(({ status }) => status)).toEqual([503, 503, 503, 503])
    expect(refused[0]?.headers['retry-after']).toBe('1')
    await workspace.write('/go', '')
    expect((await Promise.all(asked)).filter(({ status }) => status === 200)).toHaveLength(2)
    // a notification takes no share: one call runs, and the batch has one more
    const running = ask(url, {
      body: callOf('execute', { command: 'touch begun; until test -e go1; do sleep 0.02; done' }),
    })
    const notice = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
    await expect.poll(() => workspace.exists('/begun')).toBe(true)
    expect((await ask(url, { body: `[${listTools},${notice}]` })).status).toBe(200)
    expect((await ask(url, { body: `[${listTools},${listTools}]` })).status).toBe(503)
    await workspace.write('/go1', '')
    expect((await running).status).toBe(200)
    expect((await ask(url, { body: 'x'.repeat(10_001) })).status).toBe(413)
    const chunked = { 'transfer-encoding': 'chunked' }
    expect((await ask(url, { headers: chunked, body: 'x'.repeat(20_000) })).status).toBe(413)
    const long = waitFor(`go2 ${' '.repeat(9_000)}`)
    const bodies = [ask(url, { body: long }), ask(url, { body: long })]
    expect((await Promise.race(bodies)).status).toBe(503)
    await workspace.write('/go2', '')
    expect((await Promise.all(bodies)).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 503])

    const client = await openHttp(url)
    onTestFinished(() => client.close())
    const stream = await client.listen({ resourceSubscriptions: ['workspace:///a.txt'] })
    await expect(client.listen({ resourceSubscriptions: ['workspace:///a.txt'] })).rejects.toThrow()
    await stream.close()
    await expect
      .poll(() =>
        client.listen({ resourceSubscriptions: ['workspace:///a.txt'] }).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    // every share was given back
    for (let index = 0; index < 5; index += 1) expect((await ask(url)).status).toBe(200)
  })

  it('[MC2] by streams without an end leaves a share for others', async () => {
    const { server } = await serveThreads({ maxStreams: 4 })
    const clients = await Promise.all(['token-a', 'token-b'].map((token) => openHttp(server.url, token)))
    onTestFinished(() => Promise.all(clients.map((client) => client.close())).then(() => undefined))
    const [a, b] = clients
    const listen = (client = a) => client?.listen({ resourceSubscriptions: ['workspace:///a.txt'] })
    await listen()
    await listen()
    await expect(listen()).rejects.toThrow()
    await expect(listen(b)).resolves.toBeDefined()
  })

  it('[MC2] in absolute form is answered, and its host is checked', async () => {
    const { url } = await serveOne(await openWorkspace())
    const statusOf = async (path: string): Promise<number> => (await ask(url, { path })).status
    expect(await statusOf(url.href)).toBe(200)
    expect(await statusOf(url.href.replace('http:', 'HTTP:'))).toBe(200)
    expect(await statusOf('http://evil.example.com/mcp')).toBe(403)
    expect(await statusOf(`http://evil@${url.host}/mcp`)).toBe(400)
    expect(await statusOf('ftp://127.0.0.1/mcp')).toBe(400)
    expect(await statusOf('//127.0.0.1/mcp')).toBe(404)
  })

  it('leaves a connection that stays open for longer than clients and proxies use it', async () => {
    const { url } = await serveOne(await openWorkspace())
    const { headers } = await fetch(url, { method: 'DELETE' })
    expect(headers.get('keep-alive')).toBe('timeout=65')
  })

  it('in a wrong shape gets an answer that says so', async () => {
    const { url } = await serveOne(await openWorkspace())
    expect((await ask(url, { body: '{"jsonrpc":' })).status).toBe(400)
    expect((await ask(url, { body: Buffer.from([0x22, 0xff, 0x22]) })).status).toBe(400)
    expect((await ask(url, { headers: { 'content-type': 'text/plain' } })).status).toBe(415)
    expect((await ask(url, { path: '/' })).status).toBe(404)
    expect((await ask(url, { path: '//' })).status).toBeLessThan(500)
    expect((await ask(url, { method: 'GET' })).status).toBe(405)
    const unknown = await ask(url, { body: callOf('no_such_tool', {}) })
    expect(unknown.status).toBe(200)
    expect(unknown.body).toContain('no_such_tool')
  })
})

describe('serveHttp', () => {
  it('serves nothing but the loopback without a token and the names of its hosts', async () => {
    const workspace = await openWorkspace()
    const open = async () => ({ workspace, close: async () => undefined })
    const auth = { verify: fixedTokens({ t: 'a' }) }
    await expect(serveHttp({ open, host: '0.0.0.0' })).rejects.toThrow('only the loopback is served without `auth`')
    await expect(serveHttp({ open, allowedHosts: ['files.example.com'] })).rejects.toThrow('without `auth`')
    await expect(serveHttp({ open, auth, host: '0.0.0.0' })).rejects.toThrow('`allowedHosts` is missing')
  })

  it('offers commands only where they are asked for, and an executor meets the requirement', async () => {
    const quiet = await serveOne(await openWorkspace(), { commands: undefined })
    expect((await ask(quiet.url)).body).not.toContain('"execute"')
    const refused = await ask(quiet.url, { body: callOf('execute', { command: 'echo ran' }) })
    expect(refused.body).toContain('execute')
    expect(refused.body).not.toContain('Exit code')
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter: () => createMemoryAdapter() }] })
    onTestFinished(() => workspace.close())
    const said: unknown[] = []
    const { url } = await serveOne(workspace, { commands: 'untrusted', onError: (error) => void said.push(error) })
    const failed = await ask(url)
    expect(failed.status).toBe(500)
    expect(failed.body).toContain('the workspace has no executor')
    expect(said).toMatchObject([{ code: 'ENOEXECUTOR' }])
    await expect(serveStdio({ workspace }, { commands: {} })).rejects.toMatchObject({ code: 'ENOEXECUTOR' })
  })

  it('tells a client that asks for it that a call is still running', async () => {
    const { url } = await serveOne(await openWorkspace())
    const client = await openHttp(url)
    onTestFinished(() => client.close())
    const told: number[] = []
    const call = { name: 'execute', arguments: { command: 'sleep 2.5; echo done' } }
    const answer = await client.callTool(call, { onprogress: ({ progress }) => void told.push(progress) })
    expect(answer).toMatchObject({ isError: false })
    expect(told.slice(0, 2)).toEqual([1, 2])
  })
})
