import { once } from 'node:events'
import { connect as connectTcp, type Socket } from 'node:net'

import type { Connections, WorkspaceError } from '@ws/core'
import type { ConnectionReport } from '@ws/core/executor'
import { type AddressCheck, connectTimeout, dial, type DialProblem } from '@ws/network'
import { type Refusal, refusals } from '@ws/network/gate'

import { problems } from '../errors.ts'
import { isTorName } from './tor-name.ts'
import type { Transfer } from './transfer.ts'

export interface TorOptions {
  /** The host of Tor's SOCKS port. Default `127.0.0.1`. */
  readonly host?: string | undefined
  /** Default 9050. */
  readonly port?: number | undefined
}

export interface EgressOptions extends AddressCheck {
  /** Allowed ports of hosts that are in no list. The entries of a list name their own ports. */
  readonly ports: ReadonlySet<number>
  readonly tor: TorOptions | undefined
}

const everyHost: Connections = { judge: () => ({ effect: 'allow' }), report: () => undefined }

type Way = { readonly socket: Socket } | { readonly problem: DialProblem | 'port' | 'torName' }

/** Judges the host before resolving its name, and connects to exactly the checked address. @throws WorkspaceError */
export async function connectOut(
  host: string,
  port: number,
  transfer: Transfer,
  options: EgressOptions,
): Promise<Socket> {
  const { connections = everyHost } = transfer
  const time = Date.now()
  const report = (rest: Pick<ConnectionReport, 'outcome'> & Partial<ConnectionReport>): void =>
    connections.report({ host, port, time, duration: Date.now() - time, sentBytes: 0, receivedBytes: 0, ...rest })
  const refuse = (refusal: Refusal, entry?: string): WorkspaceError => {
    report({ ...refusal, entry })
    return problems.refusedHost(host, refusal)
  }
  const verdict = connections.judge(host, port)
  if (verdict.effect === 'deny') throw refuse({ outcome: 'denied', ...verdict }) // @defence a script of the interpreter that downloads: reaches no other
  const { entry } = verdict
  const isWebPort = entry !== undefined || options.ports.has(port)
  const way: Way = isWebPort ? await reach(host, port, transfer, options) : { problem: 'port' }
  if ('problem' in way) throw refuse(refusalOf(way.problem, port), entry)
  const { socket } = way
  let isTold = false
  const tell = (): void => {
    if (!isTold) report({ entry, outcome: 'allowed', sentBytes: socket.bytesWritten, receivedBytes: socket.bytesRead })
    isTold = true
  }
  socket.once('close', tell)
  // report the connection before the download ends
  transfer.signal.addEventListener('abort', tell, { once: true })
  return socket
}

function refusalOf(problem: Exclude<Way, { socket: Socket }>['problem'], port: number): Refusal {
  if (problem === 'port') {
    const remedy = 'use port 80, 443, 8080 or 8443'
    return { outcome: 'denied', reason: `is not asked at port ${port}, which is not one of web servers`, remedy }
  }
  if (problem !== 'torName') return refusals.dial(problem)
  const reason = 'is not a name that can be resolved through Tor'
  return { outcome: 'denied', reason, remedy: 'give the name of a public host' }
}

async function reach(host: string, port: number, transfer: Transfer, options: EgressOptions): Promise<Way> {
  if (transfer.identity !== undefined) return await reachThroughTor(host, port, transfer, options)
  // `dial` rejects only when the transfer has ended
  return await dial(host, port, { ...options, signal: transfer.signal }).catch(() => ({ problem: 'unreachable' }))
}

/** Connects with a user and password for each identity: Tor then gives each identity its own circuit. */
async function reachThroughTor(host: string, port: number, transfer: Transfer, { tor }: EgressOptions): Promise<Way> {
  const { identity } = transfer
  if (tor === undefined || identity === undefined) throw problems.noTor()
  if (!isTorName(host)) return { problem: 'torName' }
  try {
    const proxy = { host: tor.host ?? '127.0.0.1', port: tor.port ?? 9050 }
    // a socket that the library makes could not be closed while the socket waits for Tor
    const socket = connectTcp(proxy)
    socket.on('error', () => socket.destroy())
    transfer.hold(socket)
    await once(socket, 'connect', { signal: AbortSignal.any([transfer.signal, AbortSignal.timeout(connectTimeout)]) })
    const { SocksClient } = await import('socks')
    await SocksClient.createConnection({
      proxy: { ...proxy, type: 5, userId: identity.user, password: identity.password },
      command: 'connect',
      destination: { host, port },
      timeout: connectTimeout * 2,
      existing_socket: socket,
    })
    return { socket }
  } catch {
    return { problem: 'unreachable' } // Tor gives no cause
  }
}
