import { readFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'

import { type ErrorCode, WorkspaceError } from '@ws/core'
import type { PublishedHost, SharedLoopback } from '@ws/core/executor'

import type { Container } from '../container.ts'
import type { Pool } from '../pool.ts'

const connectScript = readFileSync(new URL('connect.pl', import.meta.url), 'utf8')
const portsScript = readFileSync(new URL('ports.pl', import.meta.url), 'utf8')
/** Most connections to one published port at a time. */
const mostConnections = 256
const lowestPort = 1024

/** The loopback of the containers of a workspace: commands of one container share it. No network is needed to reach it from here. */
export function loopbackOf(pool: Pool): SharedLoopback {
  return {
    async ports() {
      const found = await Promise.all(pool.running.map(listeningPorts))
      return [...new Set(found.flat())].sort((one, other) => one - other)
    },
    async publish(port, { hostPort, socketPath }): Promise<PublishedHost> {
      if (socketPath !== undefined)
        throw problem('ENOTSUP', 'containers publish on ports alone', 'leave `socketPath` out')
      const sockets = new Set<Socket>()
      const server = createServer({ allowHalfOpen: true, noDelay: true }, (outer) => {
        sockets.add(outer)
        outer.on('error', () => undefined) // its end is enough
        outer.once('close', () => sockets.delete(outer))
        void connect(outer, port, pool)
      })
      server.maxConnections = mostConnections
      await listen(server, hostPort)
      const address = server.address()
      return {
        ...(typeof address === 'object' && address !== null && { port: address.port }),
        async close() {
          for (const socket of sockets) socket.destroy()
          await new Promise((resolve) => server.close(resolve))
        },
      }
    },
  }
}

async function listeningPorts({ attendant }: Container): Promise<number[]> {
  let text = ''
  const onStdout = (chunk: Uint8Array) => void (text += Buffer.from(chunk).toString('latin1'))
  const command = attendant.start({ argv: ['perl', '-e', portsScript] }, { onStdout, onStderr: () => undefined })
  await command.gone
  return text
    .split('\n')
    .map(Number)
    .filter((port) => port >= lowestPort)
}

/** Joins a connection with the container that listens on the port. Never rejects: the connection is reset where none does. */
async function connect(outer: Socket, port: number, pool: Pool): Promise<void> {
  for (const container of pool.running) {
    if (!(await listeningPorts(container)).includes(port)) continue
    if (outer.destroyed) return // no event would end its command
    const onStdout = (chunk: Uint8Array) => {
      if (outer.destroyed || outer.write(Buffer.from(chunk))) return
      return new Promise<void>((resolve) => void outer.once('drain', resolve).once('close', resolve))
    }
    const order = { argv: ['perl', '-e', connectScript, String(port)], hasInput: true }
    const command = container.attendant.start(order, { onStdout, onStderr: () => undefined })
    if (command.stdin !== undefined) outer.pipe(command.stdin)
    outer.once('close', () => command.end())
    const end = await command.exited.catch(() => ({ status: 1 }))
    command.end()
    await command.gone
    if (end.status === 0) outer.end()
    else outer.resetAndDestroy()
    return
  }
  outer.resetAndDestroy()
}

async function listen(server: Server, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  // once it listens, an error is one of a single connection
  server.on('error', (error: NodeJS.ErrnoException) => reject(listenError(error)))
  server.listen({ host: '127.0.0.1', port, exclusive: true }, resolve)
  await promise
}

function listenError(native: NodeJS.ErrnoException): Error {
  if (native.code === 'EADDRINUSE')
    return problem('EBUSY', 'the port on this machine is taken', 'choose another one, or leave `hostPort` out', native)
  if (native.code !== 'EACCES') return native
  return problem('EACCES', 'this process may not listen there', 'choose a `hostPort` from 1024 on', native)
}

function problem(code: ErrorCode, reason: string, remedy: string, native?: Error): WorkspaceError {
  return new WorkspaceError({ code, operation: 'publish', reason, remedy, native })
}
