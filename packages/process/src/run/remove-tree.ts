import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  unlinkSync,
} from 'node:fs'
import { basename, dirname } from 'node:path'

const pathOnly = 0o10000000
/** How often a directory is emptied again that another process fills meanwhile. */
const attempts = 16
const directory = pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW

/**
 * Removes a directory with everything in it. Each step goes down one component by descriptor and follows no link, so a
 * process that exchanges entries meanwhile leads it nowhere else. Rights that are missing on a directory are taken.
 *
 * Without `/proc` (macOS) it goes by name.
 *
 * @param path canonical; does nothing where nothing is there
 * @throws the system's error where something cannot be removed
 */
export function removeTree(path: string): void {
  if (!existsSync('/proc/self/fd')) return rmSync(path, { recursive: true, force: true })
  const parent = opened(dirname(path))
  if (parent === undefined) return
  try {
    removeEntry(`/proc/self/fd/${parent}`, Buffer.from(basename(path)))
  } finally {
    closeSync(parent)
  }
}

function removeEntry(parent: string, name: Buffer): void {
  const entry = Buffer.concat([Buffer.from(`${parent}/`), name])
  for (let attempt = 1; ; attempt++) {
    try {
      return unlinkSync(entry)
    } catch (error) {
      const code = codeOf(error)
      if (code === 'ENOENT') return
      // As root or in some file systems, the answer for a directory is another one.
      if (code !== 'EISDIR' && code !== 'EPERM') throw error
    }
    empty(entry)
    try {
      return rmdirSync(entry)
    } catch (error) {
      const code = codeOf(error)
      if (code === 'ENOENT') return
      // It was filled, or exchanged for something else.
      if (attempt >= attempts || (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOTDIR')) throw error
    }
  }
}

function empty(entry: Buffer): void {
  const fd = opened(entry)
  if (fd === undefined) return
  const self = `/proc/self/fd/${fd}`
  try {
    if (process.getuid?.() !== 0) chmodSync(self, 0o700)
    for (const name of readdirSync(self, { encoding: 'buffer' })) removeEntry(self, name)
  } finally {
    closeSync(fd)
  }
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
