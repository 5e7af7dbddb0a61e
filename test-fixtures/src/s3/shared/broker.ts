import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'

import { startCephServer } from '../ceph/index.ts'
import { startR2Server } from '../r2.ts'
import { startSwiftServer } from '../swift/index.ts'
import { type S3Connection, type S3Server, type S3ServerName } from '../server.ts'

/** Gives many processes one server of each kind. */
export interface S3Broker extends AsyncDisposable {
  /** `POST {url}/{name}` returns an {@link S3Connection} with its own bucket. The first request starts the server. */
  readonly url: string
  close(): Promise<void>
}

const starters: Record<S3ServerName, () => Promise<S3Server>> = {
  r2: () => startR2Server({ buckets: 512 }),
  ceph: () => startCephServer(),
  swift: startSwiftServer,
}

const names = Object.keys(starters) as S3ServerName[]

/** Listens at a free port of 127.0.0.1, below an unguessable path. */
export async function startS3Broker(): Promise<S3Broker> {
  const path = `/${randomBytes(16).toString('hex')}`
  const started = new Map<S3ServerName, Promise<S3Server>>()
  const connect = async (name: S3ServerName): Promise<S3Connection> => {
    const starting = started.get(name) ?? starters[name]()
    started.set(name, starting)
    const { endpoint, region, credentials, createBucket } = await starting
    return { name, endpoint, region, credentials, bucket: await createBucket() }
  }
  const http = createServer((request, response) => {
    const name = names.find((known) => request.url === `${path}/${known}`)
    if (name === undefined || request.method !== 'POST') {
      response.writeHead(404).end()
      return
    }
    connect(name).then(
      (connection) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(connection)),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    )
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const address = http.address()
  if (address === null || typeof address === 'string') throw new Error('the broker has no port')
  const close = async () => {
    http.close()
    http.closeAllConnections()
    const ended = await Promise.allSettled(
      [...started.values()].map(async (starting) => {
        // callers of a failed start have received its error
        const server = await starting.catch(() => undefined)
        await server?.close()
      }),
    )
    const failure = ended.find((end) => end.status === 'rejected')
    if (failure !== undefined) throw failure.reason
  }
  return { url: `http://127.0.0.1:${address.port}${path}`, close, [Symbol.asyncDispose]: close }
}
