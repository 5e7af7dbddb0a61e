import { hostHeaderValidation, originValidation, toNodeHandler } from '@modelcontextprotocol/node'
import type { NodeIncomingMessageLike } from '@modelcontextprotocol/node'
import { isJsonContentType, localhostAllowedHostnames } from '@modelcontextprotocol/server'
import { isWorkspaceError } from '@ws/core'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'

import { isListen, watchListened } from '../server/subscriptions.ts'
import { MessageError } from '../messages/errors.ts'
import { reportError } from '../report.ts'
import { refuse, send } from './answer.ts'
import { Gate } from './auth.ts'
import { readJson } from './body.ts'
import { Limit } from './limits.ts'
import { Subjects } from './subjects.ts'
import type { MakeServer } from './subjects.ts'
import { targetOf } from './target.ts'
import type { HttpOptions, Subject } from './types.ts'

const mebibyte = 1024 * 1024
const longestTimer = 2_147_483_647

type Guard = (request: IncomingMessage, response: ServerResponse) => boolean

/** Checks requests in a fixed order: host, origin, path, token, limits. Only then the protocol sees them. */
export class Front {
  readonly #path: string
  readonly #hosts: readonly string[]
  readonly #guards: readonly Guard[]
  readonly #gate: Gate | undefined
  readonly #calls: Limit
  readonly #streams: Limit
  readonly #bytes: Limit
  readonly #maxMessageBytes: number
  readonly #subjects: Subjects
  readonly #report: (error: unknown) => void

  constructor(options: HttpOptions, makeServer: MakeServer) {
    const { maxCalls = 16, maxStreams = 64, maxBodyBytes = 64 * mebibyte, maxMessageBytes = 4 * mebibyte } = options
    this.#path = options.path ?? '/mcp'
    this.#hosts = [...(options.allowedHosts ?? localhostAllowedHostnames())]
    this.#guards = [
      hostHeaderValidation([...this.#hosts]),
      originValidation([...(options.allowedOrigins ?? localhostAllowedHostnames())]),
    ]
    this.#gate = options.auth && new Gate(options.auth)
    this.#calls = new Limit(maxCalls)
    this.#streams = new Limit(maxStreams)
    this.#bytes = new Limit(maxBodyBytes)
    this.#maxMessageBytes = maxMessageBytes
    this.#report = options.onError ?? reportError
    this.#subjects = new Subjects(options, { maxStreams, makeServer, report: this.#report })
  }

  /** Answers a request, whatever it is. Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // a client that goes away is not a fault
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    try {
      if (this.#guards.every((guard) => guard(request, response))) await this.#admit(request, response)
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
    // the guards have seen the header alone
    if (!this.#hosts.includes(url.hostname)) return refuse(response, 403, 'the host of the address is not served')
    // the SDK puts the host before whatever stands here
    request.url = `${url.pathname}${url.search}`
    const metadata = this.#gate?.metadata(url, request.method ?? 'GET')
    if (metadata !== undefined) return send(response, metadata)
    if (url.pathname !== this.#path) return refuse(response, 404, `there is only ${this.#path}`)
    const subject = await this.#gate?.check(request.headers.authorization)
    if (subject instanceof Response) return send(response, subject)
    if (request.method === 'POST') return this.#post(request, response, subject)
    await this.#subjects.use(subject, ({ handler }) => toNodeHandler(handler)(asLike(request), response))
  }

  async #post(request: IncomingMessage, response: ServerResponse, subject: Subject | undefined): Promise<void> {
    if (!isJsonContentType(request.headers['content-type'] ?? '')) return refuse(response, 415, 'send application/json')
    const held: (() => void)[] = []
    response.once('close', () => {
      for (const free of held) free()
    })
    const take = (limit: Limit, share: number, reached: string): void => {
      const free = limit.take(share)
      if (free === undefined) throw new MessageError(503, `the server is busy: ${reached}`)
      held.push(free)
    }
    const body = await readJson(request, {
      most: this.#maxMessageBytes,
      take: (bytes) => take(this.#bytes, bytes, 'too many bytes are on their way'),
    })
    const isStream = isListen(body)
    if (isStream) {
      take(this.#streams, 1, 'too many streams are open')
      endWith(subject, response)
    } else {
      const calls = Array.isArray(body) ? body.length : 1
      if (calls > this.#calls.most) throw new MessageError(413, `a batch has at most ${this.#calls.most} messages`)
      take(this.#calls, calls, 'too many calls are running')
    }
    // shares that are taken after the client has gone would stay taken
    if (response.closed) return held.forEach((free) => free())
    await this.#subjects.use(subject, async ({ handler, source }) => {
      if (isStream) held.push(await watchListened(source.watch, body))
      if (response.closed) return held.forEach((free) => free())
      await toNodeHandler(handler, { onerror: this.#report })(asLike(request), response, body)
      if (!response.closed) await once(response, 'close')
    })
  }

  #fail(error: unknown, response: ServerResponse): void {
    if (error instanceof MessageError) return refuse(response, error.status, error.message)
    if (response.destroyed) return
    this.#report(error)
    // errors of a workspace are made for clients: they hold no path of this machine
    if (isWorkspaceError(error)) return refuse(response, error.code === 'EBUSY' ? 503 : 500, error.message)
    refuse(response, 500, 'the request failed')
  }
}

/** A stream ends with the token that opened it. */
function endWith(subject: Subject | undefined, response: ServerResponse): void {
  if (subject?.expiresAt === undefined) return
  const left = Math.min(subject.expiresAt * 1000 - Date.now(), longestTimer)
  const timer = setTimeout(() => response.destroy(), left)
  response.once('close', () => clearTimeout(timer))
}

/** The types of the adapter and of Node differ in optional fields only. */
function asLike(request: IncomingMessage): NodeIncomingMessageLike {
  return request as unknown as NodeIncomingMessageLike
}
