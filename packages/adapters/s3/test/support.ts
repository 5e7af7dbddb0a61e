import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { isWorkspaceError, paths, type WorkspaceError } from '@ws/core'
import type { MountPath, StorageAdapter } from '@ws/core/adapter'
import type { S3Server, S3ServerName } from '@ws/test-fixtures/s3'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { createS3Adapter, probeS3Dialect, type S3Dialect, type S3StorageAdapter } from '../src/index.ts'
import type { BucketOptions } from '../src/options.ts'

export const at = (path: string): MountPath => paths.parseMount(path)
export const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
export const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** The error of a workspace that a promise rejects with. */
export async function failureOf(promise: Promise<unknown> | undefined): Promise<WorkspaceError> {
  try {
    await promise
  } catch (error) {
    if (isWorkspaceError(error)) return error
    throw error
  }
  throw new Error('it succeeded')
}

/** `npm test` runs the simulator of R2, which is one program, and `test:all` a real store. */
export const tagsOn = (name: S3ServerName): ('all' | 'deep')[] =>
  name === 'r2' ? [] : name === 'ceph' ? ['all'] : ['deep']
/** The same in files that `npm test` leaves out. */
export const tagsInAll = (name: S3ServerName): 'deep'[] => (name === 'ceph' ? [] : ['deep'])

/** A request that an adapter made. */
export interface SentRequest {
  /** `PutObject` */
  readonly name: string
  readonly key: string | undefined
  /** The request in the form of the SDK. */
  readonly input: Readonly<Record<string, unknown>>
}

/** A function between the SDK and the wire in a test: it may refuse, delay, or answer by itself. */
export type Interceptor = (request: SentRequest, send: () => Promise<unknown>) => Promise<unknown>

/** A server with a bucket of the test file's own, and adapters on it whose requests are seen. */
export class Bench {
  readonly server: S3Server
  /** Not watched: for what others do in the bucket. */
  readonly client: S3Client
  readonly dialect: S3Dialect
  readonly requests: SentRequest[] = []
  /** Entries on a page of a listing, to see many pages without many objects. */
  pageSize: number | undefined
  interceptor: Interceptor = (_, send) => send()
  /** The client that adapters use. */
  readonly watched: S3Client
  #used = 0

  private constructor(server: S3Server, dialect: S3Dialect) {
    this.server = server
    this.dialect = dialect
    this.client = server.client()
    const ignore = (): void => undefined
    const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
    this.watched = server.client({ maxAttempts: 1, logger })
    this.watched.middlewareStack.add(
      (next, context) => async (given) => {
        const input = given.input as { Key?: string; Prefix?: string }
        const name = (context.commandName ?? '').replace(/Command$/u, '')
        if (name === 'HeadBucket') return next(given) // the adapter looks whether a busy machine's server is there
        const request = { name, key: input.Key ?? input.Prefix, input: { ...input } }
        this.requests.push(request)
        const paged = name === 'ListObjectsV2' && this.pageSize !== undefined ? { MaxKeys: this.pageSize } : {}
        const sent = { ...given, input: { ...paged, ...given.input } }
        return (await this.interceptor(request, () => next(sent))) as Awaited<ReturnType<typeof next>>
      },
      { step: 'initialize', priority: 'low', name: 'watch' },
    )
  }

  static async open(name: S3ServerName): Promise<Bench> {
    const server = await sharedS3Server(name)
    const dialect = await probeS3Dialect({ client: server.client({ maxAttempts: 1 }), bucket: server.bucket })
    return new Bench(server, dialect)
  }

  /** An unused prefix. */
  prefix(): string {
    this.#used += 1
    return `p${this.#used}/t1`
  }

  async adapter(options: Partial<BucketOptions> = {}): Promise<S3StorageAdapter> {
    const { bucket } = this.server
    const adapter = await createS3Adapter({
      client: this.watched,
      bucket,
      prefix: this.prefix(),
      dialect: this.dialect,
      ...options,
    })
    this.requests.length = 0
    return adapter
  }

  /** Names of the requests that `run` made, in order. */
  async count(run: () => Promise<unknown>): Promise<string[]> {
    this.requests.length = 0
    await run()
    return this.requests.map(({ name }) => name)
  }

  async put(key: string, body: string | Uint8Array = 'x', metadata?: Record<string, string>): Promise<void> {
    const more = metadata === undefined ? {} : { Metadata: metadata }
    const Body = typeof body === 'string' ? encode(body) : body
    await this.client.send(new PutObjectCommand({ Bucket: this.server.bucket, Key: key, Body, ...more }))
  }

  /** The metadata and the content of an object. */
  async get(key: string): Promise<{ text: string; metadata: Record<string, string> }> {
    const answer = await this.client.send(new GetObjectCommand({ Bucket: this.server.bucket, Key: key }))
    return { text: (await answer.Body?.transformToString()) ?? '', metadata: answer.Metadata ?? {} }
  }

  async remove(key: string): Promise<void> {
    await this.client.send(new DeleteObjectCommand({ Bucket: this.server.bucket, Key: key }))
  }

  async keys(prefix: string): Promise<string[]> {
    const input = { Bucket: this.server.bucket, Prefix: prefix, EncodingType: 'url' } as const
    const { Contents = [] } = await this.client.send(new ListObjectsV2Command(input))
    return Contents.map(({ Key = '' }) => decodeURIComponent(Key))
  }

  async close(): Promise<void> {
    await this.server.close()
  }
}

/** Makes many objects, some at a time. */
export async function fill(count: number, make: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) {
      const index = next
      next += 1
      await make(index)
    }
  }
  await Promise.all(Array.from({ length: 32 }, worker))
}

export async function listed(adapter: StorageAdapter, path = '/', recursive = true): Promise<string[]> {
  const found: string[] = []
  for await (const { path: entry, type, unreachable } of adapter.list(at(path), { recursive })) {
    found.push(`${unreachable === true ? 'unreachable ' : ''}${type} ${entry}`)
  }
  return found.toSorted()
}

export async function text(adapter: StorageAdapter, path: string): Promise<string> {
  return decode((await adapter.read(at(path))).bytes)
}
