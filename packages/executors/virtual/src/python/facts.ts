import type { FsStat } from 'just-bash'
import { createHash } from 'node:crypto'

export interface Facts {
  readonly type: 'file' | 'directory' | 'symlink' | 'stream'
  readonly mode: number
  readonly size: number
  readonly modifiedAt: number
  /** The path without links. */
  readonly real: string
}

export interface Names {
  readonly name: string
  readonly type: Facts['type']
}

/** The number of an inode: equal for each path of one entry. */
export function numberOfPath(real: string): bigint {
  return BigInt(`0x${createHash('sha256').update(real).digest('hex').slice(0, 13)}`)
}

export function streamFacts(real: string): Facts {
  return { type: 'stream', mode: 0o600, size: 0, modifiedAt: 0, real }
}

export function typeOf({ isDirectory, isSymbolicLink }: Pick<FsStat, 'isDirectory' | 'isSymbolicLink'>): Facts['type'] {
  if (isDirectory) return 'directory'
  return isSymbolicLink ? 'symlink' : 'file'
}

export function factsOf(stat: FsStat, real: string): Facts {
  return { type: typeOf(stat), mode: stat.mode & 0o7777, size: stat.size, modifiedAt: stat.mtime.getTime(), real }
}
