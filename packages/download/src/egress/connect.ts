import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'

import { SocksClient } from 'socks'

import { problems } from '../errors.ts'
import { normalAddress } from './address.ts'
import { checkTorName, resolvePublic, type Resolve } from './resolve.ts'
import type { Transfer } from './transfer.ts'

export interface TorOptions {
  /** The host of Tor's SOCKS port. Default `127.0.0.1`. */
  readonly host?: string | undefined
  /** Default 9050. */
  readonly port?: number | undefined
}

export interface EgressOptions {
  readonly resolve: Resolve
  /** Addresses that are allowed beside public ones. For tests alone: no public option leads here. */
  readonly permits: (address: string) => boolean
  readonly ports: ReadonlySet<number>
  readonly tor: TorOptions | undefined
}

const connectTimeout = 15_000

/**
 * Opens a connection to a host: to the very address that was checked.
 *
 * @throws WorkspaceError
 */
export async function connectOut(
  host: string,
  port: number,
  transfer: Transfer,
  options: EgressOptions,
): Promise<Socket> {
  if (!options.ports.has(port)) throw problems.port(port)
  if (transfer.identity !== undefined) return connectThroughTor(host, port, transfer, options)
  const addresses = await resolvePublic(host, options)
  for (const address of addresses) {
    transfer.signal.throwIfAborted()
    const socket = await tryAddress(address, port, transfer.signal)
    if (socket !== undefined) return socket
  }
  throw problems.unreachable(host)
}

async function tryAddress(address: string, port: number, signal: AbortSignal): Promise<Socket | undefined> {
  const socket = connectTcp({ host: address, port, autoSelectFamily: false })
  const give = (): void => void socket.destroy()
  signal.addEventListener('abort', give, { once: true })
  try {
    await new Promise<void>((resolve, reject) => {
      socket.setTimeout(connectTimeout, () => reject(new Error('timeout')))
      socket.once('connect', resolve)
      socket.once('error', reject)
      socket.once('close', () => reject(new Error('closed')))
    })
    socket.setTimeout(0)
    // the system may have sent it elsewhere
    if (normalAddress(socket.remoteAddress ?? '') !== normalAddress(address)) throw new Error('another address')
    return socket
  } catch {
    socket.destroy()
    return undefined
  } finally {
    signal.removeEventListener('abort', give)
  }
}

/** Each identity is a user and password of its own: Tor gives it a circuit of its own. */
async function connectThroughTor(
  host: string,
  port: number,
  transfer: Transfer,
  { tor }: EgressOptions,
): Promise<Socket> {
  const { identity } = transfer
  if (tor === undefined || identity === undefined) throw problems.noTor()
  checkTorName(host)
  try {
    const proxy = { host: tor.host ?? '127.0.0.1', port: tor.port ?? 9050 }
    // a socket that the library makes could not be ended while it waits for Tor
    const socket = connectTcp(proxy)
    socket.on('error', () => socket.destroy())
    transfer.hold(socket)
    await once(socket, 'connect', { signal: AbortSignal.any([transfer.signal, AbortSignal.timeout(connectTimeout)]) })
    await SocksClient.createConnection({
      proxy: { ...proxy, type: 5, userId: identity.user, password: identity.password },
      command: 'connect',
      destination: { host, port },
      timeout: connectTimeout * 2,
      existing_socket: socket,
    })
    return socket
  } catch {
    throw problems.unreachable(host)
  }
}
