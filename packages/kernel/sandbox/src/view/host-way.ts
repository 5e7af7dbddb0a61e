import { readlinkSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Maximum number of links followed in one path, as on Linux. */
const mostLinks = 40

/**
 * Follows a host path and its links. Returns the first value that `at` gives for a directory. Commands could replace the path below it.
 * Checks the identity of each directory before its entries, so no command can have created a followed link.
 *
 * @param path absolute
 * @param at returns a value for a directory's identity, `device:inode`, or `undefined`
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

/** Returns `device:inode` of a path; `undefined` if unreachable. */
export function identityAt(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined // unreachable
  }
}

const namesOf = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.')

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined // not a link, or unreachable
  }
}
