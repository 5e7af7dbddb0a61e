import {
  createServer,
  type IncomingMessage,
  request as sendRequest,
  type OutgoingHttpHeaders,
  type Server,
  ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'

import { normalName } from '@ws/core/executor'
import { type Destination, join, type Passages } from './passage.ts'
import { type Refusal, refusals } from './refusals.ts'

/** Milliseconds in which the head of a request must have come, and bytes that it may have. */
const headersTimeout = 20_000
const maxHeaderSize = 64 * 1024

/** Headers that are between two neighbours. */
const hopByHop: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'upgrade'],
  ...['transfer-encoding', 'http2-settings'],
])

/**
 * Takes connections on which HTTP/1.1 must be spoken. Every request of a connection is read, judged by its own `Host` and written
 * anew. So a second request, one behind another, or one hidden in a body reaches nothing that the first could not.
 */
export class HttpDoor {
  readonly #server: Server
  readonly #passages: Passages
  readonly #destinations = new WeakMap<Socket, Destination>()

  constructor(passages: Passages) {
    this.#passages = passages
    this.#server = createServer(
      {
        maxHeaderSize,
        headersTimeout,
        requestTimeout: 0,
        connectionsCheckingInterval: 2_000,
        insecureHTTPParser: false,
      },
      (request, response) => void this.#forward(request, response),
    )
    this.#server.keepAliveTimeout = passages.limits.idleTimeout
    // A client may end its side and wait for the answer. Node's types leave it out.
    Object.assign(this.#server, { httpAllowHalfOpen: true })
    this.#server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      void this.#upgrade(request, socket, head)
    })
    this.#server.on('connect', (request: IncomingMessage, socket: Socket) => {
      const { port = 80 } = this.#destinations.get(request.socket) ?? {}
      this.#passages.refuse(request.headers.host ?? request.url ?? '', port, refusals.tunnel())
      respondRaw(request, socket, (response) => refuse(response, request.url ?? '', refusals.tunnel()))
    })
    this.#server.on('clientError', (_, socket) => {
      const destination = this.#destinations.get(socket as Socket)
      const refusal = refusals.unjudged('does not speak HTTP/1.1 as its port asks')
      if (destination !== undefined && !socket.destroyed) passages.refuse(destination.name, destination.port, refusal)
      if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
      else socket.destroy()
    })
  }

  take(socket: Socket, destination: Destination): void {
    this.#destinations.set(socket, destination)
    this.#server.emit('connection', socket)
    // bytes that were looked at and put back are read first
    socket.resume()
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  /** The destination of a request; a refusal is told and answered here. */
  #admit(request: IncomingMessage, response: ServerResponse): Destination | undefined {
    const destination = this.#destinations.get(request.socket)
    if (destination === undefined) return void response.destroy()
    const judged = judge(request, destination)
    if (judged === undefined) return destination
    this.#passages.refuse(judged.host, destination.port, judged.refusal)
    refuse(response, judged.host, judged.refusal)
    return undefined
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const destination = this.#admit(request, response)
    if (destination === undefined) return
    const way = await this.#passages.out(destination)
    if ('refusal' in way) return refuse(response, destination.name, way.refusal)
    const { socket } = way
    if (response.destroyed) return void socket.destroy()
    const outgoing = sendRequest(requestOptions(request, socket, { connection: 'close' }))
    outgoing.on('response', (incoming) => {
      response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, endToEnd(incoming))
      response.flushHeaders()
      incoming.pipe(response)
      // a body that ends too early must end too early for the client as well
      incoming.on('error', () => response.destroy())
    })
    outgoing.on('error', () => {
      if (response.headersSent) response.destroy()
      else refuse(response, destination.name, refusals.dial('unreachable'))
    })
    response.once('close', () => socket.destroy())
    request.pipe(outgoing)
  }

  /** WebSocket alone is handed through. Any other protocol is not offered, and the request is done without it. */
  async #upgrade(request: IncomingMessage, inner: Socket, head: Buffer): Promise<void> {
    const isWebSocket = request.headers.upgrade?.toLowerCase() === 'websocket' && request.method === 'GET'
    if (!isWebSocket) return respondRaw(request, inner, (response) => void this.#forward(request, response))
    const admitted = respondRaw(request, inner, (response) => this.#admit(request, response), { keep: true })
    if (admitted === undefined) return
    const way = await this.#passages.out(admitted)
    if ('refusal' in way) return respondRaw(request, inner, (response) => refuse(response, admitted.name, way.refusal))
    const outgoing = sendRequest(requestOptions(request, way.socket, { connection: 'Upgrade', upgrade: 'websocket' }))
    outgoing.on('upgrade', (incoming, outer, outerHead) => {
      const lines = incoming.rawHeaders.flatMap((name, index, all) =>
        index % 2 === 0 ? [`${name}: ${all[index + 1]}`] : [],
      )
      inner.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1')
      if (outerHead.length > 0) inner.write(outerHead)
      if (head.length > 0) outer.write(head)
      join(inner, outer as Socket)
    })
    outgoing.on('response', (incoming) =>
      respondRaw(request, inner, (response) => {
        response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, endToEnd(incoming))
        incoming.pipe(response)
      }),
    )
    outgoing.on('error', () => inner.destroy())
    inner.once('close', () => way.socket.destroy())
    outgoing.end()
  }
}

