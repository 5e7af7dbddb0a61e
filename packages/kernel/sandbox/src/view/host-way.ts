import { readlinkSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Links that are followed in one path, as on Linux. */
const mostLinks = 40

/**
 * Returns the directory, of those that `at` knows, into which a host path leads by any names and links. A command could exchange the target
 * there. Checks device and inode of each directory before its names, so no command can have made a followed link.
 *
 * @param path absolute
 * @param at answers for a directory's identity, `device:inode`
 */
export function directoryOnTheWay<Place>(path: string, at: (identity: string) => Place | undefined): Place | undefined {
  const names = namesOf(path)
  let links = 0
  for (let current = '/'; ; ) {
    const identity = identityAt(current)
    if (identity === undefined) return undefined
    const place = at(identity)
    if (place !== undefined || names.length === 0) return place
    const name = names.shift() ?? ''
    const next = name === '..' ? dirname(current) : join(current, name)
    const target = targetOf(next)
    if (target === undefined) current = next
    else {
      links += 1
      if (links > mostLinks) return undefined
      names.unshift(...namesOf(target))
      if (target.startsWith('/')) current = '/'
    }
  }
}

/** `device:inode` at a path; `undefined` if unreachable. */
export function identityAt(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined // see above
  }
}

const namesOf = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.')

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined // not a link, or nothing that can be reached
  }
}
