import { WorkspaceError } from '../errors.ts'

/** Maximum bytes of a path, as on Linux (`PATH_MAX` with its NUL). */
const maxPathBytes = 4096
/** Maximum characters that `follow` resolves for one path with many `..`. Each call counts at least `leastFollowed`. */
const maxFollowed = 8192
const leastFollowed = 100

const encoder = new TextEncoder()

/** `C:\a`, `C:/a`, `\a` and `\\host\share`. Without a leading `/`, POSIX would read each as a name below the base. */
const windowsPath = /^(?:[a-z]:[\\/]|\\)/iu

/** @throws WorkspaceError `EINVAL` for a non-POSIX path, NUL or a lone surrogate; `ENAMETOOLONG` from 4,096 bytes */
export function checkHostPath(path: unknown, operation: string): asserts path is string {
  if (typeof path !== 'string') {
    throw new WorkspaceError({
      code: 'EINVAL',
      operation,
      reason: `the path must be a string, not ${path === null ? 'null' : typeof path}`,
      remedy: 'pass the path as a string',
    })
  }
  if (path.length >= maxPathBytes) throw tooLong(path, operation)
  if (windowsPath.test(path)) throw ofWindows(path, operation)
  const reason = path.includes('\0')
    ? 'contains a NUL character'
    : path.isWellFormed()
      ? undefined
      : 'contains a lone surrogate, which no file name can hold'
  if (reason === undefined) {
    if (path.length * 3 >= maxPathBytes && encoder.encode(path).length >= maxPathBytes) throw tooLong(path, operation)
    return
  }
  throw new WorkspaceError({ code: 'EINVAL', operation, path: path.toWellFormed(), reason, remedy: 'remove it' })
}

/** Returns the path of a string or a `file:` URL. @throws as `checkHostPath`, and `EINVAL` for a URL without a local file */
export function hostPathOf(given: unknown, operation: string): string {
  const path = given instanceof URL ? pathOfUrl(given, operation) : given
  checkHostPath(path, operation)
  if (/^[a-z][a-z0-9+.-]*:\/\//iu.test(path)) throw notOfFile(path, operation, 'is the text of a URL')
  return path
}

function pathOfUrl(url: URL, operation: string): string {
  const { protocol, host, pathname, search, hash } = url
  if (protocol !== 'file:') throw notOfFile(url.href, operation, `is a URL with the scheme \`${protocol}\``)
  if (host !== '') throw notOfFile(url.href, operation, 'is a URL of another machine')
  // an escaped slash would belong to a name, and no file name contains a slash
  if (search !== '' || hash !== '' || /%2f/iu.test(pathname)) {
    throw notOfFile(url.href, operation, 'is a URL with a query, a fragment or an escaped slash')
  }
  if (windowsPath.test(pathname.slice(1))) throw ofWindows(pathname, operation)
  try {
    return decodeURIComponent(pathname)
  } catch {
    throw notOfFile(url.href, operation, 'is a URL with an escape that is not UTF-8')
  }
}

function ofWindows(path: string, operation: string): WorkspaceError {
  const remedy = 'give a POSIX path, in WSL 2 such as `/mnt/c/project`; a file of that name as `./` and the name'
  return new WorkspaceError({
    code: 'EINVAL',
    operation,
    path: path.toWellFormed(),
    reason: 'is a Windows path',
    remedy,
  })
}

function notOfFile(path: string, operation: string, reason: string): WorkspaceError {
  const remedy = 'pass a path, or `new URL(…)` of a `file:` URL without a host'
  return new WorkspaceError({ code: 'EINVAL', operation, path: path.slice(0, maxPathBytes), reason, remedy })
}

function tooLong(path: string, operation: string): WorkspaceError {
  return new WorkspaceError({
    code: 'ENAMETOOLONG',
    operation,
    path: path.slice(0, maxPathBytes).toWellFormed(),
    reason: `is longer than ${maxPathBytes - 1} bytes`,
    remedy: 'give a shorter path',
  })
}

/**
 * Returns an absolute, normalised path. A relative `path` starts at `base`. `follow` resolves links, also before each `..`.
 * @throws WorkspaceError `EINVAL` for too many `..` after names
 */
export function resolveFrom(base: string, path: string, follow: (path: string) => string, operation: string): string {
  // `current` is already followed. `names` come after the last `..` and are not followed yet.
  let current = path.startsWith('/') ? '/' : base
  let names: string[] = []
  let followed = 0
  const advance = (): void => {
    if (names.length === 0) return
    const ahead = `${current === '/' ? '' : current}/${names.join('/')}`
    if (followed > maxFollowed) throw tooWinding(path, operation)
    followed += leastFollowed + ahead.length
    current = follow(ahead)
    names = []
  }
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') {
      names.push(segment)
      continue
    }
    advance()
    current = parentOf(current)
  }
  advance()
  return followed === 0 ? follow(current) : current
}

function tooWinding(path: string, operation: string): WorkspaceError {
  return new WorkspaceError({
    code: 'EINVAL',
    operation,
    path,
    reason: 'has too many `..` after names',
    remedy: 'give the path without `..`',
  })
}

/** Resolves a path as text, without following links. */
export function resolveLexically(base: string, path: string): string {
  const names = path.startsWith('/') || base === '/' ? [] : base.slice(1).split('/')
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment === '..') names.pop()
    else names.push(segment)
  }
  return `/${names.join('/')}`
}

export function contains(root: string, path: string): boolean {
  return path === root || path.startsWith(root === '/' ? '/' : `${root}/`)
}

/** Drops the first segment of a relative path if it equals `name`. Later segments with this name remain. */
export function stripFirstSegment(path: string, name: string): string {
  if (path.startsWith('/') || name === '') return path
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  return segments[0] === name ? segments.slice(1).join('/') : path
}

export function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')))
}
