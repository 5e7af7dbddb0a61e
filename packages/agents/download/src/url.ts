import { problems } from './errors.ts'

/** @throws WorkspaceError `EINVAL` */
export function checkUrl(text: string, base?: URL): URL {
  if (typeof text !== 'string' || text.length > 8192 || !URL.canParse(text, base?.href))
    throw problems.url('the URL cannot be read')
  const url = new URL(text, base?.href)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw problems.url(`\`${url.protocol}\` is not \`http:\` or \`https:\``)
  if (url.username !== '' || url.password !== '') throw problems.url('the URL holds a user or a password')
  url.hash = ''
  return url
}

/** The target of a redirect. @throws WorkspaceError `EINVAL`, `EACCES` from `https` to `http` */
export function nextUrl(from: URL, location: string): URL {
  const url = checkUrl(utf8Of(location), from)
  if (from.protocol === 'https:' && url.protocol === 'http:') throw problems.downgrade()
  return url
}

/** Decodes a header again as UTF-8: a client may read UTF-8 as Latin-1. Invalid UTF-8 stays unchanged. */
function utf8Of(header: string): string {
  // oxlint-disable-next-line no-control-regex -- a byte
  if (!/[\u0080-\u00ff]/.test(header) || /[^\u0000-\u00ff]/.test(header)) return header
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(header, 'latin1'))
  } catch {
    return header
  }
}
