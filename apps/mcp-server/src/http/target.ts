import type { IncomingMessage } from 'node:http'

/**
 * The address of a request. A proxy may send it in absolute form, `POST http://host/mcp`, whose host counts instead of
 * the `Host` header (RFC 9112, 3.2.2). `undefined` for an invalid address.
 */
export function targetOf({ url = '/', headers: { host = 'server' } }: IncomingMessage): URL | undefined {
  const text = url.startsWith('/') ? `http://${host}${url}` : url
  if (!/^https?:\/\//iu.test(text) || !URL.canParse(text)) return undefined
  const target = new URL(text)
  return target.username === '' && target.password === '' ? target : undefined
}
