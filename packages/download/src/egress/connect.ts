import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'

import type { WorkspaceError } from '@ws/core'
import type { ConnectionReport } from '@ws/core/executor'
import { type AddressCheck, connectTimeout, dial, type DialProblem, type HostList, type Resolve } from '@ws/network'
import { type Refusal, refusals } from '@ws/network/gate'
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

export interface ListedHosts {
  readonly list: HostList
  /** Addresses and ranges that they may have beside public ones. Default: none. */
  readonly addresses?: readonly string[] | undefined
  /** Gives the addresses of a host, in place of the system's resolver. */
  readonly resolve?: Resolve | undefined
  /** Called for each connection when it is over, and for each that is not made. */
  readonly onConnection?: ((report: ConnectionReport) => void) | undefined
}

/** `permits` of {@link AddressCheck} is for tests alone: no public option leads here. */
export interface EgressOptions extends AddressCheck {
  readonly ports: ReadonlySet<number>
  readonly tor: TorOptions | undefined
  /** In place of `ports`: only these hosts are reached. */
  readonly hosts?: Pick<ListedHosts, 'list' | 'onConnection'> | undefined
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
  if (options.hosts !== undefined) return connectListed(options.hosts, { host, port }, transfer, options)
  if (!options.ports.has(port)) throw problems.port(port)
  if (transfer.identity !== undefined) return connectThroughTor(host, port, transfer, options)
  const dialled = await dial(host, port, { ...options, signal: transfer.signal })
  if ('problem' in dialled) throw dialProblems[dialled.problem](host)
  return dialled.socket
}

async function connectListed(
  { list, onConnection }: NonNullable<EgressOptions['hosts']>,
  to: { readonly host: string; readonly port: number },
  { signal }: Transfer,
  options: EgressOptions,
): Promise<Socket> {
  const time = Date.now()
  const report = (rest: Pick<ConnectionReport, 'outcome'> & Partial<ConnectionReport>): void =>
    onConnection?.({ ...to, time, duration: Date.now() - time, sentBytes: 0, receivedBytes: 0, ...rest })
  const refuse = (refusal: Refusal, entry?: string): WorkspaceError => {
    report({ ...refusal, entry })
    return problems.refusedHost(to.host, refusal)
  }
  const entry = list.find(to.host, to.port)
  if (entry === undefined) throw refuse(refusals.unlisted(list, to.host, to.port))
  const dialled = await dial(to.host, to.port, { ...options, signal })
  if ('problem' in dialled) throw refuse(refusals.dial(dialled.problem), entry.text)
  const { socket } = dialled
  socket.once('close', () =>
    report({
      entry: entry.text,
      outcome: 'allowed',
      sentBytes: socket.bytesWritten,
      receivedBytes: socket.bytesRead,
    }),
  )
  return socket
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
