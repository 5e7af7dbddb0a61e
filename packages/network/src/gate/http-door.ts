import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as sendRequest,
  type Server,
  ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'

import { normalName } from '@ws/core/executor'
import type { RequestAnswer } from '../requests/types.ts'
import { decide, type Decision } from './decide.ts'
import { endToEnd, maxHeaderSize, requestOptions } from './headers.ts'
import { isRepeatable, KeptConnections, RefusedConnection, type Way } from './kept-connections.ts'
import { type Destination, join, type Passages } from './passage.ts'
import { type Refusal, refusals } from './refusals.ts'
import { secured } from './request-door.ts'

/** Milliseconds in which the head of a request must have come. */
const headersTimeout = 20_000

/**
 * Takes connections on which HTTP/1.1 must be spoken. Every request of a connection is read, judged by its own `Host` and written
 * anew. So a second request, one behind another, or one hidden in a body reaches nothing that the first could not.
 */
export class HttpDoor {
  readonly #server: Server
  readonly #passages: Passages
  readonly #authorities: readonly string[] | undefined
  readonly #destinations = new WeakMap<Socket, Destination>()
  readonly #kept: KeptConnections

  /** @param authorities certificates (PEM) that prove the names of hosts, in place of the usual ones */
  constructor(passages: Passages, authorities?: readonly string[]) {
    this.#passages = passages
    this.#kept = new KeptConnections(passages.limits.idleTimeout)
    this.#authorities = authorities
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
    const decision = await decide(request, destination)
    if (!('headers' in decision)) return this.#end(response, destination, decision)
    await this.#send(request, response, { destination, headers: decision.headers, keeps: isRepeatable(request) })
  }

  /** @param keeps over a connection that is kept for the next request; one that ends under this request is replaced once */
  async #send(
    request: IncomingMessage,
    response: ServerResponse,
    {
      destination,
      headers,
      keeps,
    }: { readonly destination: Destination; readonly headers: OutgoingHttpHeaders; readonly keeps: boolean },
  ): Promise<void> {
    const { name } = destination
    const way = keeps
      ? { over: this.#kept.agentFor(request.socket, () => this.#out(destination)) }
      : await this.#out(destination)
    if ('refusal' in way) return refuse(response, name, way.refusal)
    const over = 'over' in way ? way.over : way.socket
    const connection = keeps ? 'keep-alive' : 'close'
    const outgoing = sendRequest(requestOptions(request, over, { ...headers, connection }))
    outgoing.on('response', (incoming) => {
      response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, endToEnd(incoming))
      response.flushHeaders()
      incoming.pipe(response)
      // a body that ends too early must end too early for the client as well
      incoming.on('error', () => response.destroy())
    })
    outgoing.on('error', (error) => {
      if (response.headersSent) response.destroy()
      else if (error instanceof RefusedConnection) refuse(response, name, error.refusal)
      else if (keeps && outgoing.reusedSocket && !response.destroyed)
        void this.#send(request, response, { destination, headers, keeps: false })
      else refuse(response, name, refusals.dial('unreachable'))
    })
    // one that was answered in full goes back to those that are kept
    response.once('close', () => {
      if (!keeps || !response.writableFinished) outgoing.destroy()
    })
    if (response.destroyed) return void outgoing.destroy()
    if (isRepeatable(request)) outgoing.end()
    else request.pipe(outgoing)
  }

  /** Answers a request that does not go on. */
  #end(response: ServerResponse, { name, port }: Destination, decision: Exclude<Decision, { headers: unknown }>): void {
    if ('answer' in decision) return answer(response, decision.answer)
    this.#passages.refuse(name, port, decision.refusal)
    refuse(response, name, decision.refusal)
  }

  /** The connection to a host: TLS where the one from inside was. */
  async #out(destination: Destination): Promise<Way> {
    const way = await this.#passages.out(destination)
    if ('refusal' in way || destination.isSecure !== true) return way
    const socket = await secured(way.socket, { name: destination.name, authorities: this.#authorities })
    if (socket !== undefined) return { socket }
    const refusal = refusals.untrusted()
    this.#passages.refuse(destination.name, destination.port, refusal)
    return { refusal }
  }

  /** WebSocket alone is handed through. Any other protocol is not offered, and the request is done without it. */
  async #upgrade(request: IncomingMessage, inner: Socket, head: Buffer): Promise<void> {
    const isWebSocket = request.headers.upgrade?.toLowerCase() === 'websocket' && request.method === 'GET'
    if (!isWebSocket) return respondRaw(request, inner, (response) => void this.#forward(request, response))
    const admitted = respondRaw(request, inner, (response) => this.#admit(request, response), { keep: true })
    if (admitted === undefined) return
    const decision = await decide(request, admitted)
    if (!('headers' in decision))
      return respondRaw(request, inner, (response) => this.#end(response, admitted, decision))
    const way = await this.#out(admitted)
    if ('refusal' in way) return respondRaw(request, inner, (response) => refuse(response, admitted.name, way.refusal))
    const headers = { ...decision.headers, connection: 'Upgrade', upgrade: 'websocket' }
    const outgoing = sendRequest(requestOptions(request, way.socket, headers))
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
  { name, port, isSecure = false }: Destination,
): { readonly host: string; readonly refusal: Refusal } | undefined {
  const said = rawHeaders.flatMap((value, index) =>
    index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'host' ? [value] : [],
  )
  if (said.length !== 1) return { host: name, refusal: refusals.unjudged('has a request without exactly one `Host`') }
  if (!url.startsWith('/') && !(url === '*' && method === 'OPTIONS'))
    return { host: name, refusal: refusals.unjudged('has a request with a whole URL, as for a proxy') }
  const [, host = '', at = isSecure ? '443' : '80'] = /^(.*?)(?::(\d+))?$/su.exec(said[0] ?? '') ?? []
  const wanted = normalName(host)
  if (wanted === name && Number(at) === port) return undefined
  // some clients leave the port out
  if (wanted === name && !said[0]?.includes(':')) return undefined
  return { host: host === '' ? name : host, refusal: refusals.otherName(name) }
}

function answer(response: ServerResponse, { status, headers, body = '' }: RequestAnswer): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' })
  response.end(response.req.method === 'HEAD' ? undefined : body)
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
