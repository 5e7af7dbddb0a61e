import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer as createHttpServer, type Server } from 'node:http'
import { createServer, type Socket } from 'node:net'

import { describe, expect, it, onTestFinished } from 'vitest'

import { drain, listen, openGate, type BenchOptions } from './bench.ts'

/** An origin that says on each request which host it was asked for. */
async function httpOrigin() {
  const seen: string[] = []
  const server = createHttpServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      seen.push(`${request.method} ${request.headers.host} ${request.url} ${body}`.trim())
      response.end(`seen ${request.url}\n`)
    })
  })
  server.on('upgrade', (request, socket: Socket) => {
    seen.push(`upgrade ${request.headers.upgrade}`)
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n')
    socket.pipe(socket)
  })
  const port = await listen(server)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port, seen }
}

async function plainOrigin(serve: (socket: Socket) => void) {
  const sockets: Socket[] = []
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    serve(socket)
  })
  const port = await listen(server)
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port, sockets }
}

const allow = ['api.test', 'other.test', 'db.test:5432']

async function ask(text: string, options: Partial<BenchOptions> = {}) {
  const origin = await httpOrigin()
  const bench = await openGate({ allow, origin: origin.port, ...options })
  const socket = await bench.connect('api.test', 80)
  socket.end(text)
  return { answer: await drain(socket), ...bench, ...origin }
}

