import { WorkspaceError } from '../errors.ts'

/** @throws WorkspaceError `EINVAL` for what can be no path: not a string, a NUL, a lone surrogate. */
export function checkHostPath(path: unknown, operation: string): asserts path is string {
  if (typeof path !== 'string') {
    throw new WorkspaceError({
      code: 'EINVAL',
      operation,
      reason: `the path must be a string, not ${path === null ? 'null' : typeof path}`,
      remedy: 'pass the path as a string',
    })
  }
  const reason = path.includes('\0')
    ? 'contains a NUL character'
    : path.isWellFormed()
      ? undefined
      : 'contains a lone surrogate, which no file name can hold'
  if (reason === undefined) return
  throw new WorkspaceError({ code: 'EINVAL', operation, path: path.toWellFormed(), reason, remedy: 'remove it' })
}

/**
 * An absolute, normalised path: `path`, taken from `base` when it is relative. Each `..` goes up from where `follow` says
 * the way so far leads, as the kernel does it: behind a link, that is not where the text came from.
 */
export function resolveFrom(base: string, path: string, follow: (path: string) => string): string {
  let current = path.startsWith('/') ? '/' : base
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment === '..') current = parentOf(follow(current))
    else current = current === '/' ? `/${segment}` : `${current}/${segment}`
  }
  return follow(current)
}

/** As it is written, without regard to links. */
export function resolveLexically(base: string, path: string): string {
  return resolveFrom(base, path, (current) => current)
}

/** Equal or below, by whole segments. Both are absolute and normalised. */
export function contains(root: string, path: string): boolean {
  return path === root || path.startsWith(root === '/' ? '/' : `${root}/`)
}

/** Takes the first segment off a relative path if it is `name`; once. */
export function stripFirstSegment(path: string, name: string): string {
  if (path.startsWith('/') || name === '') return path
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.')
  return segments[0] === name ? segments.slice(1).join('/') : path
}

/** The last segment; `""` for `/`. */
export function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')))
}
