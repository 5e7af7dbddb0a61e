import { chmod, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'

import { findSystemProgram } from '../components.ts'
import { createTiedDirectory } from './directory.ts'
import { createServer, randomCredentials, type S3Credentials, type S3Server } from './server.ts'

export interface R2ServerOptions {
  /** How many buckets there are, the first one included; 64 by default. They exist from the start. */
  readonly buckets?: number
  readonly credentials?: S3Credentials
}

/** Starts miniflare's S3 endpoint: R2 as its makers simulate it, in a directory that goes with it. */
export async function startR2Server(options: R2ServerOptions = {}): Promise<S3Server> {
  const { buckets = 64, credentials = randomCredentials() } = options
  const names = Array.from({ length: buckets }, (_, index) => `bucket-${index + 1}`)
  const [bucket] = names
  if (bucket === undefined) throw new RangeError('a server needs at least one bucket')

  // late, since it is large and most users of this module only talk to a server
  const { Miniflare } = await import('miniflare')
  const directory = await createTiedDirectory('ws-r2-')
  const modulesRoot = dirname(createRequire(import.meta.url).resolve('miniflare'))
  try {
    const workerd = await writeTiedWorkerd(directory.path)
    // both are read from the environment only: the directory by the constructor, the program until it is ready
    const create = () => {
      return new Miniflare({
        // Its S3 worker alone: the one before it replaces `Accept-Encoding`, which rclone signs.
        modules: [{ type: 'ESModule', path: join(modulesRoot, 'workers/r2/s3/index.worker.js') }],
        modulesRoot,
        compatibilityDate: '2026-01-01',
        compatibilityFlags: ['nodejs_compat'],
        unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
        host: '127.0.0.1',
        cf: false,
        // a failure to start is reported without them; later they hold each client that hung up
        handleRuntimeStdio(stdout: Readable, stderr: Readable) {
          stdout.resume()
          stderr.resume()
        },
        bindings: { MINIFLARE_R2_S3_CREDENTIALS: Object.fromEntries(names.map((id) => [id, { ...credentials }])) },
        r2Buckets: Object.fromEntries(names.map((id) => [`MINIFLARE_R2_S3_BUCKET_${id}`, { id }])),
      })
    }
    const miniflare = withVariable('TMPDIR', directory.path, () => withoutSignalHandlers(create))
    await withVariable('MINIFLARE_WORKERD_PATH', workerd, () => miniflare.ready)
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

/**
 * Where it can be had, a way to start the server's process such that it dies with this one, even by SIGKILL, and not
 * before. An interrupt at the terminal is for this process, whose last writes may still be on their way.
 */
async function writeTiedWorkerd(directory: string): Promise<string | undefined> {
  const [setpriv, setsid] = ['setpriv', 'setsid'].map(findSystemProgram)
  if (setpriv === undefined || setsid === undefined) return undefined
  const workerd = createRequire(createRequire(import.meta.url).resolve('miniflare'))('workerd') as { default: string }
  const path = join(directory, 'workerd')
  await writeFile(path, `#!/bin/sh\nexec '${setpriv}' --pdeathsig KILL '${setsid}' '${workerd.default}' "$@"\n`)
  await chmod(path, 0o755)
  return path
}

/** This process decides on signals: miniflare would end it at once, without any cleaning up. */
function withoutSignalHandlers<Result>(action: () => Result): Result {
  const names = ['SIGINT', 'SIGTERM'] as const
  const before = names.map((name) => process.listeners(name))
  const result = action()
  for (const [index, name] of names.entries()) {
    for (const listener of process.listeners(name)) {
      if (before[index]?.includes(listener) !== true) process.off(name, listener)
    }
  }
  return result
}

/** Runs `action` with a variable set in the environment, until what it returns has settled. */
function withVariable<Result>(name: string, value: string | undefined, action: () => Result): Result {
  if (value === undefined) return action()
  const before = process.env[name]
  const restore = () => {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  }
  process.env[name] = value
  let result: Result
  try {
    result = action()
  } catch (error) {
    restore()
    throw error
  }
  if (result instanceof Promise) result.then(restore, restore)
  else restore()
  return result
}
