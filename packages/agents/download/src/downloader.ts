import { isWorkspaceError } from '@ws/core'
import { checkOptions, hasMethods, option, type OptionShapes } from '@ws/core/options'

import type { Client, ClientAnswer } from './client/client.ts'
import { problems } from './errors.ts'
import type { EgressOptions } from './egress/connect.ts'
import type { EgressProxy } from './egress/proxy.ts'
import { newIdentity, type Transfer } from './egress/transfer.ts'
import { Patience } from './patience.ts'
import type { Download, Downloader, DownloaderOptions, OpenOptions } from './types.ts'
import { checkUrl, nextUrl } from './url.ts'

const maxRedirects = 5
/** Milliseconds added to a client's timeout: the downloader must end first, since its error names the reason. */
const laterTimeout = 10_000
/** Statuses after which another client is tried: some servers refuse plain clients. */
const refusals: ReadonlySet<number> = new Set([401, 403, 503])
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const shapes: OptionShapes<OpenOptions> = {
  signal: option.signal,
  maxBytes: option.integer(1),
  redirect: option.oneOf('follow', 'manual'),
  anyStatus: option.boolean,
  connections: option.of('connections', (value) => hasMethods(value, 'judge', 'report')),
}

export interface Machinery {
  readonly egress: EgressOptions
  readonly clients: () => Promise<readonly Client[]>
  readonly ca?: string | undefined
}

interface Following {
  readonly patience: Patience
  readonly maxBytes: number
  readonly redirect: 'follow' | 'manual'
  readonly anyStatus: boolean
  readonly connections: OpenOptions['connections']
}

interface Answered {
  readonly answer: ClientAnswer
  readonly transfer: Transfer
  readonly client: Client
}

export class LiveDownloader implements Downloader {
  readonly #options: DownloaderOptions
  readonly #machinery: Machinery
  #proxy: Promise<EgressProxy> | undefined
  #clients: Promise<readonly Client[]> | undefined
  readonly #closing = new AbortController()

  constructor(options: DownloaderOptions, machinery: Machinery) {
    this.#options = options
    this.#machinery = machinery
  }

