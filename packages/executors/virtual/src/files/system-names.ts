import { FileError } from '@ws/shell-tools/files'
import type { FsStat } from 'just-bash'

// Copied from `@ws/core`, which the worker does not import. A test compares both lists.
export const systemNames: ReadonlySet<string> = new Set(
  'bin dev etc lib lib32 lib64 libx32 proc run sbin sys usr'.split(' '),
)

export const discarding = new Set(['/dev/null', '/dev/zero'])
/** System names that the interpreter offers to scripts. Programs are looked up in directories such as `bin` and `node-gyp-bin`. */
export const offered = /^\/(?:dev\/(?:null|std(?:in|out|err)|fd(?:\/.*)?)|(?:.*\/)?(?:[^/]*bin|games)\/[^/]+)\/?$/
export const standardStream = /^\/dev\/std(?:in|out|err)$/

export function isSystem(path: string): boolean {
  return systemNames.has(path.split('/', 2)[1] ?? '')
}

/** @throws FileError `ENOTSUP`: the workspace has no synchronous operations */
export function checkSystem(path: string, call: string): void {
  if (!isSystem(path)) throw new FileError('ENOTSUP', call, path)
}

export function programs(path: string, stat: FsStat): FsStat {
  return stat.isFile && /^\/(?:usr\/)?bin\//.test(path) ? { ...stat, mode: 0o755 } : stat
}
