import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

import { startWorkerd } from '../workerd.ts'
import { createTiedDirectory } from './directory.ts'
import { createServer, randomCredentials, type S3Credentials, type S3Server } from './server.ts'

export interface R2ServerOptions {
  /** Number of buckets, made at the start. Default 64. */
  readonly buckets?: number
  readonly credentials?: S3Credentials
}

/** Starts miniflare's S3 endpoint, the official simulator of R2, in a temporary directory. */
export async function startR2Server(options: R2ServerOptions = {}): Promise<S3Server> {
  const { buckets = 64, credentials = randomCredentials() } = options
  const names = Array.from({ length: buckets }, (_, index) => `bucket-${index + 1}`)
  const [bucket] = names
  if (bucket === undefined) throw new RangeError('a server needs at least one bucket')

  const directory = await createTiedDirectory('ws-r2-')
  const modulesRoot = dirname(createRequire(import.meta.url).resolve('miniflare'))
  try {
    const miniflare = await startWorkerd(directory.path, {
      // The configuration loads only the S3 worker: miniflare's entry worker replaces `Accept-Encoding`, which rclone signs.
      modules: [{ type: 'ESModule', path: join(modulesRoot, 'workers/r2/s3/index.worker.js') }],
      modulesRoot,
      compatibilityFlags: ['nodejs_compat'],
      unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
      bindings: { MINIFLARE_R2_S3_CREDENTIALS: Object.fromEntries(names.map((id) => [id, { ...credentials }])) },
      r2Buckets: Object.fromEntries(names.map((id) => [`MINIFLARE_R2_S3_BUCKET_${id}`, { id }])),
    })
    let used = 1
    return createServer(
      {
        name: 'r2',
        endpoint: new URL('/cdn-cgi/local/r2/s3', await miniflare.unsafeGetDirectURL()).href,
        region: 'auto',
        credentials,
        bucket,
      },
      {
        async createBucket() {
          const next = names[used]
          if (next === undefined) throw new Error(`all ${names.length} buckets are in use: ask for more at the start`)
          used += 1
          return next
        },
        async close() {
          await miniflare.dispose()
          await directory.remove()
        },
      },
    )
  } catch (error) {
    await directory.remove()
    throw error
  }
}
