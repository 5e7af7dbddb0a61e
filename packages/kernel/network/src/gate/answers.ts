import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'

import type { RequestAnswer } from '../requests/types.ts'
import { endToEnd, isPlainCoding } from './headers.ts'
import { type Refusal, refusals } from './refusals.ts'

/** Passes a host's answer on, or calls `fail`. Never throws: an error in its events would end the process. */
export function passAnswer(outgoing: ClientRequest, response: ServerResponse, fail: () => void): void {
  // Node silently drops headers beyond a maximum
  outgoing.maxHeadersCount = 0
  outgoing.on('response', (incoming) => {
    if (!isStatus(incoming.statusCode) || !copyHead(incoming, response)) {
      outgoing.destroy()
      return fail()
    }
    // Sends the headers now, since the body may never come. `flushHeaders` would encode them as UTF-8 instead of Latin-1.
    response.write('', 'latin1')
    incoming.pipe(response)
    // a body that ends too early must end too early for the client as well
    incoming.on('error', () => response.destroy())
  })
  // without a listener, Node drops the connection and reports nothing
  if (outgoing.listenerCount('upgrade') > 0) return
  outgoing.on('upgrade', (_, socket) => {
    socket.destroy()
    fail()
  })
}

/** Passes a requested 101 answer on. Returns false unless the new protocol is WebSocket and the head can be written. */
export function passSwitch(incoming: IncomingMessage, response: ServerResponse): boolean {
  if (incoming.headers.upgrade?.toLowerCase() !== 'websocket') return false
  if (!copyHead(incoming, response, { connection: 'Upgrade', upgrade: 'websocket' })) return false
  response.end()
  return true
}

const isStatus = (status = 0): boolean => status >= 200 && status <= 599

/** Writes the head without its reason phrase, which may contain any byte. Returns false if Node refuses the head. */
function copyHead(incoming: IncomingMessage, response: ServerResponse, more?: OutgoingHttpHeaders): boolean {
  if (!isPlainCoding(incoming.headers)) return false
  try {
    response.writeHead(incoming.statusCode ?? 0, { ...endToEnd(incoming), ...more })
    return true
  } catch {
    // the caller sends its own answer
    return false
  }
}

export function answer(response: ServerResponse, { status, headers, body = '' }: RequestAnswer): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' })
  response.end(response.req.method === 'HEAD' ? undefined : body)
}

export function refuse(response: ServerResponse, host: string, { outcome, reason, remedy }: Refusal): void {
  const text = `ws: \`${host.slice(0, 253)}\` ${reason}; ${remedy}\n`
  response.writeHead(outcome === 'denied' ? 403 : 502, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  })
  response.end(text)
}

export function failureOf({ code = '' }: NodeJS.ErrnoException): Refusal {
  return code.startsWith('HPE_') ? refusals.answer() : refusals.dial('unreachable')
}
