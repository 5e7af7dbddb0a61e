import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as sendRequest,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'

import { hostLists } from '@ws/core/executor'
import { answer, failureOf, passAnswer, passSwitch, refuse } from './answers.ts'
import { decide, type Decision } from './decide.ts'
import { isPlainCoding, maxHeaderSize, requestOptions } from './headers.ts'
import { isRepeatable, KeptConnections, RefusedConnection, type Way } from './kept-connections.ts'
import { type Destination, join, type Passages } from './passage.ts'
import { respondRaw } from './raw-answer.ts'
import { type Refusal, refusals } from './refusals.ts'
import { secured } from './request-door.ts'
import { Turns } from './turns.ts'

/** Takes HTTP/1.1 connections. Judges every request by its own `Host` and rewrites it, so a hidden request reaches no other host. */
export class HttpDoor {
  readonly #server: Server
  readonly #passages: Passages
  readonly #authorities: readonly string[] | undefined
  readonly #destinations = new WeakMap<Socket, Destination>()
  readonly #turns = new Turns()
  readonly #kept: KeptConnections

  /** @param authorities certificates (PEM) that prove the names of hosts, instead of Node's own authorities */
  constructor(passages: Passages, authorities?: readonly string[]) {
    this.#passages = passages
    this.#kept = new KeptConnections(passages.limits.idleTimeout)
    this.#authorities = authorities
    this.#server = createServer(
      {
        maxHeaderSize,
        headersTimeout: 20_000,
        requestTimeout: 0,
        connectionsCheckingInterval: 1_000,
        insecureHTTPParser: false,
        // older versions of Node do not call this function, and lose the body of a request for another protocol
        shouldUpgradeCallback: isWebSocket,
      },
      (request, response) =>
        this.#inTurn(request, response, () => {
          void this.#forward(request, response).catch(() => response.destroy())
        }),
    )
    // a header that Node silently drops could frame the body
    this.#server.maxHeadersCount = 0 // @defence a request that is read in two ways: more headers than Node keeps
    // Node checks the time limit of heads after this event, which a server that does not listen never emits
    this.#server.emit('listening') // @defence a sandbox that floods or holds the gate: however slowly it comes
    this.#server.keepAliveTimeout = passages.limits.idleTimeout
    // A client may end its side and wait for the answer. Node's types lack this option.
    Object.assign(this.#server, { httpAllowHalfOpen: true })
    this.#server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      this.#inTurn(request, undefined, () => {
        this.#kept.end(socket)
        void this.#upgrade(request, socket, head).catch(() => socket.destroy())
      })
    })
    this.#server.on('connect', (request: IncomingMessage, socket: Socket) => {
      const { port = 80 } = this.#destinations.get(request.socket) ?? {}
      this.#passages.refuse(request.headers.host ?? request.url ?? '', port, refusals.tunnel())
      const answerIt = (response: ServerResponse): void => refuse(response, request.url ?? '', refusals.tunnel())
      this.#inTurn(request, undefined, () => respondRaw(request, socket, answerIt))
    })
    this.#server.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
      const destination = this.#destinations.get(socket as Socket)
      const problem =
        code === 'ERR_HTTP_REQUEST_TIMEOUT'
          ? `has a request whose head took longer than ${this.#server.headersTimeout} ms`
          : 'does not speak HTTP/1.1 as its port asks'
      const refusal = refusals.unjudged(problem)
      if (destination !== undefined && !socket.destroyed) passages.refuse(destination.name, destination.port, refusal)
      if (socket.writable)
        socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n', () => socket.destroy())
      else socket.destroy()
    })
  }

  take(socket: Socket, destination: Destination): void {
    this.#destinations.set(socket, destination)
    this.#server.emit('connection', socket)
    // bytes that were inspected and put back are read first
    socket.resume()
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #inTurn(request: IncomingMessage, response: ServerResponse | undefined, work: () => void): void {
    if (this.#turns.take(request, response, work)) return
    const { name = '', port } = this.#destinations.get(request.socket) ?? {}
    this.#passages.refuse(name, port, refusals.unjudged('has more requests than can wait'))
    request.socket.destroy()
  }

  /** Returns the destination of a request, or reports and answers the refusal. */
  #admit(request: IncomingMessage, response: ServerResponse): Destination | undefined {
    const destination = this.#destinations.get(request.socket)
    if (destination === undefined) return void response.destroy()
    const judged = judge(request, destination)
    if (judged === undefined) return destination // @defence `if (…) ` HTTP for another host: a second request
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

  /** @param keeps true for a kept connection; if it ends during the request, the request is sent once more on a new connection */
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
    // each connection from inside has one connection to the outside
    if (!keeps) this.#kept.end(request.socket)
    const way = keeps
      ? { over: this.#kept.agentFor(request.socket, () => this.#out(destination)) }
      : await this.#out(destination)
    if ('refusal' in way) return refuse(response, name, way.refusal)
    const over = 'over' in way ? way.over : way.socket
    const connection = keeps ? 'keep-alive' : 'close'
    const outgoing = sendRequest(requestOptions(request, over, { ...headers, connection }))
    passAnswer(outgoing, response, () => refuse(response, name, refusals.answer()))
    outgoing.on('error', (error) => {
      // a started answer ends by its own events; extra bytes after a complete answer do no harm
      if (response.headersSent) return
      if (error instanceof RefusedConnection) refuse(response, name, error.refusal)
      else if (keeps && outgoing.reusedSocket && !response.destroyed)
        void this.#send(request, response, { destination, headers, keeps: false }).catch(() => response.destroy())
      else refuse(response, name, failureOf(error))
    })
    // a connection with a complete answer is kept for the next request
    response.once('close', () => {
      if (!keeps || !response.writableFinished) outgoing.destroy()
    })
    if (response.destroyed) return void outgoing.destroy()
    if (isRepeatable(request)) outgoing.end()
    else request.pipe(outgoing)
  }

  #end(response: ServerResponse, { name, port }: Destination, decision: Exclude<Decision, { headers: unknown }>): void {
    if ('answer' in decision) return answer(response, decision.answer)
    this.#passages.refuse(name, port, decision.refusal)
    refuse(response, name, decision.refusal)
  }

  async #out(destination: Destination): Promise<Way> {
    const way = await this.#passages.out(destination)
    if ('refusal' in way || destination.isSecure !== true) return way
    const { name } = destination
    const proof = secured(way.socket, { name, authorities: this.#authorities })
    const socket = await proof.catch(() => void way.socket.destroy()) // rejects for invalid certificates of the operator
    if (socket !== undefined) return { socket }
    const refusal = refusals.untrusted()
    this.#passages.refuse(destination.name, destination.port, refusal)
    return { refusal }
  }

  /** Upgrades to WebSocket only. A request for another protocol continues as plain HTTP. */
  async #upgrade(request: IncomingMessage, inner: Socket, head: Buffer): Promise<void> {
    await respondRaw(request, inner, (response, detach) =>
      isWebSocket(request)
        ? this.#switch(request, response, { inner, head, detach })
        : this.#forward(request, response),
    )
  }

  async #switch(
    request: IncomingMessage,
    response: ServerResponse,
    { inner, head, detach }: { readonly inner: Socket; readonly head: Buffer; readonly detach: () => void },
  ): Promise<void> {
    const destination = this.#admit(request, response)
    if (destination === undefined) return
    const { name } = destination
    const decision = await decide(request, destination)
    if (!('headers' in decision)) return this.#end(response, destination, decision)
    const way = await this.#out(destination)
    if ('refusal' in way) return refuse(response, name, way.refusal)
    if (inner.destroyed) return void way.socket.destroy()
    inner.once('close', () => way.socket.destroy())
    const headers = { ...decision.headers, connection: 'Upgrade', upgrade: 'websocket' }
    const outgoing = sendRequest(requestOptions(request, way.socket, headers))
    outgoing.on('upgrade', (incoming, outer, outerHead) => {
      if (!passSwitch(incoming, response)) {
        outer.destroy()
        return refuse(response, name, refusals.answer())
      }
      detach()
      if (outerHead.length > 0) inner.write(outerHead)
      if (head.length > 0) outer.write(head)
      join(inner, outer as Socket)
    })
    passAnswer(outgoing, response, () => refuse(response, name, refusals.answer()))
    outgoing.on('error', (error) => {
      if (!response.headersSent) refuse(response, name, failureOf(error))
    })
    outgoing.end()
  }
}

