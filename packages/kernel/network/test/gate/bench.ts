import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

import { onTestFinished } from 'vitest'

import { Gate } from '../../src/gate/gate.ts'
import type { ConnectionReport } from '@ws/core/executor'

import type { GateLimits, GateRequests } from '../../src/gate/types.ts'
import { hostLists } from '@ws/core/executor'

export const listOf = (...texts: readonly string[]): hostLists.List =>
  new hostLists.List(
    texts.map((text) => {
      const entry = hostLists.parse(text)
      if ('problem' in entry) throw new Error(entry.problem)
      return entry
    }),
  )

export interface GateBench {
  readonly gate: Gate
  readonly reports: ConnectionReport[]
  /** Connects as a program of the sandbox would: to the address that stands for the name. */
  readonly connect: (name: string, port: number) => Promise<Socket>
  readonly until: (test: (reports: readonly ConnectionReport[]) => boolean) => Promise<void>
}

export interface BenchOptions {
  readonly allow: readonly string[]
  /** Port of the one origin, on 127.0.0.1. */
  readonly origin: number
  readonly limits?: Partial<GateLimits>
  /** The name server of the outside. */
  readonly resolve?: (name: string) => readonly string[] | Promise<readonly string[]>
  readonly requests?: GateRequests
}

/**
 * A gate whose sockets are on this machine's loopback: `127.0.0.1` stands for the first name of the list, in place of an
 * address in a sandbox.
 */
export async function openGate({ allow, origin, limits = {}, resolve, requests }: BenchOptions): Promise<GateBench> {
  const reports: ConnectionReport[] = []
  let heard = Promise.withResolvers<void>()
  const gate = new Gate({
    list: listOf(...allow),
    requests,
    limits: { connections: 16, idleTimeout: 10_000, ...limits },
    permits: (address) => address === '127.0.0.1',
    resolve: async (name) => ((await resolve?.(name)) ?? ['127.0.0.1']).map((address) => ({ address, port: origin })),
    onReport(report) {
      reports.push(report)
      heard.resolve()
      heard = Promise.withResolvers()
    },
  })
  onTestFinished(() => gate.close())
  const serve = async (name: string, port: number): Promise<number> => {
    const server = createServer({ pauseOnConnect: false })
    // as seen from inside
    server.prependListener('connection', (socket: Socket) =>
      Object.defineProperty(socket, 'localAddress', { value: places.get(name) ?? '127.0.0.1' }),
    )
    gate.takeServer(server, port)
    await listen(server)
    return (server.address() as AddressInfo).port
  }
  const places = new Map(allow.map((text, index) => [text.replace(/:\d+$/u, ''), `198.18.0.${index + 2}`] as const))
  return {
    gate,
    reports,
    async connect(name, port) {
      const at = await serve(name, port)
      const socket = connect({ host: '127.0.0.1', port: at, allowHalfOpen: true })
      socket.on('error', () => undefined)
      onTestFinished(() => void socket.destroy())
      // a refusal can come before anything else
      await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))
      return socket
    },
    async until(test) {
      while (!test(reports)) await heard.promise
    },
  }
}

export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Everything that comes until the other side ends. */
export async function drain(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  if (!socket.closed && !socket.readableEnded) await Promise.race([once(socket, 'end'), once(socket, 'close')])
  return text
}
