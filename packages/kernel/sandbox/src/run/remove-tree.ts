import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  unlinkSync,
} from 'node:fs'
import { basename, dirname } from 'node:path'

const pathOnly = 0o10000000
/** Maximum attempts to empty a directory into which another process writes. */
const attempts = 16
const directory = pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW // @defence ` | constants.O_NOFOLLOW` a directory that commands used: goes nowhere else

/** Maximum number of directories open at the same time. */
const mostOpen = 32

/**
 * Removes a directory tree by descriptor, one component at a time. Follows no link; a replaced entry cannot redirect the removal. Adds
 * missing rights to directories. The number of open descriptors does not grow with the depth. Without `/proc` (macOS), removes by name.
 *
 * @param path canonical; a missing path is not an error
 * @throws the system's error if an entry cannot be removed
 */
export function removeTree(path: string): void {
  if (!existsSync('/proc/self/fd')) return rmSync(path, { recursive: true, force: true })
  const parent = opened(dirname(path))
  if (parent === undefined) return
  const levels: Level[] = [{ fd: parent, names: [Buffer.from(basename(path))], attempts: 0 }]
  try {
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const name = level.names.at(-1)
      if (name === undefined) leave(levels)
      else if (isUnlinked(level, name)) done(level)
      else enter(levels, level, name)
    }
  } finally {
    for (const { fd } of levels) if (fd >= 0) closeSync(fd)
  }
}

interface Level {
  /** The directory's descriptor. -1: closed, to be opened again from the level below. */
  fd: number
  identity?: string
  /** The remaining entries. The last name is removed first. */
  names: Buffer[]
  /** Number of attempts to remove the next entry. */
  attempts: number
}

function done(level: Level): void {
  level.names.pop()
  level.attempts = 0
}

function entryOf({ fd }: Level, name: Buffer | string): Buffer {
  return Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), Buffer.from(name)])
}

function isUnlinked(level: Level, name: Buffer): boolean {
  try {
    unlinkSync(entryOf(level, name))
  } catch (error) {
    const code = codeOf(error)
    // For a directory, root and some file systems return other codes than EISDIR.
    if (code === 'EISDIR' || code === 'EPERM') return false
    if (code !== 'ENOENT') throw error
  }
  return true
}

function enter(levels: Level[], level: Level, name: Buffer): void {
  level.attempts += 1
  const fd = opened(entryOf(level, name))
  if (fd === undefined) return removeEmpty(level, name)
  const next: Level = { fd, names: [], attempts: 0 }
  const far = levels[levels.push(next) - 1 - mostOpen]
  const self = `/proc/self/fd/${fd}`
  if (process.getuid?.() !== 0) chmodSync(self, 0o700)
  next.names = readdirSync(self, { encoding: 'buffer' })
  if (far === undefined || far.fd < 0) return
  far.identity = identityOf(far.fd)
  closeSync(far.fd)
  far.fd = -1
}

function leave(levels: Level[]): void {
  const below = levels.pop()
  const level = levels.at(-1)
  if (below === undefined) return
  try {
    if (level?.fd === -1) {
      const fd = openSync(entryOf(below, '..'), directory)
      if (identityOf(fd) === level.identity) level.fd = fd
      else {
        closeSync(fd)
        throw Object.assign(new Error('a directory was moved while it was removed'), { code: 'EBUSY' })
      }
    }
  } finally {
    closeSync(below.fd)
  }
  const name = level?.names.at(-1)
  if (level !== undefined && name !== undefined) removeEmpty(level, name)
}

function removeEmpty(level: Level, name: Buffer): void {
  try {
    rmdirSync(entryOf(level, name))
  } catch (error) {
    const code = codeOf(error)
    if (code !== 'ENOENT') {
      // The directory got new entries, or another entry replaced it: it is examined again.
      if (level.attempts < attempts && (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR')) return
      throw error
    }
  }
  done(level)
}

function identityOf(fd: number): string {
  const { dev, ino } = fstatSync(fd, { bigint: true })
  return `${dev}:${ino}`
}

function opened(path: string | Buffer): number | undefined {
  try {
    return openSync(path, directory)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined
    throw error
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