const get = (host: string, path = '/') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`

describe('what the kernel refused', () => {
  it('[NW1] is told with the name that its address stands for, and the loopback at the end, unless it answered', async () => {
    const { gate, reports } = await openGate({ allow, origin: 1 })
    gate.hearRefused('tcp', '198.18.0.2', 8080)
    gate.hearRefused('udp', '198.18.0.2', 443)
    gate.hearRefused('tcp', '2001:db8:0:0:0:0:0:1', 443)
    gate.hearRefused('tcp', '::ffff:127.0.0.1', 1)
    for (const port of [2, 3, 80]) gate.hearRefused('tcp', port === 3 ? '0:0:0:0:0:0:0:1' : '127.0.0.1', port)
    // the gate itself takes port 80 of every address
    for (const port of [2, 80]) gate.hearOpen(port)
    const early = reports.map(({ host, port }) => `${host} ${port}`)
    await gate.close()
    expect(early).toEqual(['api.test 8080', 'api.test 443', '2001:db8::1 443'])
    expect(reports.slice(3).map(({ host, port }) => `${host} ${port}`)).toEqual([
      'localhost 1',
      'localhost 3',
      'localhost 80',
    ])
    expect(reports.every(({ outcome, reason, remedy }) => outcome === 'denied' && reason && remedy)).toBe(true)
  })
})

describe('http at the gate', () => {
  it('[NW1] goes to the host that address and `Host` name, and is told when it is over', async () => {
    const { answer, seen, reports, until } = await ask(get('API.test', '/x?y'))
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n.*seen \/x\?y\n/s)
    expect(seen).toEqual(['GET API.test /x?y'])
    await until(({ length }) => length === 1)
    expect(reports).toMatchObject([{ host: 'api.test', port: 80, entry: 'api.test', outcome: 'allowed' }])
    expect(reports[0]?.receivedBytes).toBeGreaterThan(50)
  })

  it.each([
    ['another listed host', get('other.test'), 'other.test'],
    ['an unlisted host', get('evil.test'), 'evil.test'],
    ['another port', get('api.test:81'), 'api.test'],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: api.test\r\nHost: evil.test\r\n\r\n', 'api.test'],
    ['a whole URL', 'GET http://evil.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n', 'api.test'],
    ['a tunnel', 'CONNECT evil.test:443 HTTP/1.1\r\nHost: api.test\r\n\r\n', 'api.test'],
  ])('[NW3] refuses %s, in words that name the host', async (_, request, host) => {
    const { answer, seen, reports } = await ask(request)
    expect(answer).toMatch(/^HTTP\/1\.1 403 /)
    expect(answer).toMatch(/ws: `.*` .*; /)
    expect(seen).toEqual([])
    expect(reports).toMatchObject([{ host, outcome: 'denied', remedy: expect.any(String) }])
  })

  it.each([
    ['no host', 'GET / HTTP/1.1\r\n\r\n'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: api.test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a folded header', 'GET / HTTP/1.1\r\nHost: api.test\r\nX: a\r\n evil\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['anything else', '\u0016\u0003\u0001 hello\r\n\r\n'],
    ['a head without end', `GET / HTTP/1.1\r\nHost: api.test\r\n${`X: ${'a'.repeat(1000)}\r\n`.repeat(100)}\r\n`],
  ])('[NW1] lets no byte through of %s', async (_, request) => {
    const { answer, seen } = await ask(request)
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(seen).toEqual([])
  })

  it('[NW3] judges a second request of a connection, pipelined or kept, by its own host', async () => {
    const { answer, seen, reports } = await ask(get('api.test', '/1') + get('evil.test', '/2') + get('api.test', '/3'))
    expect(answer).toMatch(/200 OK.*seen \/1.*403 Forbidden.*`evil\.test`/s)
    expect(seen[0]).toBe('GET api.test /1')
    expect(seen.join()).not.toContain('evil')
    expect(reports.filter(({ outcome }) => outcome === 'denied')).toMatchObject([{ host: 'evil.test' }])
  })

  it('keeps its connection to the host between requests, and takes another where that has ended meanwhile', async () => {
    let requests = 0
    const { port, sockets } = await plainOrigin((socket) =>
      socket.on('data', (chunk: Buffer) => {
        requests += 1
        // the third finds a connection that is over
        if (requests === 3) return void socket.destroy()
        socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n${chunk.toString().split(' ')[1]}`)
      }),
    )
    const { connect, reports, until } = await openGate({ allow, origin: port })
    const socket = await connect('api.test', 80)
    let text = ''
    for (const [path, connections] of [
      ['/1', 1],
      ['/2', 1],
      ['/3', 2],
    ] as const) {
      socket.write(get('api.test', path))
      while (!text.endsWith(path)) text += String((await once(socket, 'data'))[0])
      expect(sockets.length).toBe(connections)
    }
    socket.destroy()
    await until(({ length }) => length === 2)
    expect(reports.map(({ outcome }) => outcome)).toEqual(['allowed', 'allowed'])
  })

  it('repeats no request that may change something, and keeps no connection for it', async () => {
    const { port, sockets } = await plainOrigin((socket) => socket.on('data', () => socket.destroy()))
    const { connect } = await openGate({ allow, origin: port })
    const socket = await connect('api.test', 80)
    socket.end('POST / HTTP/1.1\r\nHost: api.test\r\nContent-Length: 1\r\n\r\nx')
    expect(await drain(socket)).toMatch(/^HTTP\/1\.1 502 /)
    expect(sockets.length).toBe(1)
  })

  it('[NW3] hides no request in a body', async () => {
    const inner = get('evil.test', '/2')
    const { answer, seen } = await ask(
      `POST /1 HTTP/1.1\r\nHost: api.test\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
    )
    expect(answer).toContain('seen /1')
    expect(seen).toEqual([`POST api.test /1 ${inner}`.trim()])
  })

  it('[NW1] hands WebSocket through, and offers no other protocol', async () => {
    const { port, seen } = await httpOrigin()
    const bench = await openGate({ allow, origin: port })
    const socket = await bench.connect('api.test', 80)
    socket.write('GET /ws HTTP/1.1\r\nHost: api.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    const [head] = (await once(socket, 'data')) as [Buffer]
    expect(String(head)).toMatch(/^HTTP\/1\.1 101 /)
    socket.write('ping')
    const [echo] = (await once(socket, 'data')) as [Buffer]
    expect(String(echo)).toBe('ping')
    const other = await bench.connect('api.test', 80)
    other.write('GET /h2 HTTP/1.1\r\nHost: api.test\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n')
    expect(await drain(other)).toMatch(/^HTTP\/1\.1 200 OK.*seen \/h2/s)
    expect(seen).toEqual(['upgrade websocket', 'GET api.test /h2'])
  })

  it('[NW3] dials no address that is not public, and says so', async () => {
    const { answer, seen, reports } = await ask(get('api.test'), { resolve: () => ['127.0.0.1', '169.254.169.254'] })
    expect(answer).toMatch(/^HTTP\/1\.1 403 .*`api\.test` has an address that is not public/s)
    expect(seen).toEqual([])
    expect(reports).toMatchObject([{ host: 'api.test', outcome: 'denied' }])
  })
})

describe('TLS at the gate', () => {
  const alert = (kind: number) => String.fromCharCode(21, 3, 1, 0, 2, 2, kind)

  it.each([
    ['plain http', get('api.test')],
    ['nothing that is whole', '\u0016\u0003\u0001'],
  ])('[NW1] lets no byte through of %s', async (_, text) => {
    const { port, sockets } = await plainOrigin(() => undefined)
    const { connect, reports } = await openGate({ allow, origin: port })
    const socket = await connect('api.test', 443)
    socket.end(Buffer.from(text, 'latin1'))
    expect(await drain(socket)).toBe(alert(112))
    expect(sockets).toEqual([])
    expect(reports).toMatchObject([{ host: 'api.test', port: 443, outcome: 'denied' }])
  })
})

describe('another port at the gate', () => {
  it('[NW1] goes to the host of its address, whoever speaks first', async () => {
    const { port } = await plainOrigin((socket) => {
      socket.write('hello ')
      socket.pipe(socket)
    })
    const { connect, reports, until } = await openGate({ allow, origin: port })
    const socket = await connect('db.test', 5432)
    const [first] = (await once(socket, 'data')) as [Buffer]
    expect(String(first)).toBe('hello ')
    socket.end('\u0000\u0000query')
    expect(await drain(socket)).toBe('\u0000\u0000query')
    await until(({ length }) => length === 1)
    expect(reports).toMatchObject([
      { host: 'db.test', port: 5432, entry: 'db.test:5432', sentBytes: 7, receivedBytes: 13 },
    ])
  })

  it('[NW3] judges http there too', async () => {
    const { port, seen } = await httpOrigin()
    const { connect } = await openGate({ allow, origin: port })
    const socket = await connect('db.test', 5432)
    socket.write(`\r\n${get('evil.test')}`)
    expect(await drain(socket)).toMatch(/^HTTP\/1\.1 403 /)
    const right = await connect('db.test', 5432)
    right.end(get('db.test:5432'))
    expect(await drain(right)).toContain('seen /')
    expect(seen).toEqual(['GET db.test:5432 /'])
  })

  it('[NW3] judges http there too where it comes in pieces', async () => {
    const came: string[] = []
    let told: (() => void) | undefined
    const { port } = await plainOrigin((socket) => {
      socket.on('data', (chunk: Buffer) => {
        came.push(String(chunk))
        told?.()
      })
    })
    const { connect, reports } = await openGate({ allow, origin: port })
    const socket = await connect('db.test', 5432)
    for (const piece of ['G', 'ET /', ' HTTP/1.1']) {
      const arrived = new Promise<void>((resolve) => (told = resolve))
      socket.write(piece)
      await arrived
    }
    socket.write('\r\nHost: evil.test\r\n\r\n')
    expect(await drain(socket)).toMatch(/^HTTP\/1\.1 403 /)
    expect(came).toEqual(['G', 'ET /', ' HTTP/1.1'])
    expect(reports).toContainEqual(expect.objectContaining({ host: 'evil.test', outcome: 'denied' }))
  })

  it('[NW3] lets no first line through that never ends', async () => {
    const { port } = await plainOrigin((socket) => socket.resume())
    const { connect, reports, until } = await openGate({ allow, origin: port })
    const socket = await connect('db.test', 5432)
    socket.write(`GET /${'a'.repeat(20_000)}`)
    await drain(socket)
    await until((all) => all.some(({ outcome }) => outcome === 'denied'))
    expect(reports).toContainEqual(expect.objectContaining({ reason: expect.stringContaining('too long') }))
  })

  it.each(['sent back', 'EHLO a.test\r\nHTTP/1.1', 'get key\r\n', 'x', `{"a": "${'b'.repeat(40_000)}"}`])(
    '[NW1] takes other text for what it is: %.20s',
    async (text) => {
      const { port } = await plainOrigin((socket) => socket.pipe(socket))
      const { connect } = await openGate({ allow, origin: port })
      const socket = await connect('db.test', 5432)
      socket.end(text)
      expect(await drain(socket)).toBe(text)
    },
  )

  it('[NW1] takes no connection to a port that its name has not', async () => {
    const { port, sockets } = await plainOrigin(() => undefined)
    const { connect, reports } = await openGate({ allow, origin: port })
    const socket = await connect('db.test', 80)
    socket.end(get('db.test'))
    expect(await drain(socket)).toBe('')
    expect(sockets).toEqual([])
    expect(reports).toMatchObject([{ host: 'db.test', port: 80, outcome: 'denied' }])
  })
})

describe('the limits of a gate', () => {
  it('[NW1] holds so many connections at a time, and refuses the rest at once', async () => {
    const { port, sockets } = await plainOrigin((socket) => socket.resume().on('end', () => socket.end()))
    const { connect, reports, until } = await openGate({ allow, origin: port, limits: { connections: 2 } })
    const held = [await connect('db.test', 5432), await connect('db.test', 5432)]
    const third = await connect('db.test', 5432)
    await drain(third)
    expect(reports).toMatchObject([{ outcome: 'denied', reason: expect.stringContaining('2 connections') }])
    held[0]?.destroy()
    await until(({ length }) => length === 2)
    const fourth = await connect('db.test', 5432)
    fourth.end('x')
    await until((all) => all.some(({ sentBytes }) => sentBytes === 1))
    expect(sockets).toHaveLength(3)
  })

  it('[NW1] holds so many silent connections at a time, and refuses the rest at once', async () => {
    const { port } = await plainOrigin(() => undefined)
    const { connect, reports } = await openGate({ allow, origin: port, limits: { connections: 2 } })
    const held = [await connect('api.test', 80), await connect('api.test', 80)]
    await drain(await connect('api.test', 80))
    expect(reports).toMatchObject([{ outcome: 'denied', reason: expect.stringContaining('2 connections') }])
    expect(held.map(({ destroyed }) => destroyed)).toEqual([false, false])
  })

  it('[NW1] cuts a connection that moves more bytes than a command may', async () => {
    const { port } = await plainOrigin((socket) => socket.write(Buffer.alloc(300_000)))
    const { connect, reports, until } = await openGate({ allow, origin: port, limits: { bytes: 100_000 } })
    const socket = await connect('db.test', 5432)
    await drain(socket)
    await until(({ length }) => length === 1)
    expect(reports).toMatchObject([{ outcome: 'denied', reason: expect.stringContaining('its limit') }])
    const next = await connect('db.test', 5432)
    expect(await drain(next)).toBe('')
  })

  it('[NW1] ends a connection on which nothing comes, on either side', async () => {
    const { port } = await plainOrigin(() => undefined)
    const { connect, reports, until } = await openGate({ allow, origin: port, limits: { idleTimeout: 200 } })
    const [slow, silent] = [await connect('db.test', 5432), await connect('api.test', 80)]
    silent.write('GET / HTTP/1.1\r\n')
    await Promise.all([drain(slow), drain(silent)])
    await until(({ length }) => length > 0)
    expect(reports[0]).toMatchObject({ host: 'db.test', outcome: expect.stringMatching(/failed|allowed/) })
  })

  it('[NW1] asks for one request of a connection at a time, however many come at once', async () => {
    let [open, most, answered] = [0, 0, 0]
    const { port } = await plainOrigin((socket) => {
      open += 1
      most = Math.max(most, open)
      socket.once('close', () => (open -= 1)).on('end', () => socket.end())
      socket.on('data', (chunk: Buffer) => {
        const asked = String(chunk).match(/^(?:GET|POST) /gmu)?.length ?? 0
        // an answer that takes a while, so that the next request would overtake it
        setImmediate(() => {
          for (let left = asked; left > 0; left -= 1) {
            answered += 1
            socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx')
          }
        })
      })
    })
    const { connect } = await openGate({ allow, origin: port, limits: { connections: 4 } })
    const socket = await connect('api.test', 80)
    const post = 'POST / HTTP/1.1\r\nHost: api.test\r\nContent-Length: 1\r\n\r\nx'
    socket.end((get('api.test').repeat(199) + post).repeat(3))
    expect((await drain(socket)).match(/200 OK/gu)).toHaveLength(600)
    expect(answered).toBe(600)
    // where another takes its place, the host can see the end of the first late
    expect(most).toBeLessThanOrEqual(2)
  })

  it('[NW1] lets requests wait up to a number of bytes, and then ends the connection', async () => {
    const { port, sockets } = await plainOrigin(() => undefined)
    const { connect, reports, until } = await openGate({ allow, origin: port })
    const socket = await connect('api.test', 80)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.write(`GET / HTTP/1.1\r\nHost: api.test\r\nX: ${'a'.repeat(60_000)}\r\n\r\n`.repeat(400))
    await closed
    await until((all) => all.some(({ reason }) => reason?.includes('more requests than can wait') === true))
    expect(sockets).toHaveLength(1)
    expect(reports.filter(({ outcome }) => outcome === 'denied')).toHaveLength(1)
  })

  it.each([
    ['a tunnel', 'CONNECT evil.test:443 HTTP/1.1\r\nHost: api.test\r\n\r\n', /200 OK.*seen \/1.*403 /s],
    [
      'WebSocket',
      'GET /ws HTTP/1.1\r\nHost: api.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      /200 OK.*seen \/1.*101 Switching/s,
    ],
  ])('[HO4] answers %s that comes behind another request in its turn', async (_, second, expected) => {
    const { port } = await httpOrigin()
    const { connect } = await openGate({ allow, origin: port })
    const socket = await connect('api.test', 80)
    socket.end(get('api.test', '/1') + second)
    expect(await drain(socket)).toMatch(expected)
  })

  it('[NW1] dials for as many connections as it takes, also where theirs have ended', async () => {
    let asked = Promise.withResolvers<void>()
    // it never answers, and no end of a command waits for it
    const resolve = () => {
      asked.resolve()
      return new Promise<never>(() => undefined)
    }
    const { connect } = await openGate({ allow, origin: 1, resolve, limits: { connections: 2 } })
    for (const _ of [1, 2]) {
      const socket = await connect('api.test', 80)
      socket.write(get('api.test'))
      await asked.promise
      asked = Promise.withResolvers()
      socket.resetAndDestroy()
    }
    let answer = ''
    // until the gate has seen that those from inside have ended
    while (answer === '') {
      const socket = await connect('api.test', 80)
      socket.end(get('api.test'))
      answer = await drain(socket)
    }
    expect(answer).toMatch(/^HTTP\/1\.1 403 .*2 connections are open already/s)
  })

  it('[NW1] waits for the head of a request for a time, however slowly it comes', async () => {
    const { port, seen } = await httpOrigin()
    const { connect, reports, until } = await openGate({ allow, origin: port })
    // Node tells of the server of each request, also of the door
    const shorten = (message: unknown) =>
      Object.assign((message as { server: Server }).server, { headersTimeout: 1_500 })
    subscribe('http.server.request.start', shorten)
    onTestFinished(() => void unsubscribe('http.server.request.start', shorten))
    const socket = await connect('api.test', 80)
    // the second head of a connection is bounded as the first is
    socket.write(get('api.test', '/1'))
    await once(socket, 'data')
    socket.write('GET /2 HTTP/1.1\r\nX: ')
    const drip = setInterval(() => socket.write('a'), 20)
    onTestFinished(() => clearInterval(drip))
    await drain(socket)
    await until((all) => all.some(({ reason }) => reason?.includes('longer than 1500 ms') === true))
    const silent = await connect('api.test', 80)
    await drain(silent)
    expect(seen).toEqual(['GET api.test /1'])
    expect(reports.filter(({ outcome }) => outcome === 'denied').length).toBeGreaterThan(1)
  })

  it('ends everything when it is closed', async () => {
    const { port } = await plainOrigin((socket) => socket.write('hello'))
    const { gate, connect, reports } = await openGate({ allow, origin: port })
    const socket = await connect('db.test', 5432)
    await once(socket, 'data')
    await gate.close()
    await drain(socket)
    expect(reports).toMatchObject([{ host: 'db.test', receivedBytes: 5 }])
  })
})
