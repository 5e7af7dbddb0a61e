import type { IncomingMessage, ServerResponse } from 'node:http'

import { drained } from '../messages/drained.ts'
import { codeOf } from '../messages/errors.ts'

/** Limit of stream bytes that a client leaves unread. */
const maxUnread = 1024 * 1024

/** Answers with a JSON-RPC error, and discards the rest of the body. */
export function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent || response.destroyed) return void response.destroy()
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: codeOf(status), message } })
  const later = status === 503 ? { 'retry-after': '1' } : {}
  response.writeHead(status, { 'content-type': 'application/json', ...later }).end(body)
  response.req.resume()
}

/** Converts a request, without its body, which the caller has already parsed. */
export function toRequest({ method = 'GET', headers }: IncomingMessage, url: URL, signal: AbortSignal): Request {
  const copied = new Headers()
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [value ?? '']) copied.append(name, one)
  }
  return new Request(url, { method, headers: copied, signal })
}

export interface SendOptions {
  readonly unreadTimeout: number
  /** True for a stream of changes: the SDK queues unread events of a stream without limit. */
  readonly isStream: boolean
}

/** Sends an answer of the SDK. Disconnects a client that reads nothing for `unreadTimeout`, or leaves 1 MiB unread. */
export async function send(response: ServerResponse, answer: Response, options: SendOptions): Promise<void> {
  const { unreadTimeout, isStream } = options
  response.on('timeout', () => response.destroy())
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  // before the first event, tell the client that the stream is open
  if (isStream) response.flushHeaders()
  response.req.resume()
  const reader = answer.body?.getReader()
  // A lost connection ends the call at once, since a command may print nothing until its end.
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
