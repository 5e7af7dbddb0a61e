import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream'

import { WorkspaceError } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import type { PublishedHost, SharedLoopback } from '@ws/core/executor'

import { startListener } from '../network/listener.ts'
import type { HeldNetwork } from '../processes/held-network.ts'

/** Most connections to one published port at a time. */
const mostConnections = 256
/** Stand-in addresses of the gate, `198.18.0.0/15`, as the kernel writes them. */
const ofGate = /^[0-9A-F]{4}1[23]C6:/
const everywhere = /^0+:/
/** The kernel lists sockets that listen first. */
const listened = 256 * 1024

/**
 * The ports on which programs listen in a held network, without those of its gate.
 * @param gatePorts ports on which the gate takes connections to every address
 */
export async function listeningPorts({ pid }: HeldNetwork, gatePorts: readonly number[]): Promise<number[]> {
  const ports = new Set<number>()
  for (const file of ['tcp', 'tcp6']) {
    const table = (await readFile(`/proc/${pid}/net/${file}`, 'latin1').catch(() => '')).slice(0, listened)
    for (const [, local = ''] of table.matchAll(/: ([0-9A-F]+:[0-9A-F]{4}) [0-9A-F]+:0000 0A /g)) {
      const port = Number.parseInt(local.slice(-4), 16)
      if (port < 1024 || ofGate.test(local)) continue
      if (everywhere.test(local) && gatePorts.includes(port)) continue // @defence reach unasked: is reached from the host until
      ports.add(port)
    }
  }
  return [...ports].sort((one, other) => one - other)
}

/** Gives programs of this machine addresses of ports in held networks. */
export class Publisher {
  readonly #owner: Owner
  #listener: ReturnType<typeof startListener> | undefined

  constructor(owner: Owner) {
    this.#owner = owner
  }

  /** @param place the network now; it can be another one after its holder was killed @throws WorkspaceError `EBUSY`, `EACCES`, `ENOENT` */
  async publish(
    port: number,
    { hostPort, socketPath }: Pick<Parameters<SharedLoopback['publish']>[1], 'hostPort' | 'socketPath'>,
    place: () => Promise<HeldNetwork | undefined>,
  ): Promise<PublishedHost> {
    const sockets = new Set<Socket>()
    const server = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, (outer) => {
      sockets.add(outer)
      outer.on('error', () => undefined) // its end is enough
      outer.once('close', () => sockets.delete(outer))
      this.#connect(port, place).then(
        (inner) => join(outer, inner),
        () => outer.resetAndDestroy(), // as for a port on which nothing listens
      )
    })
    server.maxConnections = mostConnections
    const where = socketPath === undefined ? { host: '127.0.0.1', port: hostPort } : { path: socketPath }
    await listen(server, where)
    const address = server.address()
    return {
      ...(typeof address === 'object' && address !== null && { port: address.port }),
      async close() {
        for (const socket of sockets) socket.destroy()
        await new Promise((resolve) => server.close(resolve))
      },
    }
  }

  close(): void {
    this.#listener?.close()
    this.#listener = undefined
  }

  async #connect(port: number, place: () => Promise<HeldNetwork | undefined>): Promise<Socket> {
    const held = await place()
    if (held === undefined) throw new Error('no command has run')
    if (this.#listener?.isLost() !== false) this.#listener = startListener()
    let connected: Socket | undefined
    const { pid, startTime } = held
    const sockets = [{ kind: 'out', address: '', port }] as const
    const onSocket = (_: number, handle: unknown): void => void (connected = handle as Socket)
    await this.#listener.open({ pid, startTime, owner: this.#owner, network: '-', sockets, onSocket })
    if (connected === undefined) throw new Error('no connection came')
    return connected
  }
}

function join(outer: Socket, inner: Socket): void {
  if (outer.destroyed) return void inner.destroy()
  Object.assign(inner, { allowHalfOpen: true })
  const end = (): void => undefined // the failure of a side ends both
  pipeline(outer, inner, end)
  pipeline(inner, outer, end)
}

async function listen(
  server: Server,
  where: { readonly host: string; readonly port: number } | { readonly path: string },
) {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const path = 'path' in where ? where.path : undefined
  // once it listens, an error is one of a single connection
  server.on('error', (error: NodeJS.ErrnoException) => reject(listenError(error, path)))
  // the socket is made at once, for this user alone
  const before = path === undefined ? undefined : process.umask(0o077)
  try {
    server.listen({ ...where, exclusive: true }, resolve)
  } finally {
    if (before !== undefined) process.umask(before)
  }
  await promise
}

/** Node reports a missing directory as `EACCES`. */
function listenError(native: NodeJS.ErrnoException, path: string | undefined): Error {
  const refuse = (code: 'EBUSY' | 'EACCES' | 'ENOENT', reason: string, remedy: string): Error =>
    new WorkspaceError({ code, operation: 'publish', reason, remedy, native })
  if (native.code === 'EADDRINUSE')
    return refuse(
      'EBUSY',
      'the port or the path on this machine is taken',
      'choose another one, or leave `hostPort` out',
    )
  if (native.code !== 'EACCES') return native
  if (path !== undefined && !existsSync(dirname(path)))
    return refuse('ENOENT', 'the directory of `socketPath` is missing', 'make it first')
  return refuse('EACCES', 'this process may not listen there', 'choose a `hostPort` from 1024 on, or another directory')
}
