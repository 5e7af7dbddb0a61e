import { createServer, type Socket } from 'node:net'

import type { PublishedHost } from '@ws/core/executor'

import { listen, type Wanted } from './listen.ts'

/** Most connections to one published port at a time. */
const mostConnections = 256

/**
 * Gives programs of this machine the address of a port.
 * @param connect joins a connection; where it rejects, the connection is reset, as for a port on which nothing listens
 * @throws WorkspaceError `EBUSY`, `EACCES`, `ENOENT`, `EINVAL` for a `socketPath` in the directory of a mount
 */
export async function publishPort(wanted: Wanted, connect: (outer: Socket) => Promise<void>): Promise<PublishedHost> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (outer) => {
    sockets.add(outer)
    outer.on('error', () => undefined) // its end is enough
    outer.once('close', () => sockets.delete(outer))
    connect(outer).catch(() => outer.resetAndDestroy())
  })
  server.maxConnections = mostConnections
  const end = await listen(server, wanted)
  const address = server.address()
  return {
    ...(typeof address === 'object' && address !== null && { port: address.port }),
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
      await end()
    },
  }
}
