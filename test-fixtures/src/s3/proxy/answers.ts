import type { ServerResponse } from 'node:http'

import { statusCodes, type Fault } from './faults.ts'
import type { Exchange } from './forward.ts'

export type Failure = Extract<Fault, { kind: 'status' | 'reset' | 'hang' }>

export function failAnswer({ request, response, recorded }: Exchange, fault: Failure): void {
  if (fault.kind === 'reset') request.socket.resetAndDestroy()
  if (fault.kind !== 'status') return
  const headers: Record<string, string> = fault.retryAfter === undefined ? {} : { 'retry-after': `${fault.retryAfter}` }
  recorded.status = fault.status
  endWith(response, fault.status, errorDocument(statusCodes[fault.status]), headers)
}

export function answerInstead(
  { response, recorded }: Exchange,
  fault: Extract<Fault, { kind: 'refuse' | 'html' }>,
): void {
  recorded.status = fault.status
  if (fault.kind === 'refuse') endWith(response, fault.status, errorDocument(fault.code))
  else endWith(response, fault.status, '<html><body>Please sign in</body></html>', { 'content-type': 'text/html' })
}

function endWith(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  const length = Buffer.byteLength(body)
  response.writeHead(status, { 'content-type': 'application/xml', 'content-length': length, ...headers })
  response.end(body)
}

function errorDocument(code: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>injected</Message></Error>`
}
