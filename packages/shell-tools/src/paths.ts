/** Makes a path absolute, without `.` and empty segments. Keeps a final slash, and a `..` after a name, which may be a link. */
export function tidyPath(path: string): string {
  const kept: string[] = []
  const segments = path.split('/')
  for (const segment of segments) {
    if (segment === '' || segment === '.') continue
    if (segment === '..' && kept.length === 0) continue // as in the kernel, `/..` is `/`
    kept.push(segment)
  }
  if (kept.length === 0) return '/'
  const last = segments.at(-1)
  return `/${kept.join('/')}${last === '' || last === '.' ? '/' : ''}`
}

export function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

export function parentOf(path: string): string {
  return withoutSlash(path).replace(/\/[^/]*$/, '') || '/'
}

export function nameOf(path: string): string {
  return withoutSlash(path).replace(/^.*\//s, '')
}

export function childOf(directory: string, name: string): string {
  return directory.endsWith('/') ? `${directory}${name}` : `${directory}/${name}`
}
