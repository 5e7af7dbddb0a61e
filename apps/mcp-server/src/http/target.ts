import type { IncomingMessage } from 'node:http'

/** A request's URL; `undefined` if invalid. In `POST http://host/mcp` from a proxy, the host overrides the header (RFC 9112, 3.2.2). */
export function targetOf({ url = '/', headers: { host = 'server' } }: IncomingMessage): URL | undefined {
  const text = url.startsWith('/') ? `http://${host}${url}` : url
  if (!/^https?:\/\//iu.test(text) || !URL.canParse(text)) return undefined
  const target = new URL(text)
  return target.username === '' && target.password === '' ? target : undefined
}
