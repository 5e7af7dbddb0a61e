import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { join } from 'node:path'

/** Entries that a look for links visits at most. */
const mostEntries = 50_000
const mostLinks = 40

/** A link into the system's programs is the same for everybody: that of a virtual environment, say. */
const programTarget = /^\/(?:usr|bin|sbin|lib|lib64)\/(?!.*(?:^|\/)\.\.(?:\/|$))/

/**
 * Follows a path in a mount as the kernel would. Absolute targets leave the mount: in a view they mean another file than
 * here. The path can change before the command runs: without Landlock this is a convenience, not a boundary.
 *
 * @param names may hold `..`
 * @param last what a link at the end is: `follow`, or `keep` for programs that work on the link itself
 * @returns the names below the mount's root after links; `undefined` when a link leaves it
 */
export function walkLinks(
  root: string,
  names: readonly string[],
  last: 'follow' | 'keep',
): readonly string[] | undefined {
  const open = [...names]
  const done: string[] = []
  let links = 0
  for (let name = open.shift(); name !== undefined; name = open.shift()) {
    if (name === '' || name === '.') continue
    if (name === '..') {
      if (done.pop() === undefined) return undefined
      continue
    }
    const stat = lookAt(join(root, ...done, name))
    if (stat?.isSymbolicLink() && !(open.length === 0 && last === 'keep')) {
      const target = targetOf(join(root, ...done, name))
      if (programTarget.test(target) && open.length === 0) return [...done, name]
      if (target.startsWith('/') || ++links > mostLinks) return undefined
      open.unshift(...target.split('/'))
      continue
    }
    done.push(name)
  }
  return done
}

/**
 * Looks for links in a directory, and those below it to a depth, that leave the mount. True as well where there is too
 * much to look at.
 *
 * @param climbing also report links with `..`, which mean something else when they are moved
 */
export function holdsProblem(
  root: string,
  names: readonly string[],
  options: { readonly depth: number; readonly climbing?: boolean },
): boolean {
  const open: { readonly names: readonly string[]; readonly depth: number }[] = [{ names, depth: options.depth }]
  let seen = 0
  for (let current = open.pop(); current !== undefined; current = open.pop()) {
    for (const entry of entriesOf(join(root, ...current.names))) {
      if (++seen > mostEntries) return true
      const path = [...current.names, entry.name]
      if (entry.isSymbolicLink()) {
        if (walkLinks(root, path, 'follow') === undefined) return true
        if (options.climbing && climbs(join(root, ...path))) return true
      } else if (entry.isDirectory() && current.depth > 1) open.push({ names: path, depth: current.depth - 1 })
    }
  }
  return false
}

/** True when a name in the directory begins with `-`. */
export function holdsOption(root: string, names: readonly string[]): boolean {
  return entriesOf(join(root, ...names)).some(({ name }) => name.startsWith('-'))
}

/** The status of an entry, without following a link; `undefined` if it is missing or cannot be reached. */
export function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined // below a file, too long, closed
  }
}

/** Where a link leads. One that was exchanged since it was seen counts as a link that leaves the mount. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    return '/..'
  }
}

/** A link with `..` in its target, which means something else when it is moved. */
export function climbs(link: string): boolean {
  return /(?:^|\/)\.\.(?:\/|$)/.test(targetOf(link))
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    return [] // not there, no directory, or closed to this process: then to the command as well
  }
}
