import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

import { createScratchDirectory } from '@ws/test-fixtures'
import { Redis } from 'ioredis'

/** A Redis server of the test's own, on a free port of this machine, which keeps what it acknowledged. */
export interface RedisServer extends AsyncDisposable {
  readonly connection: { readonly host: string; readonly port: number }
  /** Kills it and starts it again, on the same port and files. */
  restart(): Promise<void>
}

export async function startRedis(): Promise<RedisServer> {
  const scratch = await createScratchDirectory({
    prefix: 'redis-',
    owner: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
  })
  const port = await freePort()
  const connection = { host: '127.0.0.1', port }
  let server = await start(port, scratch.path)
  return {
    connection,
    async restart() {
      await end(server)
      server = await start(port, scratch.path)
    },
    async [Symbol.asyncDispose]() {
      await end(server)
      await scratch.remove()
    },
  }
}

async function start(port: number, directory: string): Promise<ChildProcess> {
  const files = ['--dir', directory, '--appendonly', 'yes', '--appendfsync', 'always', '--save', '']
  const server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', ...files], { stdio: 'ignore' })
  const client = new Redis({ host: '127.0.0.1', port, maxRetriesPerRequest: null, retryStrategy: () => 20 })
  client.on('error', () => undefined)
  try {
    // while it loads its files it answers with an error
    while ((await client.ping().catch(() => undefined)) !== 'PONG') await delay(10)
  } finally {
    client.disconnect()
  }
  return server
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const exited = once(server, 'exit')
  server.kill('SIGKILL')
  await exited
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('the system gave no port')
  return address.port
}
