import type { ConnectionOptions } from 'bullmq'

export interface RedisConnection {
  /** Default `127.0.0.1`. */
  readonly host?: string | undefined
  /** Default 6379. */
  readonly port?: number | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Default 0. */
  readonly database?: number | undefined
  /** Encrypt, and check the server's certificate. Default false. */
  readonly tls?: boolean | undefined
}

export const defaultQueue = 'ws-steps'

/** Calls wait while Redis is unreachable, so a run continues as soon as Redis is reachable again. */
export function connectionOf({ host, port, username, password, database, tls }: RedisConnection): ConnectionOptions {
  return {
    host: host ?? '127.0.0.1',
    port: port ?? 6379,
    db: database ?? 0,
    maxRetriesPerRequest: null,
    retryStrategy: (times: number) => Math.min(times * 50, 1000),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls === true ? { tls: {} } : {}),
  }
}
