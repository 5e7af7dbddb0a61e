import {
  GetObject$,
  GetObjectCommand,
  HeadObject$,
  HeadObjectCommand,
  ListObjectsV2$,
  ListObjectsV2Command,
  PutObject$,
  PutObjectCommand,
  UploadPart$,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { Readable } from 'node:stream'
import { signals } from '@ws/core/adapter'
import { Agent, EnvHttpProxyAgent, type Dispatcher } from 'undici'
import { assertNoPage } from './native.ts'

type Config = S3Client['config']
type Signer = Awaited<ReturnType<Config['signer']>>
type Scheme = NonNullable<Parameters<Config['signer']>[0]>
type MiddlewareContext = Parameters<Parameters<S3Client['middlewareStack']['add']>[0]>[1]
type HttpRequest = Awaited<ReturnType<Extract<Signer, { sign: unknown }>['sign']>>

interface Operation {
  readonly namespace: string
  readonly name: string
}

/** The part of the SDK that builds requests and reads answers. */
interface Protocol {
  serializeRequest(operation: Operation, input: object, context: object): Promise<HttpRequest>
  deserializeResponse(operation: Operation, context: object, answer: Answer): Promise<unknown>
}

interface Answer {
  readonly statusCode: number
  readonly headers: Record<string, string>
  readonly body: Dispatcher.ResponseData['body']
}

interface SendOptions {
  readonly abortSignal?: AbortSignal
}

/** Address and context of one bucket. */
interface Route {
  readonly origin: string
  readonly host: string
  readonly context: object
  readonly signer: Signer
}

interface PlainInput {
  readonly Bucket: string
  readonly Body?: Uint8Array
}

interface WayOptions {
  readonly ca?: string[]
  readonly proxied: boolean
}

/** By request signal: the function to call when a piece of a body was sent. */
export const onGone = new WeakMap<AbortSignal, () => void>()
/** Bodies above the first size are sent in pieces of the second size. */
const [wholeBytes, pieceBytes] = [256 * 1024, 64 * 1024]

/** The simple requests for objects, which undici sends. */
const operations: ReadonlyMap<unknown, Operation> = new Map(
  (
    [
      [GetObjectCommand, GetObject$],
      [HeadObjectCommand, HeadObject$],
      [ListObjectsV2Command, ListObjectsV2$],
      [PutObjectCommand, PutObject$],
      [UploadPartCommand, UploadPart$],
    ] as const
  ).map(([command, [, namespace, name, traits, input, output]]) => [
    command,
    { namespace, name, traits, input, output },
  ]),
)

/**
 * Sends frequent requests with undici, without the SDK's middleware and `node:http`. The SDK still finds endpoint and credentials,
 * builds and signs requests, and reads answers. Other requests use the SDK. The client must not retry.
 */
export function shortenWay(client: S3Client, connections: number, way: WayOptions): void {
  const transport = new Transport(client, connections, way)
  const send = client.send.bind(client) as (command: object, options?: SendOptions) => Promise<unknown>
  const destroy = client.destroy.bind(client)
  const sendShort = (command: object, options?: SendOptions): Promise<unknown> => {
    const operation = operations.get(command.constructor)
    const input: unknown = 'input' in command ? command.input : undefined
    const route = operation !== undefined && isPlain(input) ? transport.routeTo(input.Bucket) : undefined
    if (operation === undefined || route === undefined) return send(command, options)
    return transport.send(route, operation, input as PlainInput, options)
  }
  client.send = sendShort as S3Client['send']
  client.destroy = () => {
    transport.destroy()
    destroy()
  }
}

/** True for a request that undici sends. Requests with bodies other than bytes use the SDK. */
function isPlain(input: unknown): input is PlainInput {
  if (typeof input !== 'object' || input === null) return false
  const { Bucket, Body } = input as { readonly Bucket?: unknown; readonly Body?: unknown }
  return typeof Bucket === 'string' && (Body === undefined || Body instanceof Uint8Array)
}

class Transport {
  readonly #config: Config
  readonly #agent: Dispatcher
  /** A dispatcher without a queue for connections. */
  readonly #urgent: Dispatcher
  readonly #routes = new Map<string, Route | undefined>()

  constructor(client: S3Client, connections: number, { proxied, ...trusted }: WayOptions) {
    this.#config = client.config
    // callers set the time limits for answers
    const connect = { timeout: 10_000, ...trusted }
    const options = { connect, requestTls: connect, headersTimeout: 0, bodyTimeout: 0 }
    const Way = proxied ? EnvHttpProxyAgent : Agent
    this.#agent = new Way({ connections, ...options })
    this.#urgent = new Way({ connections: 32, ...options })
    // the SDK's first request reveals the address of a bucket
    client.middlewareStack.add(
      (next, context) => async (args) => {
        const { endpointV2 } = context // there since the step before
        const { Bucket } = args.input as { readonly Bucket?: string }
        if (Bucket !== undefined && endpointV2 !== undefined) await this.#learn(Bucket, endpointV2)
        return next(args)
      },
      { step: 'finalizeRequest', name: 'learnRoute' },
    )
  }

  /** The route; `undefined` while unknown, or if the bucket needs an unusual signature. */
  routeTo(bucket: string): Route | undefined {
    return this.#routes.get(bucket)
  }

  destroy(): void {
    for (const agent of [this.#agent, this.#urgent]) agent.destroy().catch(() => undefined) // nothing waits for these connections
  }

  async send(
    { origin, host, context, signer }: Route,
    operation: Operation,
    input: PlainInput,
    { abortSignal }: SendOptions = {},
  ): Promise<unknown> {
    const protocol = this.#config.protocol as unknown as Protocol
    const request = await protocol.serializeRequest(operation, input, context)
    Object.assign(request.headers, { host, 'user-agent': 'ws-adapter-s3' })
    const { Body = null } = input
    const gone = abortSignal && onGone.get(abortSignal)
    const isWhole = Body === null || gone === undefined || Body.length <= wholeBytes
    const signingDate = new Date(Date.now() + this.#config.systemClockOffset)
    const { method, headers, ...signed } = await signer.sign(request, { signingDate })
    const agent = abortSignal !== undefined && signals.urgent.has(abortSignal) ? this.#urgent : this.#agent
    const answer = await agent
      .request({
        origin,
        path: signed.path + queryOf(signed),
        method: method as Dispatcher.HttpMethod,
        headers: isWhole ? headers : { ...headers, 'content-length': `${Body.length}` },
        body: isWhole ? Body : telling(piecesOf(Body), gone),
        signal: abortSignal,
        reset: false, // else undici ends a connection after each HEAD, for servers that send a body with the answer
      })
      .catch((error: unknown) => {
        throw withMeaning(error)
      })
    return this.#understand(operation, context, answer)
  }

  async #learn(bucket: string, endpoint: NonNullable<MiddlewareContext['endpointV2']>): Promise<void> {
    if (this.#routes.has(bucket)) return
    const [scheme] = (endpoint.properties?.['authSchemes'] ?? []) as readonly Scheme[]
    if (scheme?.name !== 'sigv4') return
    const { origin, host } = endpoint.url
    const context = { ...this.#config, endpoint: async () => endpoint }
    this.#routes.set(bucket, { origin, host, context, signer: await this.#config.signer(scheme) })
  }

  async #understand(operation: Operation, context: object, answer: Dispatcher.ResponseData): Promise<unknown> {
    const { statusCode, body } = answer
    const headers = answer.headers as Record<string, string>
    delete headers['expires'] // no caller needs it, and a value that is not a date would be an error
    try {
      assertNoPage(statusCode, headers)
      const protocol = this.#config.protocol as unknown as Protocol
      return await protocol.deserializeResponse(operation, context, { statusCode, headers, body })
    } catch (error) {
      body.on('error', () => undefined).destroy() // the failure of the answer is reported
      if (!(error instanceof Error) || error.name === 'NotS3') throw error
      // the SDK's middleware adds the response in the same way
      Object.defineProperty(error, '$response', { value: { statusCode, headers } })
      if (!('$metadata' in error)) error.message += ' (deserialization error)'
      const { ServerTime: date = headers['date'] } = error as { readonly ServerTime?: string }
      if (error.name === 'RequestTimeTooSkewed' && date !== undefined) {
        this.#config.systemClockOffset = Date.parse(date) - Date.now()
      }
      throw error
    }
  }
}

/** A body that reports each sent piece. */
export function telling(pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>, gone: () => void): Readable {
  async function* all(): AsyncGenerator<Uint8Array, void> {
    for await (const piece of pieces) {
      yield piece
      gone()
    }
  }
  return Readable.from(all())
}

function* piecesOf(bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}

/** The query as in the signature: `encodeURIComponent` leaves some characters that S3 encodes. */
function queryOf({ query = {} }: Pick<HttpRequest, 'query'>): string {
  const encode = (text: string): string =>
    encodeURIComponent(text).replace(/[!'()*]/gu, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`)
  const pairs = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(`${String(value ?? '')}`)}`)
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** Renames undici's errors as `node:http` names them. */
function withMeaning(error: unknown): unknown {
  const { code = '', message = '' } = error as { readonly code?: string; readonly message?: string }
  if (code === 'UND_ERR_ABORTED' && message.startsWith('Proxy')) {
    return Object.assign(new Error(message), { code: 'ERR_PROXY_TUNNEL' })
  }
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new DOMException(message, 'TimeoutError')
  if (code.startsWith('HPE_')) return new Error(`Parse Error: ${message}`, { cause: error })
  return error
}
