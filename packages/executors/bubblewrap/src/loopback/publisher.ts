import { open } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'

import { WorkspaceError } from '@ws/core'
import { concurrency, type Owner } from '@ws/core/adapter'
import { type PublishedHost, type SharedLoopback, shortages } from '@ws/core/executor'
import { Processes, publishPort } from '@ws/sandbox'

import { startListener } from '../network/listener.ts'
import type { HeldNetwork } from '../processes/held-network.ts'

/** Most connections to one published port that are being made. A server that accepts nothing holds up its own port alone. */
const mostConnecting = 16
/** Stand-in addresses of the gate, `198.18.0.0/15`, as the kernel writes them. */
const ofGate = /^[0-9A-F]{4}1[23]C6:/
const everywhere = /^0+:/
/** Most bytes of a table that are read: some 100,000 sockets that listen. */
const longestTable = 16 * 1024 * 1024

/**
 * The ports on which programs listen in a held network, without those of its gate.
 * @param gatePorts ports on which the gate takes connections to every address
 */
export async function listeningPorts(held: HeldNetwork, gatePorts: readonly number[]): Promise<number[]> {
  const ports = new Set<number>()
  for (const file of ['tcp', 'tcp6']) {
    for (const [, local = ''] of (await listening(held, file)).matchAll(/: ([0-9A-F]+:[0-9A-F]{4}) \S+ 0A /g)) {
      const port = Number.parseInt(local.slice(-4), 16)
      if (port < 1024 || ofGate.test(local)) continue
      if (everywhere.test(local) && gatePorts.includes(port)) continue // @defence reach unasked: is reached from the host until
      ports.add(port)
    }
  }
  return [...ports].sort((one, other) => one - other)
}

/** The lines of sockets that listen, which the kernel lists first; none after the end of the process, or without IPv6. */
async function listening({ pid, startTime }: HeldNetwork, file: string): Promise<string> {
  await using table = await open(`/proc/${pid}/net/${file}`).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    const shortage = shortages.of(error)
    throw shortage === undefined ? error : new WorkspaceError({ ...shortage, operation: 'ports', native: error })
  })
  // an open table stays that of the process that had this number
  if (table === undefined || Processes.readProcessStat(pid)?.startTime !== startTime) return ''
  let text = ''
  for (
    let part = ' ';
    part !== '' && text.length < longestTable && !/^ *\d+: \S+ \S+ (?!0A)/m.test(part);
    text += part
  ) {
    const { buffer, bytesRead } = await table.read(Buffer.alloc(16_384))
    part = buffer.toString('latin1', 0, bytesRead)
  }
  return text
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
    wanted: Parameters<SharedLoopback['publish']>[1],
    place: () => Promise<HeldNetwork | undefined>,
  ): Promise<PublishedHost> {
    const connecting = new concurrency.Semaphore(mostConnecting)
    return publishPort(wanted, async (outer) => {
      const connect = async () => (outer.destroyed ? undefined : await this.#connect(port, place))
      const inner = await connecting.run(connect)
      if (inner !== undefined) join(outer, inner)
    })
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
