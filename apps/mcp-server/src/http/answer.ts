import type { IncomingMessage, ServerResponse } from 'node:http'

import { drained } from '../messages/drained.ts'
import { codeOf } from '../messages/errors.ts'

/** Bytes of a stream that wait for a client which does not read it. */
const maxUnread = 1024 * 1024

/** Answers with an error of JSON-RPC. The rest of the request's body is thrown away as it comes. */
export function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent || response.destroyed) return void response.destroy()
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: codeOf(status), message } })
  const later = status === 503 ? { 'retry-after': '1' } : {}
  response.writeHead(status, { 'content-type': 'application/json', ...later }).end(body)
  response.req.resume()
}

/** The request as the SDK takes it, without its body: that is parsed already. */
export function toRequest({ method = 'GET', headers }: IncomingMessage, url: URL, signal: AbortSignal): Request {
  const copied = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value ?? '']) copied.append(name, one)
  }
  return new Request(url, { method, headers: copied, signal })
}

export interface SendOptions {
  /** Milliseconds. */
  readonly unreadTimeout: number
  /** A stream of changes, whose events the SDK queues without an end while they are not taken. */
  readonly isStream: boolean
}

/** Sends an answer of the SDK. A client that takes nothing for `unreadTimeout`, or leaves 1 MiB unread, is disconnected. */
export async function send(response: ServerResponse, answer: Response, options: SendOptions): Promise<void> {
  const { unreadTimeout, isStream } = options
  response.on('timeout', () => response.destroy())
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  // the client hears that a stream is open before the first event
  if (isStream) response.flushHeaders()
  response.req.resume()
  const reader = answer.body?.getReader()
  // The end of the call, where the client has gone. At once: the next piece may be what a command prints at its end.
  const cancel = (): void => void reader?.cancel().catch(() => undefined)
  response.once('close', cancel)
  if (response.closed) cancel()
  try {
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
      if (response.destroyed) return
      if (response.write(piece.value)) continue
      if (isStream && response.writableLength > maxUnread) return void response.destroy()
      if (isStream) continue
      response.setTimeout(unreadTimeout)
      await drained(response)
      response.setTimeout(0)
    }
    response.end()
    response.setTimeout(unreadTimeout)
  } finally {
    if (response.destroyed) cancel()
  }
}
