import type { ServerResponse } from 'node:http'

const parseError = -32_700
const invalidRequest = -32_600
const internalError = -32_603

/** Answers with an error of JSON-RPC. The rest of the request's body is thrown away as it comes. */
export function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent || response.destroyed) return void response.destroy()
  const code = status === 400 ? parseError : status >= 500 ? internalError : invalidRequest
  const body = JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })
  const later = status === 503 ? { 'retry-after': '1' } : {}
  response.writeHead(status, { 'content-type': 'application/json', ...later }).end(body)
  response.req.resume()
}

/** Sends an answer that the SDK made. */
export async function send(response: ServerResponse, answer: Response): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
  response.req.resume()
}
