/** Of files as resources. Not `file:`, which would be a path of this machine. */
const scheme = 'workspace://'

/** The resource of a file: `workspace:///src/app.ts`. */
export function uriOf(path: string): string {
  return scheme + path.split('/').map(encodeURIComponent).join('/')
}

/** The path of a resource, unchecked; `undefined` for a URI that is not one of ours. */
export function pathOf(uri: string): string | undefined {
  if (!uri.startsWith(`${scheme}/`)) return undefined
  try {
    return decodeURIComponent(uri.slice(scheme.length))
  } catch {
    return undefined
  }
}

/** Every file, for clients that fill in a path. */
export const uriTemplate = `${scheme}/{+path}`
