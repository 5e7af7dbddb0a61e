const methods = ['GET', 'POST', 'HEAD', 'OPTIONS', 'CONNECT', 'DELETE', 'PUT', 'PRI', 'M-SEARCH', 'get', '']
const targets = [
  '/',
  '/a?b',
  '*',
  'http://api.test/',
  '/%00',
  'api.test:80',
  '//x',
  '/\x80',
  '/a b',
  `/${'a'.repeat(70_000)}`,
]
const headers = [
  ...['Host: api.test', 'Host: evil.test', 'Host:', 'Content-Length: 5', 'Content-Length: 0', 'Content-Length: 99'],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked', 'Connection: Upgrade', 'Connection: close'],
  ...['Connection: content-length, host', 'Upgrade: websocket', 'Upgrade: h2c', 'Expect: 100-continue', 'Expect: x'],
  ...['TE: trailers', 'Trailer: X', 'X: \xff', 'X: \x01', '__proto__: x', 'Sec-WebSocket-Key: x', ': x', 'X'],
]

/** A hostile client's text to `api.test`, one character per byte. The text may be truncated, or follow TLS bytes. */
export function drawRequests(draw: (limit: number) => number): string {
  const one = (list: readonly string[]): string => list[draw(list.length)] ?? ''
  const odd = (list: readonly string[]): string => (draw(3) === 0 ? one(list) : (list[0] ?? ''))
  const request = (): string => {
    const host = draw(9) === 0 ? '' : 'Host: api.test\r\n'
    const more = Array.from({ length: draw(4) }, () => `${one(headers)}\r\n`).join('')
    return `${odd(methods)} ${odd(targets)} HTTP/1.1\r\n${host}${more}\r\n${one(['', '', 'hello', '5\r\nhello\r\n0\r\n\r\n'])}`
  }
  const text = Array.from({ length: 1 + draw(3) }, request).join('')
  if (draw(10) === 0) return `\x16\x03\x01${text}`
  return draw(6) === 0 ? text.slice(0, draw(text.length)) : text
}
