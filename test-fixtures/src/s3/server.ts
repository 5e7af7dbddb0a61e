import { randomBytes } from 'node:crypto'

import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'

/** `r2`: Cloudflare's simulator of R2. `ceph`: Ceph's production gateway. */
export const s3ServerNames = ['r2', 'ceph'] as const

/** `swift` is only for the conformance kit in the deep tier. */
export type S3ServerName = (typeof s3ServerNames)[number] | 'swift'

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** A connection as plain data, which other processes can use too. */
export interface S3Connection {
  readonly name: S3ServerName
  readonly endpoint: string
  readonly region: string
  readonly credentials: S3Credentials
  /** A bucket that only the caller uses, initially empty. */
  readonly bucket: string
}

export interface S3Server extends S3Connection, AsyncDisposable {
  /** Returns another empty bucket for this caller. The R2 simulator has a fixed number. */
  createBucket(): Promise<string>
  /** A client, closed with the server. `config` overrides {@link clientConfig}. */
  client(config?: S3ClientConfig): S3Client
  /** Ends server and clients, and removes the server's data. Repeated calls are fine. */
  close(): Promise<void>
}

/**
 * A client configuration for both servers: path-style addresses, no checksum trailers (R2's simulator resets the connection, Ceph
 * answers 411), no `Expect: 100-continue` (the simulator never answers it).
 */
export function clientConfig({ endpoint, region, credentials }: Omit<S3Connection, 'bucket'>) {
  return {
    endpoint,
    region,
    credentials: { ...credentials },
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
  } as const satisfies S3ClientConfig
}

/** Records a client's requests from now on, such as `GetObject a/b`. Empty the list to reset. */
export function watchRequests(client: S3Client): string[] {
  const sent: string[] = []
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      (given) => {
        const { Key, Prefix } = given.input as { readonly Key?: string; readonly Prefix?: string }
        sent.push(`${commandName} ${Key ?? Prefix ?? ''}`)
        return next(given)
      },
    { step: 'initialize', priority: 'low', name: 'watch' },
  )
  return sent
}

export class Clients {
  readonly #connection: S3Connection
  readonly #clients = new Set<S3Client>()

  constructor(connection: S3Connection) {
    this.#connection = connection
  }

  readonly open = (config: S3ClientConfig = {}): S3Client => {
    const client = new S3Client({ ...clientConfig(this.#connection), ...config })
    this.#clients.add(client)
    return client
  }

  destroy(): void {
    for (const client of this.#clients) client.destroy()
  }
}

interface ServerParts {
  readonly createBucket: () => Promise<string>
  readonly close: () => Promise<void>
}

export function createServer(connection: S3Connection, parts: ServerParts): S3Server {
  const clients = new Clients(connection)
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= Promise.resolve().then(async () => {
      clients.destroy()
      await parts.close()
    })
    return closing
  }
  return {
    ...connection,
    createBucket: parts.createBucket,
    client: clients.open,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Random credentials, which no other server accepts. */
export function randomCredentials(): S3Credentials {
  return {
    accessKeyId: randomBytes(10).toString('hex').toUpperCase(),
    secretAccessKey: randomBytes(20).toString('hex'),
  }
}
