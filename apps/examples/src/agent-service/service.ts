import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'

import { isWorkspaceError, WorkspaceError, type AccessEvent } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import type { Thread, Threads } from '@ws/threads'

import { Owners } from './users.ts'

export { bearerTokens } from './users.ts'

export interface ServiceOptions {
  readonly threads: Threads
  /** The threads' store, which records their owners. */
  readonly store: StorageAdapter
  /** The user of a request, or `undefined`. `bearerTokens` makes such a function. */
  readonly authenticate: (request: IncomingMessage) => string | undefined
  /** Called for each operation of each thread; the labels name thread and user. */
  readonly audit: (event: AccessEvent) => void
}

export interface Service {
  readonly server: Server
  /** Refuses new requests, aborts running ones, and closes every thread. Repeated calls are fine. */
  close(): Promise<void>
}

const statusOf: Readonly<Record<string, number>> = {
  ENOENT: 404,
  EACCES: 403,
  EROFS: 403,
  EBUSY: 409,
  ECONFLICT: 409,
  EFBIG: 413,
  EIO: 500,
  EBACKEND: 500,
  ENOEXECUTOR: 500,
  ECLOSED: 503,
  ETIMEDOUT: 504,
}
const maxBody = 1024 * 1024
const maxFile = 16 * 1024 * 1024

/** An error of the service, shaped like a workspace's. */
class Refusal extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }

  toJSON(): object {
    return { code: this.code, operation: 'service', reason: this.message }
  }
}

/**
 * An agent's back end: a thread for each conversation, which belongs to the user that opened it first.
 *
 * - `GET /threads/{id}/files{path}`, `PUT /threads/{id}/files{path}`: a file.
 * - `POST /threads/{id}/exec` with `{ "command": "…" }`: its output as it comes, then one line with the result as JSON.
 * - `GET /threads/{id}/skills`: the catalogue for a prompt.
 *
 * Every failure is `{ "error": { "code", "reason", … } }`.
 */
export function createService({ threads, store, authenticate, audit }: ServiceOptions): Service {
  const ending = new AbortController()
  const heard = new WeakSet<object>()
  const running = new Set<Promise<void>>()
  const owners = new Owners(store)

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    ending.signal.throwIfAborted()
    const userId = authenticate(request)
    if (userId === undefined) throw new Refusal(401, 'ENOTOKEN', 'the request needs a token that is known')
    const { threadId, path, route } = targetOf(request)
    // a vanished client ends its command
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const signal = AbortSignal.any([gone.signal, ending.signal])
    await owners.check(threadId, userId)
    await using thread = await threads.open({ threadId, userId, signal })
    await owners.claim(threadId, userId)
    if (!heard.has(thread.workspace)) thread.workspace.on('access', audit)
    heard.add(thread.workspace)
    if (route === 'GET files') response.end((await thread.workspace.read(path, { signal, maxBytes: maxFile })).bytes)
    else if (route === 'PUT files') {
      send(response, 200, await thread.workspace.write(path, bounded(request), { signal }))
    } else if (route === 'POST exec') await exec(thread, request, response, signal)
    else if (route === 'GET skills') response.end(await thread.formatCatalogue({ signal }))
    else throw new Refusal(404, 'ENOROUTE', `\`${route}\` is not a route of the service`)
  }

  const server = createServer((request, response) => {
    const done = handle(request, response).catch((error: unknown) => fail(response, error))
    running.add(done)
    void done.finally(() => running.delete(done))
  })
  const end = async (): Promise<void> => {
    server.close()
    const reason = 'the service is shutting down'
    ending.abort(new WorkspaceError({ code: 'ECLOSED', operation: 'service', reason, remedy: 'try again later' }))
    await Promise.all(running)
    server.closeAllConnections()
    await threads.close()
  }
  let closing: Promise<void> | undefined
  return { server, close: () => (closing ??= end()) }
}

/** `/threads/{id}/{verb}{path}`. */
function targetOf({ url = '/', method = 'GET' }: IncomingMessage) {
  try {
    const [, top, ...parts] = new URL(`http://service${url}`).pathname.split('/').map(decodeURIComponent)
    const [threadId = '', verb = '', ...rest] = parts
    if (top === 'threads') return { threadId, path: `/${rest.join('/')}`, route: `${method} ${verb}` }
  } catch {
    throw new Refusal(400, 'EADDRESS', 'the address is not valid')
  }
  throw new Refusal(404, 'ENOROUTE', 'there is only /threads/{id}/…')
}

async function exec(thread: Thread, request: IncomingMessage, response: ServerResponse, signal: AbortSignal) {
  const given: unknown = await json(bounded(request))
  const { command } = (typeof given === 'object' && given !== null ? given : {}) as { readonly command?: unknown }
  if (typeof command !== 'string') throw new Refusal(400, 'EINVAL', '`command` must be a string')
  await using running = await thread.workspace.spawn(command, { signal, timeout: 60_000 })
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' })
  const copy = async (stream: AsyncIterable<Uint8Array>): Promise<void> => {
    // wait for slow readers
    for await (const chunk of stream) if (!response.write(chunk)) await once(response, 'drain', { signal })
  }
  await Promise.all([copy(running.stdout), copy(running.stderr)])
  const { exitCode, timedOut } = await running.wait()
  response.end(`\n${JSON.stringify({ exitCode, timedOut })}\n`)
}

async function* bounded(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    // a workspace passes on only its own errors
    if (size > maxBody)
      throw new WorkspaceError({ code: 'EFBIG', operation: 'service', reason: 'the body is too large' })
    yield chunk
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** A workspace's errors hold no host path, so clients may see them; others stay here. */
function fail(response: ServerResponse, error: unknown): void {
  const known = error instanceof SyntaxError ? new Refusal(400, 'EJSON', 'the body is not JSON') : error
  const isOurs = known instanceof Refusal || isWorkspaceError(known)
  const shown: Refusal | WorkspaceError = isOurs ? known : new Refusal(500, 'EFAULT', 'the request failed')
  if (response.destroyed) return
  // output has begun: the last line says how it ended
  if (response.headersSent) return void response.end(`\n${JSON.stringify({ error: shown })}\n`)
  response.setHeader('connection', 'close')
  send(response, shown instanceof Refusal ? shown.status : (statusOf[shown.code] ?? 400), { error: shown })
}