function isWebSocket({ headers, method }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket' && method === 'GET'
}

/** Refuses a request for a host other than its connection's host, or for an ambiguous host. */
function judge(
  { rawHeaders, headers, url = '', method }: IncomingMessage,
  { name, port, isSecure = false }: Destination,
): { readonly host: string; readonly refusal: Refusal } | undefined {
  const said = rawHeaders.flatMap((value, index) =>
    index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'host' ? [value] : [],
  )
  if (said.length !== 1) return { host: name, refusal: refusals.unjudged('has a request without exactly one `Host`') }
  // @defence HTTP for another host: a whole URL
  if (!url.startsWith('/') && !(url === '*' && method === 'OPTIONS'))
    return { host: name, refusal: refusals.unjudged('has a request with a whole URL, as for a proxy') }
  // @defence a request that is read in two ways: a coding that its copy would not name
  if (!isPlainCoding(headers))
    return { host: name, refusal: refusals.unjudged('has a body in a coding beside `chunked`') }
  const [, host = '', at = isSecure ? '443' : '80'] = /^(.*?)(?::(\d+))?$/su.exec(said[0] ?? '') ?? []
  const wanted = hostLists.normalName(host)
  if (wanted === name && Number(at) === port) return undefined
  // some clients leave the port out
  if (wanted === name && !said[0]?.includes(':')) return undefined
  return { host: host === '' ? name : host, refusal: refusals.otherName(name) }
}
