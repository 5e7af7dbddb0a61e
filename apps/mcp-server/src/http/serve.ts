import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'

import { WorkspaceError } from '@ws/core'

import { createServer } from '../server/create-server.ts'
import type { Served } from '../types.ts'
import { PacedConnection } from './connection.ts'
import type { MakeServer } from './subjects.ts'
import type { HttpOptions } from './types.ts'

/** Milliseconds until a whole request must have arrived. */
const arrivalTimeout = 60_000
/** Milliseconds. Longer than the usual 60 s of clients and proxies: if the server closed first, requests would be lost. */
const keepAliveTimeout = 65_000

export interface HttpServer extends Served {
  readonly url: URL
}

/**
 * Serves one workspace for each subject over streamable HTTP. Checks `Host` and `Origin`, then the token. Use a proxy for TLS.
 * @throws WorkspaceError `EINVAL` beyond the loopback without `auth`, or for an address without `allowedHosts`
 */
export function serveHttp(options: HttpOptions): Promise<HttpServer> {
  return serveHttpWith(options, createServer)
}

/** Like {@link serveHttp}, with servers that the caller makes. */
export async function serveHttpWith(options: HttpOptions, makeServer: MakeServer): Promise<HttpServer> {
  const { host = '127.0.0.1', port = 0, path = '/mcp' } = options
  checkExposure(host, options)
  const [{ createServer: createHttpServer }, { Front }] = await Promise.all([import('node:http'), import('./front.ts')])
  const front = new Front(options, makeServer)
  const server = createHttpServer(
    {
      requestTimeout: arrivalTimeout,
      headersTimeout: arrivalTimeout / 2,
      keepAliveTimeout,
      connectionsCheckingInterval: 5_000,
    },
    (request, response) => void front.handle(request, response).catch(() => response.destroy()),
  )
  const accept = server.listeners('connection')
  server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    const connection = new PacedConnection(socket)
    for (const one of accept) one.call(server, connection)
  })
  server.listen(port, host)
  await once(server, 'listening')
  // without descriptors, a connection is refused, which affects only its client
  server.on('error', () => undefined)
  const address = server.address() as AddressInfo
  let ending: Promise<void> | undefined
  const end = async (): Promise<void> => {
    server.close()
    server.closeAllConnections()
    await front.close()
  }
  const close = (): Promise<void> => (ending ??= end())
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return { url: new URL(path, `http://${name}:${address.port}`), close, [Symbol.asyncDispose]: close }
}

function checkExposure(host: string, { auth, allowedHosts }: HttpOptions): void {
  const fail = (reason: string, remedy: string): WorkspaceError =>
    new WorkspaceError({ code: 'EINVAL', operation: 'serveHttp', reason, remedy })
  const beyond = isLoopback(host) ? allowedHosts?.find((name) => !isLoopback(name)) : host
  if (beyond === undefined) return
  if (auth === undefined) {
    throw fail('only the loopback is served without `auth`', 'give `auth`, or serve 127.0.0.1 under its own names')
  }
  if (allowedHosts === undefined) {
    throw fail(
      '`allowedHosts` is missing, and the address is not one of the loopback',
      'name the hosts that clients ask for',
    )
  }
}

/** True for an address or name of the loopback. */
function isLoopback(host: string): boolean {
  return /^(?:127(?:\.\d{1,3}){3}|\[?::1\]?|localhost)$/u.test(host)
}
