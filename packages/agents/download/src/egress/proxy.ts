import { once } from 'node:events'
import { createServer, request as sendRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import { isWorkspaceError } from '@ws/core'

import { endToEnd, passAnswer, refusals } from '@ws/network/gate'

import { problems } from '../errors.ts'
import { connectOut, type EgressOptions } from './connect.ts'
import { Transfer, type TransferOptions } from './transfer.ts'

/** A loopback proxy, through which all clients reach the network. It checks every address. Only running transfers have a password. */
export class EgressProxy implements AsyncDisposable {
  readonly #server: Server
  readonly #options: EgressOptions
  readonly #transfers = new Map<string, Transfer>()
  /** All open connections: Node's server does not list tunnels, but its `close` waits for them. */
  readonly #sockets = new Set<Socket>()
  #closed = false

  private constructor(options: EgressOptions) {
    this.#options = options
    this.#server = createServer(
      { maxHeaderSize: 64 * 1024 },
      (request, response) => void this.#forward(request, response).catch(() => response.destroy()),
    )
    this.#server.on(
      'connect',
      (request: IncomingMessage, socket: Duplex, head: Buffer) =>
        void this.#tunnel(request, socket as Socket, head).catch(() => socket.destroy()),
    )
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    // if no file descriptor is free, the server drops the new connection, and only that client fails
    this.#server.on('error', () => undefined)
    this.#server.on('clientError', (_, socket) => socket.destroy())
  }

  static async start(options: EgressOptions): Promise<EgressProxy> {
    const proxy = new EgressProxy(options)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    proxy.#server.unref()
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  begin(options: TransferOptions): Transfer {
    if (this.#closed) throw problems.closed()
    const transfer = new Transfer(options)
    this.#transfers.set(transfer.password, transfer)
    transfer.signal.addEventListener('abort', () => this.#transfers.delete(transfer.password), { once: true })
    return transfer
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const transfer of this.#transfers.values()) transfer.fail(problems.closed())
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve())
      for (const socket of this.#sockets) socket.destroy()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #transferOf({ headers }: IncomingMessage): Transfer | undefined {
    const [, encoded = ''] = /^Basic (.+)$/iu.exec(headers['proxy-authorization'] ?? '') ?? []
    const password = Buffer.from(encoded, 'base64').toString('latin1').split(':').slice(1).join(':')
    return this.#transfers.get(password)
  }

  async #tunnel(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    client.on('error', () => client.destroy())
    const transfer = this.#transferOf(request)
    if (transfer === undefined) {
      refuse(client, '407 Proxy Authentication Required\r\nProxy-Authenticate: Basic')
      return
    }
    transfer.hold(client)
    const [, host = '', port = ''] = /^(.+):(\d{1,5})$/u.exec(request.url ?? '') ?? []
    const upstream = await this.#connect(host, Number(port), transfer)
    if (upstream === undefined) {
      refuse(client, '403 Forbidden')
      return
    }
    // the client may have closed before, and then emits no further event
    if (client.destroyed) return void upstream.destroy()
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    if (head.length > 0) upstream.write(head)
    upstream.on('data', (chunk: Buffer) => transfer.count(chunk.length))
    upstream.pipe(client)
    client.pipe(upstream)
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => client.end())
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const transfer = this.#transferOf(request)
    if (transfer === undefined) return void response.writeHead(407, { 'proxy-authenticate': 'Basic' }).end()
    transfer.hold(request.socket)
    const url = URL.canParse(request.url ?? '') ? new URL(request.url ?? '') : undefined
    if (url?.protocol !== 'http:' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      return void response.writeHead(400).end()
    }
    const upstream = await this.#connect(url.hostname, Number(url.port || 80), transfer)
    if (upstream === undefined) return void response.writeHead(403).end()
    upstream.on('data', (chunk: Buffer) => transfer.count(chunk.length))
    const outgoing = sendRequest({
      createConnection: () => upstream,
      method: request.method,
      path: `${url.pathname}${url.search}`,
      headers: { ...endToEnd(request), host: url.host, connection: 'close' },
      maxHeaderSize: 64 * 1024,
    })
    const refuse = (): void => {
      transfer.problem ??= problems.refusedHost(url.hostname, refusals.answer())
      response.writeHead(502).end()
    }
    passAnswer(outgoing, response, refuse)
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      // an answer that has begun ends by its own events
      if (response.headersSent) return
      if (error.code?.startsWith('HPE_') === true) refuse()
      else response.destroy()
    })
    response.once('close', () => upstream.destroy())
    outgoing.end()
  }

  async #connect(host: string, port: number, transfer: Transfer): Promise<Socket | undefined> {
    try {
      const socket = await connectOut(host, port, transfer, this.#options)
      socket.on('error', () => socket.destroy())
      transfer.hold(socket)
      return socket
    } catch (error) {
      if (isWorkspaceError(error)) transfer.problem ??= error
      return undefined
    }
  }
}

function refuse(client: Socket, status: string): void {
  client.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`, () => client.destroySoon())
}
