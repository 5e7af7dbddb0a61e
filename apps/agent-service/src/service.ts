import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'

import { isWorkspaceError, WorkspaceError, type AccessEvent } from '@ws/core'
import type { Thread, Threads } from '@ws/threads'

export interface ServiceOptions {
  readonly threads: Threads
  /** The user of a request, or `undefined` where it proves nobody. */
  readonly authenticate: (request: IncomingMessage) => string | undefined
  /** Hears of every operation of every thread; the labels name thread and user. */
  readonly audit: (event: AccessEvent) => void
}

export interface Service {
  readonly server: Server
  /** Takes no more requests, aborts those that run, and closes every thread. */
  close(): Promise<void>
}

const statusOf: Readonly<Record<string, number>> = { ENOENT: 404, EACCES: 403, EROFS: 403, EBUSY: 409, ECONFLICT: 409 }
const maxBody = 1024 * 1024

/**
 * An agent's back end: a thread for each conversation.
 *
 * - `GET /threads/{id}/files{path}`, `PUT /threads/{id}/files{path}`: a file.
 * - `POST /threads/{id}/exec` with `{ "command": "…" }`: its output as it comes, then one line with the result as JSON.
 * - `GET /threads/{id}/skills`: the catalogue for a prompt.
 */
export function createService({ threads, authenticate, audit }: ServiceOptions): Service {
  const ending = new AbortController()
  const heard = new WeakSet<object>()
  const running = new Set<Promise<void>>()

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const userId = authenticate(request)
    if (userId === undefined) return send(response, 401, { error: 'a token is needed' })
    const [, top, threadId = '', verb = '', ...rest] = new URL(request.url ?? '/', 'http://service').pathname.split('/')
    if (top !== 'threads') return send(response, 404, { error: 'there is only /threads/{id}/…' })
    // a client that goes away ends its command
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const signal = AbortSignal.any([gone.signal, ending.signal])
    await using thread = await threads.open({ threadId, userId, signal })
    if (!heard.has(thread.workspace)) thread.workspace.on('access', audit)
    heard.add(thread.workspace)
    const path = `/${rest.map(decodeURIComponent).join('/')}`
    const route = `${request.method} ${verb}`
    if (route === 'GET files') {
      const { bytes } = await thread.workspace.read(path, { signal })
      response.end(bytes)
    } else if (route === 'PUT files') {
      send(response, 200, await thread.workspace.write(path, bounded(request), { signal }))
    } else if (route === 'POST exec') await exec(thread, request, response, signal)
    else if (route === 'GET skills') response.end(await thread.formatCatalogue({ signal }))
    else send(response, 404, { error: `${route} is not known` })
  }

  const server = createServer((request, response) => {
    const done = handle(request, response).catch((error: unknown) => fail(response, error))
    running.add(done)
    void done.finally(() => running.delete(done))
  })
  return {
    server,
    async close() {
      server.close()
      ending.abort(
        new WorkspaceError({ code: 'ECLOSED', operation: 'service', reason: 'the service is shutting down' }),
      )
      await Promise.all(running)
      server.closeAllConnections()
      await threads.close()
    },
  }
}

async function exec(
  thread: Thread,
  request: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const { command } = (await json(bounded(request))) as { readonly command?: unknown }
  if (typeof command !== 'string') return send(response, 400, { error: '`command` must be a string' })
  await using running = await thread.workspace.spawn(command, { signal, timeout: 60_000 })
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' })
  const copy = async (stream: AsyncIterable<Uint8Array>): Promise<void> => {
    for await (const chunk of stream) response.write(chunk)
  }
  await Promise.all([copy(running.stdout), copy(running.stderr)])
  const { exitCode, timedOut } = await running.wait()
  response.end(`\n${JSON.stringify({ exitCode, timedOut })}\n`)
}

async function* bounded(request: IncomingMessage): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBody)
      throw new WorkspaceError({ code: 'EFBIG', operation: 'service', reason: 'the body is too large' })
    yield chunk
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** Errors of a workspace are made for clients: they hold no path of this machine. */
function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent || response.destroyed) return void response.destroy()
  if (!isWorkspaceError(error))
    return send(response, error instanceof SyntaxError ? 400 : 500, { error: 'the request failed' })
  send(response, statusOf[error.code] ?? 400, { error })
}
