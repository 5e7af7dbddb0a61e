import { readlinkSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { nativeCode } from '../errors.ts'

/** As many as Linux follows in one path. */
const mostLinks = 40

/**
 * The canonical form of a host path, for `createPathManager`: links are resolved, and what does not exist is appended as it
 * is. A link to nothing leads to its target: that is where a write through it would create a file. Synchronous.
 *
 * @throws the system's error for anything but a missing part (`ELOOP`, `EACCES`, `ENOTDIR`).
 */
export function realpath(hostPath: string): string {
  const path = hostPath.startsWith('/') ? hostPath : `${process.cwd()}/${hostPath}`
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (nativeCode(error) !== 'ENOENT') throw error
    return walk(path, error)
  }
}

/** Component by component, since something on the way is missing; `..` goes up from where the way has led. */
function walk(path: string, missing: unknown): string {
  let rest = path.split('/')
  let current = '/'
  let links = 0
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === '' || name === '.') continue
    if (name === '..') {
      current = dirname(current)
      continue
    }
    const next = join(current, name)
    const target = linkTarget(next)
    if (target === undefined) {
      current = next
      continue
    }
    links += 1
    if (links > mostLinks)
      throw Object.assign(new Error('too many links', { cause: missing }), { code: 'ELOOP', syscall: 'realpath' })
    if (target.startsWith('/')) current = '/'
    rest = [...target.split('/'), ...rest]
  }
  return current
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch (error) {
    const code = nativeCode(error)
    if (code === 'EINVAL' || code === 'ENOENT') return undefined // no link, or nothing there
    throw error
  }
}