  async open(given: string, openOptions: OpenOptions = {}): Promise<Download> {
    checkOptions<OpenOptions>(openOptions, shapes, { operation: 'download' })
    const { signal, maxBytes = 50_000_000, redirect = 'follow', anyStatus = false, connections } = openOptions
    signal?.throwIfAborted()
    this.#closing.signal.throwIfAborted()
    if (this.#options.requireTor === true && this.#options.tor === undefined) throw problems.noTor()
    const { idleTimeout = 30_000 } = this.#options
    const timeout = this.#timeout
    const signals = signal === undefined ? [this.#closing.signal] : [signal, this.#closing.signal]
    const patience = new Patience({ timeout, idleTimeout, signals })
    try {
      return await this.#follow(checkUrl(given), { patience, maxBytes, redirect, anyStatus, connections })
    } catch (error) {
      patience.end()
      throw patience.reason ?? error
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(problems.closed())
    await (await this.#proxy)?.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  get #timeout(): number {
    return this.#options.timeout ?? 300_000
  }

  async #follow(first: URL, following: Following): Promise<Download> {
    const { patience, maxBytes, redirect, anyStatus } = following
    let url = first
    let tor = this.#options.requireTor === true
    for (let count = 0; ; ) {
      const answered = await this.#ask(url, { ...following, tor })
      const { answer, client } = answered
      const { status } = answer
      if (redirect === 'follow' && redirects.has(status)) {
        await finish(answered)
        const location = answer.header('location')
        if (location === undefined) throw problems.status(status)
        if (++count > maxRedirects) throw problems.redirects(maxRedirects)
        url = nextUrl(url, location)
        continue
      }
      if (refusals.has(status) && this.#options.tor !== undefined && !tor) {
        await finish(answered)
        tor = true
        continue
      }
      if (!anyStatus && (status < 200 || status > 299)) {
        await finish(answered)
        if (refusals.has(status) && (await this.#lacksBrowser())) throw problems.refused(status)
        throw problems.status(status)
      }
      const isEncoded = (answer.header('content-encoding') ?? 'identity') !== 'identity'
      const promised = isEncoded ? undefined : sizeOf(answer.header('content-length'))
      if (promised !== undefined && promised > maxBytes) {
        await finish(answered)
        throw problems.tooLarge(maxBytes)
      }
      return {
        stream: streamOf(answered, { patience, maxBytes, promised }),
        url: url.href,
        status,
        contentType: mediaTypeOf(answer.header('content-type')),
        size: promised,
        redirects: count,
        client: client.name,
        throughTor: tor,
      }
    }
  }

  async #lacksBrowser(): Promise<boolean> {
    const clients = await this.#clients
    return this.#options.client !== 'undici' && clients?.every(({ name }) => name === 'undici') === true
  }

  async #ask(
    url: URL,
    { tor, patience, maxBytes, connections }: Following & { readonly tor: boolean },
  ): Promise<Answered> {
    this.#proxy ??= import('./egress/proxy.ts').then(({ EgressProxy }) => EgressProxy.start(this.#machinery.egress))
    this.#clients ??= this.#machinery.clients()
    const proxy = await this.#proxy
    let failure: unknown
    for (const client of await this.#clients) {
      const transfer = proxy.begin({ maxBytes, connections, identity: tor ? newIdentity() : undefined })
      const release = patience.onEnd(() => transfer.end())
      try {
        const answer = await client.get({
          url,
          proxy: { port: proxy.port, password: transfer.password },
          signal: patience.signal,
          timeout: this.#timeout + laterTimeout,
          ca: this.#machinery.ca,
        })
        // the client got an answer of the proxy, which had refused the request
        if (transfer.problem !== undefined) throw transfer.problem
        return { answer, transfer, client }
      } catch (error) {
        release()
        transfer.end()
        patience.throwIfEnded()
        // the proxy would refuse every other client too
        if (transfer.problem !== undefined) throw transfer.problem
        failure = error
      }
    }
    if (isWorkspaceError(failure)) throw failure
    throw isCertificateProblem(failure) ? problems.tls(url.hostname) : problems.unreachable(url.hostname)
  }
}

/** The content as a stream. Its end releases the connection, even before the first read; a generator would not release it then. */
function streamOf(answered: Answered, options: ContentOptions): AsyncIterableIterator<Uint8Array> {
  const content = contentOf(answered, options)
  // never rejects: both clients close without errors
  const release = async (): Promise<void> => {
    options.patience.end()
    await finish(answered)
  }
  options.patience.onEnd(() => void release())
  return {
    next: () => content.next(),
    async return() {
      await release()
      return content.return(undefined)
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

interface ContentOptions {
  readonly patience: Patience
  readonly maxBytes: number
  readonly promised: number | undefined
}

async function* contentOf(
  answered: Answered,
  { patience, maxBytes, promised }: ContentOptions,
): AsyncGenerator<Uint8Array, undefined> {
  const { answer, transfer } = answered
  let bytes = 0
  try {
    for await (const chunk of answer.body) {
      patience.rest()
      bytes += chunk.length
      if (bytes > maxBytes) throw problems.tooLarge(maxBytes)
      yield chunk
      patience.wait()
    }
  } catch (error) {
    patience.throwIfEnded()
    if (transfer.problem !== undefined) throw transfer.problem
    if (isWorkspaceError(error)) throw error
    throw problems.tooShort()
  } finally {
    patience.end()
    await finish(answered)
  }
  if (promised !== undefined && bytes !== promised) throw problems.tooShort()
  return undefined
}

async function finish({ answer, transfer }: Answered): Promise<void> {
  transfer.end()
  await answer.close()
}

function sizeOf(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,15}$/u.test(header) ? Number(header) : undefined
}

function isCertificateProblem(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code = '' } = cause as { code?: string }
    if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|certificate/iu.test(`${code} ${cause.message}`)) return true
  }
  return false
}

/** The media type of a header. Keeps a printable header of at most 255 characters, else only its type (names ≤ 127 characters, RFC 6838). */
function mediaTypeOf(header: string | undefined): string | undefined {
  if (header === undefined || /^[ -~]{1,255}$/.test(header)) return header
  return /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?=[\s;]|$)/.exec(header)?.[0]
}
