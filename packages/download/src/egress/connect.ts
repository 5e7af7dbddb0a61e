import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'

import type { WorkspaceError } from '@ws/core'
import { type AddressCheck, connectTimeout, dial, type DialProblem } from '@ws/network'
import { SocksClient } from 'socks'

import { problems } from '../errors.ts'
import { checkTorName } from './tor-name.ts'
import type { Transfer } from './transfer.ts'

export interface TorOptions {
  /** The host of Tor's SOCKS port. Default `127.0.0.1`. */
  readonly host?: string | undefined
  /** Default 9050. */
  readonly port?: number | undefined
}

/** `permits` of {@link AddressCheck} is for tests alone: no public option leads here. */
export interface EgressOptions extends AddressCheck {
  readonly ports: ReadonlySet<number>
  readonly tor: TorOptions | undefined
}

const dialProblems: Readonly<Record<DialProblem, (host: string) => WorkspaceError>> = {
  onion: problems.onion,
  unknown: problems.unknownHost,
  private: problems.private,
  unreachable: problems.unreachable,
}

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
  const dialled = await dial(host, port, { ...options, signal: transfer.signal })
  if ('problem' in dialled) throw dialProblems[dialled.problem](host)
  return dialled.socket
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
