import { createServer, type Socket } from 'node:net'

import { describe, expect, it, onTestFinished } from 'vitest'

import { type Authority, HostRequests, type RequestRules } from '../../src/gate/index.ts'
import { drain, listen, listOf, openGate } from './bench.ts'

const allow = ['api.test', 'other.test']
const hidden = 'GET /secret HTTP/1.1\r\nHost: api.test\r\n\r\n'

/** A request as the host gets it on the wire, and the answer. */
async function wire(
  request: string,
  rules?: RequestRules,
): Promise<{ readonly seen: string; readonly answer: string }> {
  let seen = ''
  const sockets: Socket[] = []
  const origin = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      seen += chunk.toString('latin1')
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
    })
  })
  const port = await listen(origin)
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    origin.close()
  })
  const requests = rules && {
    hosts: new HostRequests(rules, listOf(...allow).entries),
    // the requests of these tests are cleartext
    authority: {} as Authority,
  }
  const { connect } = await openGate({ allow, origin: port, ...(requests && { requests }) })
  const socket = await connect('api.test', 80)
  socket.end(request)
  return { answer: await drain(socket), seen }
}

const head = (method: string, ...lines: readonly string[]): string =>
  `${[`${method} /a HTTP/1.1`, 'Host: api.test', ...lines].join('\r\n')}\r\n\r\n`

describe('the frame of a request', () => {
  it.each(['GET', 'DELETE', 'POST'])('[NW3] of %s is kept where `Connection` names it', async (method) => {
    const length = `Content-Length: ${hidden.length}`
    const { seen } = await wire(head(method, 'Connection: content-length, host, x-a', length, 'X-A: 1') + hidden)
    const [lines = '', body] = seen.split(/(?<=\r\n\r\n)/)
    expect(lines).toContain(`\r\n${length}\r\n`)
    expect(lines).toContain('\r\nHost: api.test\r\n')
    expect(lines).toContain('\r\nX-A: 1\r\n')
    expect(body).toBe(hidden)
  })

  it('[NW3] in chunks is kept where `Connection` names it', async () => {
    const chunk = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`
    const named = ['Connection: transfer-encoding', 'Transfer-Encoding: chunked']
    const { seen } = await wire(head('GET', ...named) + chunk)
    expect(seen).toMatch(/\r\ntransfer-encoding: chunked\r\n/i)
    expect(seen).toMatch(/\r\n\r\n28\r\nGET \/secret/)
  })

  it('[NW3] is kept behind more headers than Node keeps', async () => {
    const many = Array.from({ length: 2_500 }, () => 'a: b')
    const { seen } = await wire(head('DELETE', ...many, `Content-Length: ${hidden.length}`) + hidden)
    expect(seen).toContain(`\r\nContent-Length: ${hidden.length}\r\n`)
  })

  it('[NW3] is refused in a coding that its copy would not name', async () => {
    const { seen, answer } = await wire(`${head('POST', 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 403 /)
    expect(seen).toBe('')
  })
})

// Node asks from this release on
it.runIf(Number(process.versions.node.split('.')[0]) >= 24)(
  '[NW1] the body of a request that offers another protocol reaches the host',
  async () => {
    const { seen, answer } = await wire(
      `${head('POST', 'Connection: Upgrade', 'Upgrade: h2c', 'Content-Length: 5')}hello`,
    )
    expect(seen).toMatch(/\r\nContent-Length: 5\r\n[^]*\r\n\r\nhello$/)
    expect(answer).toMatch(/^HTTP\/1\.1 200 /)
  },
)

it('[NW7] a header that a rule asks for reaches the host, also where `Connection` names it', async () => {
  const rules: RequestRules = { 'api.test': [{ match: { headers: { 'x-mode': 'dry' } } }] }
  const { seen } = await wire(head('GET', 'X-Mode: dry', 'Connection: x-mode'), rules)
  expect(seen).toContain('\r\nX-Mode: dry\r\n')
})
