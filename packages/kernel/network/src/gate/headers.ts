import type { Agent, IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { Socket } from 'node:net'

export const maxHeaderSize = 64 * 1024

/** Hop-by-hop headers. Names in `Connection` do not count: such a header could frame the body, or a rule could have checked it. */
const hopByHop: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'upgrade'],
  ...['transfer-encoding', 'http2-settings'],
])

/** Whether a body is sent plain or in chunks. Any other coding would be lost in a copied message. */
export function isPlainCoding({ 'transfer-encoding': coding = '' }: IncomingHttpHeaders): boolean {
  return /^(?:chunked|identity)?$/iu.test(coding)
}

export function requestOptions(request: IncomingMessage, over: Socket | Agent, headers: OutgoingHttpHeaders) {
  const own = endToEnd(request)
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()))
  const hasBody = names.has('content-length') || request.headers['transfer-encoding'] !== undefined
  return {
    ...(over instanceof Socket ? { createConnection: () => over } : { agent: over }),
    method: request.method,
    path: request.url,
    setHost: false,
    maxHeaderSize,
    // Node ignores the case of names: if two headers have the same name, the last one is sent
    headers: { ...own, ...headers, ...(hasBody && !names.has('content-length') && { 'transfer-encoding': 'chunked' }) },
  }
}

/** End-to-end headers as written. Repeated headers become lists. */
export function endToEnd({ rawHeaders }: IncomingMessage): OutgoingHttpHeaders {
  const kept = new Map<string, { readonly name: string; readonly values: string[] }>()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    const key = name.toLowerCase()
    if (hopByHop.has(key)) continue
    const known = kept.get(key) ?? { name, values: [] }
    known.values.push(value)
    kept.set(key, known)
  }
  return Object.fromEntries(
    [...kept.values()].map(({ name, values }) => [name, values.length === 1 ? values[0] : values]),
  )
}