/** A request whose host is not the one of its connection, or that could mean another. */
function judge(
  { rawHeaders, url = '', method }: IncomingMessage,
  { name, port }: Destination,
): { readonly host: string; readonly refusal: Refusal } | undefined {
  const said = rawHeaders.flatMap((value, index) =>
    index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'host' ? [value] : [],
  )
  if (said.length !== 1) return { host: name, refusal: refusals.unjudged('has a request without exactly one `Host`') }
  if (!url.startsWith('/') && !(url === '*' && method === 'OPTIONS'))
    return { host: name, refusal: refusals.unjudged('has a request with a whole URL, as for a proxy') }
  const [, host = '', at = '80'] = /^(.*?)(?::(\d+))?$/su.exec(said[0] ?? '') ?? []
  const wanted = normalName(host)
  if (wanted === name && Number(at) === port) return undefined
  // some clients leave the port out
  if (wanted === name && !said[0]?.includes(':')) return undefined
  return { host: host === '' ? name : host, refusal: refusals.otherName(name) }
}

function requestOptions(request: IncomingMessage, socket: Socket, headers: OutgoingHttpHeaders) {
  const own = endToEnd(request)
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()))
  const hasBody = names.has('content-length') || request.headers['transfer-encoding'] !== undefined
  return {
    createConnection: () => socket,
    method: request.method,
    path: request.url,
    setHost: false,
    maxHeaderSize,
    headers: { ...own, ...headers, ...(hasBody && !names.has('content-length') && { 'transfer-encoding': 'chunked' }) },
  }
}

/** The headers that go from end to end, as they are written, those that repeat as lists. */
function endToEnd({ rawHeaders, headers }: IncomingMessage): OutgoingHttpHeaders {
  const named = new Set((headers.connection ?? '').toLowerCase().split(/\s*,\s*/u))
  const kept = new Map<string, { readonly name: string; readonly values: string[] }>()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    const key = name.toLowerCase()
    if (hopByHop.has(key) || (named.has(key) && key !== 'host')) continue
    const known = kept.get(key) ?? { name, values: [] }
    known.values.push(value)
    kept.set(key, known)
  }
  return Object.fromEntries(
    [...kept.values()].map(({ name, values }) => [name, values.length === 1 ? values[0] : values]),
  )
}

function refuse(response: ServerResponse, host: string, { outcome, reason, remedy }: Refusal): void {
  const text = `ws: \`${host.slice(0, 253)}\` ${reason}; ${remedy}\n`
  response.writeHead(outcome === 'denied' ? 403 : 502, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  })
  response.end(text)
}

/** Answers on a connection that the server has let go of, and ends it. */
function respondRaw<Result>(
  request: IncomingMessage,
  socket: Socket,
  write: (response: ServerResponse) => Result,
  { keep = false } = {},
): Result {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => {
    response.detachSocket(socket)
    socket.end(() => socket.destroySoon())
  })
  const result = write(response)
  if (keep && !response.headersSent) response.detachSocket(socket)
  return result
}
