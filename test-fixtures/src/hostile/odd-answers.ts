import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'

export interface OddAnswer {
  readonly name: string
  readonly bytes: string
  /** The resulting status; `refused` for an answer against HTTP/1.1, `cut` for a truncated body. */
  readonly result: number | 'refused' | 'cut'
  /** True if the bytes are sent one at a time. */
  readonly slowly?: boolean
}

const ok = 'HTTP/1.1 200 OK\r\n'
const two = 'Content-Length: 2\r\n\r\nok'
const chunked = 'Transfer-Encoding: chunked\r\n'
const websocket = 'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

/** GET answers of a hostile, broken or old server. */
export const oddAnswers: readonly OddAnswer[] = [
  { name: 'the status 099', bytes: 'HTTP/1.1 099 x\r\n\r\n', result: 'refused' },
  { name: 'the status 000', bytes: `HTTP/1.1 000 OK\r\n${two}`, result: 'refused' },
  { name: 'the status 001, a byte at a time', bytes: 'HTTP/1.1 001 x\r\n\r\n', result: 'refused', slowly: true },
  { name: 'the status 600', bytes: `HTTP/1.1 600 x\r\n${two}`, result: 'refused' },
  { name: 'the status 999', bytes: `HTTP/1.1 999 x\r\n${two}`, result: 'refused' },
  { name: 'a status of two digits', bytes: 'HTTP/1.1 20 OK\r\n\r\n', result: 'refused' },
  { name: 'a status of four digits', bytes: 'HTTP/1.1 2000 OK\r\n\r\n', result: 'refused' },
  { name: 'a negative status', bytes: 'HTTP/1.1 -20 OK\r\n\r\n', result: 'refused' },
  { name: 'a control byte in the reason', bytes: `HTTP/1.1 200 a\x01b\r\n${two}`, result: 200 },
  { name: 'NUL in the reason', bytes: `HTTP/1.1 404 \x00\r\n${two}`, result: 404 },
  { name: 'DEL and ESC in the reason', bytes: `HTTP/1.1 200 \x7f\x1b[2J\r\n${two}`, result: 200 },
  { name: 'Latin letters in the reason', bytes: `HTTP/1.1 200 \xe9\xff\r\n${two}`, result: 200 },
  { name: 'no reason', bytes: `HTTP/1.1 200\r\n${two}`, result: 200 },
  { name: 'a long reason', bytes: `HTTP/1.1 200 ${'a'.repeat(20_000)}\r\n${two}`, result: 200 },
  { name: 'a 101 that was not asked for', bytes: `HTTP/1.1 101 x\r\n${websocket}raw`, result: 'refused' },
  { name: 'a 101 without a protocol', bytes: 'HTTP/1.1 101 x\r\n\r\nraw', result: 'refused' },
  {
    name: 'informational answers',
    bytes: `HTTP/1.1 103 x\r\nA: b\r\n\r\nHTTP/1.1 199 x\r\n\r\n${ok}${two}`,
    result: 200,
  },
  {
    name: 'two 100, a byte at a time',
    bytes: `${'HTTP/1.1 100 x\r\n\r\n'.repeat(2)}${ok}${two}`,
    result: 200,
    slowly: true,
  },
  { name: 'a control byte in a header', bytes: `${ok}X: a\x01b\r\n${two}`, result: 'refused' },
  { name: 'NUL in a header', bytes: `${ok}X: a\x00b\r\n${two}`, result: 'refused' },
  { name: 'CR in a header', bytes: `${ok}X: a\rSet-Cookie: b\r\n${two}`, result: 'refused' },
  { name: 'a folded header', bytes: `${ok}X: a\r\n b\r\n${two}`, result: 'refused' },
  { name: 'a name with a blank', bytes: `${ok}X y: b\r\n${two}`, result: 'refused' },
  { name: 'a header without a name', bytes: `${ok}: b\r\n${two}`, result: 'refused' },
  { name: 'the header `__proto__`', bytes: `${ok}__proto__: b\r\nconstructor: c\r\n${two}`, result: 200 },
  { name: 'a trailer that is announced', bytes: `${ok}Trailer: x\r\n${two}`, result: 200 },
  { name: 'trailers', bytes: `${ok}Trailer: X\r\n${chunked}\r\n2\r\nok\r\n0\r\nX: \xe9\r\n\r\n`, result: 200 },
  { name: 'more headers than Node keeps', bytes: `${ok}${'a: b\r\n'.repeat(3000)}${two}`, result: 200 },
  { name: 'a head that is too large', bytes: `${ok}X: ${'a'.repeat(70_000)}\r\n${two}`, result: 'refused' },
  { name: 'two lengths', bytes: `${ok}Content-Length: 1\r\n${two}`, result: 'refused' },
  { name: 'a length and chunks', bytes: `${ok}${chunked}${two}`, result: 'refused' },
  { name: 'a length named by `Connection`', bytes: `${ok}Connection: content-length\r\n${two}and more`, result: 200 },
  {
    name: 'a coding beside chunks',
    bytes: `${ok}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    result: 'refused',
  },
  { name: 'chunks that are none', bytes: `${ok}${chunked}\r\nzz\r\nok\r\n0\r\n\r\n`, result: 'cut' },
  { name: 'a body that ends too early', bytes: `${ok}Content-Length: 9\r\n\r\nok`, result: 'cut' },
  { name: 'chunks that end too early', bytes: `${ok}${chunked}\r\n9\r\nok`, result: 'cut', slowly: true },
  { name: 'a body of 204', bytes: `HTTP/1.1 204 x\r\n\r\n`, result: 204 },
  { name: 'another protocol', bytes: 'SSH-2.0-x\r\n', result: 'refused' },
]

export interface OddServer extends AsyncDisposable {
  readonly port: number
  answer: Pick<OddAnswer, 'bytes' | 'slowly'>
}

/** A server that answers with given bytes, and closes. */
export async function openOddServer(host = '127.0.0.1', port = 0): Promise<OddServer> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    socket.once('close', () => sockets.delete(socket))
    socket.once('data', () => void send(socket, odd.answer))
  })
  server.listen(port, host)
  await once(server, 'listening')
  const odd: OddServer = {
    port: (server.address() as AddressInfo).port,
    answer: { bytes: '' },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return odd
}

async function send(socket: Socket, { bytes, slowly = false }: OddServer['answer']): Promise<void> {
  const content = Buffer.from(bytes, 'latin1')
  if (slowly) {
    for (const byte of content) {
      if (socket.destroyed) return
      await new Promise((resolve) => socket.write(Buffer.of(byte), resolve))
    }
  } else socket.write(content)
  socket.end()
}

/** Draws a number from 0, below `limit`. */
type Draw = (limit: number) => number

export function drawFrom(seed: number): Draw {
  let state = Math.imul(seed + 1, 2_654_435_761) >>> 0
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

const body = 'hello, '.repeat(40)
const bodies: readonly (readonly [string, string])[] = [
  ['', body],
  ['Content-Encoding: gzip\r\n', gzipSync(body).toString('latin1')],
  ['Content-Encoding: br\r\n', brotliCompressSync(body).toString('latin1')],
  ['Content-Encoding: gzip\r\n', body],
  ['Content-Encoding: x-odd\r\n', body],
]
const versions = ['HTTP/1.1', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'ICY', '']
const statuses = [
  '200',
  '200',
  '206',
  '204',
  '205',
  '301',
  '304',
  '404',
  '503',
  '099',
  '000',
  '100',
  '101',
  '102',
  '600',
  '2 0',
  '',
]
const reasons = ['OK', '', '\x01', '\x00', '\xff\xfe', '\x1b]0;x\x07', 'a\rb', 'x'.repeat(9_000), '\t']
const headers = [
  ...[
    'X: y',
    'X: \x01',
    'X:',
    ': y',
    'X y: z',
    '__proto__: x',
    'Trailer: x',
    'Connection: content-length',
    'Connection: close',
  ],
  ...[
    'Connection: transfer-encoding, content-length',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Upgrade: h2c',
    'Set-Cookie: a=b',
  ],
  ...[
    'Location: /x',
    'Location: http://127.0.0.1/',
    'Location: \xff',
    'Keep-Alive: timeout=0',
    'Date: \x7f',
    'X: \xe9',
    '\x80: x',
  ],
  ...[
    'Content-Type: \xff',
    'Content-Length: 3',
    'Content-Length: -1',
    'Transfer-Encoding: gzip',
    'Transfer-Encoding: identity',
  ],
]

/** A random answer: odd lines, headers, framing, chunks, compression, truncation and changed bytes. */
export function drawAnswer(draw: Draw): Pick<OddAnswer, 'bytes' | 'slowly'> {
  const one = <Item>(list: readonly Item[]): Item => list[draw(list.length)] as Item
  const [encoding, content] = one(bodies)
  const odd = (list: readonly string[]): string => (draw(3) === 0 ? one(list) : (list[0] ?? ''))
  const lines = Array.from({ length: draw(4) }, () => `${odd(headers)}\r\n`).join('')
  const framed = one([
    `Content-Length: ${content.length}\r\n\r\n${content}`,
    `Content-Length: ${content.length + draw(20) - 10}\r\n\r\n${content}`,
    `\r\n${content}`,
    `${chunked}\r\n${chunksOf(content, draw)}0\r\n\r\n`,
    `${chunked}\r\n${chunksOf(content, draw)}0\r\nX: y\r\n\r\n`,
    `${chunked}\r\n${chunksOf(content, draw)}${one(['', 'ffffffffffffffffff\r\n', '-1\r\n', '0;x=y\r\n', '\r\n'])}`,
    `Transfer-Encoding: ${one(['gzip, chunked', 'chunked, chunked', 'xchunked', ' chunked'])}\r\n\r\n${chunksOf(content, draw)}0\r\n\r\n`,
  ])
  const informational = draw(5) === 0 ? `HTTP/1.1 ${one(['100', '102', '103', '199'])} x\r\n${lines}\r\n` : ''
  let bytes = `${informational}${odd(versions)} ${odd(statuses)} ${odd(reasons)}\r\n${encoding}${lines}${framed}`
  if (draw(4) === 0) bytes = bytes.slice(0, draw(bytes.length))
  if (draw(4) === 0) {
    const at = draw(bytes.length)
    bytes = `${bytes.slice(0, at)}${String.fromCharCode(draw(256))}${bytes.slice(at + draw(2))}`
  }
  return { bytes, slowly: draw(10) === 0 && bytes.length < 2_000 }
}

function chunksOf(content: string, draw: Draw): string {
  const parts: string[] = []
  for (let at = 0; at < content.length; ) {
    const part = content.slice(at, at + 1 + draw(100))
    parts.push(`${part.length.toString(16)}\r\n${part}\r\n`)
    at += part.length
  }
  return parts.join('')
}
