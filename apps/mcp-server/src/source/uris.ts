/** The scheme of workspace URIs. `file:` would mean a host path. */
const scheme = 'workspace://'

export function uriOf(path: string): string {
  return scheme + path.split('/').map(encodeURIComponent).join('/')
}

/** Characters of the URI of the longest path, if each of its 4,095 bytes is escaped. */
const maxUriLength = 4_095 * 3 + scheme.length

/** The path in a URI, unchecked; `undefined` for another scheme, or for a URI that is longer than any path. */
export function pathOf(uri: string): string | undefined {
  if (!uri.startsWith(`${scheme}/`) || uri.length > maxUriLength) return undefined
  try {
    return decodeURIComponent(uri.slice(scheme.length))
  } catch {
    return undefined
  }
}

/** A URI template for all files, for clients that fill in a path. */
export const uriTemplate = `${scheme}/{+path}`
