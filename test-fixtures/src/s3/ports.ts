import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Ports that nothing listens at on 127.0.0.1, for programs that cannot choose one themselves. They lie below the range
 * that the system gives to outgoing connections, so that they stay free for the moment until they are used. A caller is
 * still prepared to find one taken.
 */
export async function findFreePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = randomInt(12_000, 32_000)
    if (await isFree(port)) ports.add(port)
  }
  return [...ports]
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  })
}
