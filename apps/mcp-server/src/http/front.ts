import { hostHeaderValidation, originValidation } from '@modelcontextprotocol/node'
import { isJsonContentType, localhostAllowedHostnames } from '@modelcontextprotocol/server'
import { isWorkspaceError } from '@ws/core'
import { quietly } from '@ws/core/options'
import { once } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { isListen, watchListened } from '../server/subscriptions.ts'
import { reportError } from '../report.ts'
import { MessageError } from '../messages/errors.ts'
import { Limit, limitsOf } from '../messages/limits.ts'
import { refuse, send, toRequest } from './answer.ts'
import { Gate } from './auth.ts'
import { readJson } from './body.ts'
import { Subjects } from './subjects.ts'
import type { MakeServer, SubjectServer } from './subjects.ts'
import { targetOf } from './target.ts'
import type { HttpOptions, Subject } from './types.ts'

const longestTimer = 2_147_483_647

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
  readonly body?: unknown
  readonly isStream?: boolean
}

type Guard = (request: IncomingMessage, response: ServerResponse) => boolean

/** Checks requests before the protocol, in this order: host, origin, path, token, limits. */
export class Front {
  readonly #path: string
  readonly #hosts: readonly string[]
  readonly #guards: readonly Guard[]
  readonly #gate: Gate | undefined
  readonly #calls: Limit
  readonly #streams: Limit
  readonly #bytes: Limit
  readonly #maxMessageBytes: number
  readonly #unreadTimeout: number
  readonly #subjects: Subjects
  readonly #report: (error: unknown) => void
  #order: Promise<unknown> = Promise.resolve()

  constructor(options: HttpOptions, makeServer: MakeServer) {
    const { maxCalls, maxStreams, maxBodyBytes, maxMessageBytes, unreadTimeout } = limitsOf(options)
    this.#path = options.path ?? '/mcp'
    this.#hosts = [...(options.allowedHosts ?? localhostAllowedHostnames())]
    this.#guards = [
      hostHeaderValidation([...this.#hosts]),
      originValidation([...(options.allowedOrigins ?? localhostAllowedHostnames())]),
    ]
    this.#gate = options.auth && new Gate(options.auth)
    const shared = options.auth !== undefined
    this.#calls = new Limit(maxCalls, { shared })
    this.#streams = new Limit(maxStreams, { shared })
    this.#bytes = new Limit(maxBodyBytes, { shared })
    this.#maxMessageBytes = maxMessageBytes
    this.#unreadTimeout = unreadTimeout
    this.#report = quietly(options.onError ?? reportError)
    this.#subjects = new Subjects(options, { maxStreams, makeServer, report: this.#report })
  }

  /** Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // a lost connection is not an error of the server
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    try {
      if (this.#guards.every((guard) => guard(request, response))) await this.#admit(request, response) // @defence `if (…))) ` a web page that talks: DNS rebinding
    } catch (error) {
      this.#fail(error, response)
    }
  }

  close(): Promise<void> {
    return this.#subjects.close()
  }

  async #admit(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = targetOf(request)
    if (url === undefined) return refuse(response, 400, 'the address is not valid')
    // until here, only the `Host` header was checked, not the host of an absolute URL
    if (!this.#hosts.includes(url.hostname)) return refuse(response, 403, 'the host of the address is not served') // @defence a web page that names: in absolute form
    const metadata = this.#gate?.metadata(url, request.method ?? 'GET')
    if (metadata !== undefined) return this.#send(response, metadata)
    if (url.pathname !== this.#path) return refuse(response, 404, `there is only ${this.#path}`)
    const subject = await this.#gate?.check(request.headers.authorization)
    if (subject instanceof Response) return this.#send(response, subject)
    if (request.method === 'POST') return this.#post(request, response, url, subject)
    await this.#subjects.use(subject, (served) => this.#exchange(served, { request, response, url }))
  }

  async #post(
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
    subject: Subject | undefined,
  ): Promise<void> {
    if (!isJsonContentType(request.headers['content-type'] ?? '')) return refuse(response, 415, 'send application/json')
    const held: (() => void)[] = []
    const free = (): void => {
      for (const one of held.splice(0)) one()
    }
    response.once('close', free)
    const take = (limit: Limit, share: number, reached: string): void => {
      const one = limit.take(subject?.id ?? '', share)
      if (one === undefined) throw new MessageError(503, `the server is busy: ${reached}`)
      held.push(one)
    }
    const body = await readJson(request, {
      most: this.#maxMessageBytes,
      take: (bytes) => take(this.#bytes, bytes, 'the messages that are being answered take too much memory'),
    })
    const isStream = isListen(body)
    if (isStream) {
      take(this.#streams, 1, 'too many streams are open')
      endWith(subject, response)
    } else {
      const messages = Array.isArray(body) ? body.length : 1
      if (messages > this.#calls.most) throw new MessageError(413, `a batch has at most ${this.#calls.most} messages`)
      take(this.#calls, callsIn(body), 'too many calls are running')
    }
    // amounts taken after the client's disconnection would never be released otherwise
    if (response.closed) return free()
    await this.#subjects.use(subject, async (served) => {
      if (isStream) held.push(await watchListened(served.source.watch, body))
      if (response.closed) return free()
      await this.#exchange(served, { request, response, url, body, isStream })
      if (!response.closed) await once(response, 'close')
    })
  }

  /** Answers one request. If the client disconnects, its calls end. */
  async #exchange({ handler }: SubjectServer, { request, response, url, body, isStream }: Exchange): Promise<void> {
    // each request makes a server, so simultaneous requests wait for turns of the event loop
    this.#order = this.#order.then(() => nextTurn())
    await this.#order
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    if (response.closed) gone.abort()
    const asked = toRequest(request, url, gone.signal)
    const answer = await handler.fetch(asked, body === undefined ? {} : { parsedBody: body })
    await this.#send(response, answer, isStream)
  }

  async #send(response: ServerResponse, answer: Response, isStream = false): Promise<void> {
    await send(response, answer, { unreadTimeout: this.#unreadTimeout, isStream })
  }

  #fail(error: unknown, response: ServerResponse): void {
    if (error instanceof MessageError) return refuse(response, error.status, error.message)
    if (response.destroyed) return
    this.#report(error)
    // the error of a workspace contains no host path, so the client may see the error
    if (isWorkspaceError(error)) return refuse(response, error.code === 'EBUSY' ? 503 : 500, error.message)
    refuse(response, 500, 'the request failed')
  }
}

/** The number of calls in a body, at least one. In a batch, notifications and other values do not count. */
function callsIn(body: unknown): number {
  if (!Array.isArray(body)) return 1
  const calls = body.filter((one) => typeof one === 'object' && one !== null && 'method' in one && 'id' in one)
  return Math.max(1, calls.length)
}

/** Ends a stream when the token that opened it expires. */
function endWith(subject: Subject | undefined, response: ServerResponse): void {
  if (subject?.expiresAt === undefined) return
  const left = Math.min(subject.expiresAt * 1000 - Date.now(), longestTimer)
  const timer = setTimeout(() => response.destroy(), left)
  response.once('close', () => clearTimeout(timer))
}
