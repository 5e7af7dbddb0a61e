import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { join } from 'node:path'

/** Entries that a search for links visits at most. */
const mostEntries = 50_000
const mostLinks = 40

/** A link to the system's programs is harmless: that of a virtual environment, say. */
const programTarget = /^\/(?:usr|bin|sbin|lib|lib64)\/(?!.*(?:^|\/)\.\.(?:\/|$))/

/**
 * Follows a path in a mount as the kernel would. Absolute targets leave the mount, as they differ in a view.
 * The path can change before the command runs: without Landlock this is no boundary.
 * @param names may hold `..` @param last `keep` for programs that work on a final link itself
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

/** Finds links that leave the mount, down to a depth. True also for too many entries. @param climbing also report links with `..` */
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

/** Whether a name in the directory begins with `-`. */
export function holdsOption(root: string, names: readonly string[]): boolean {
  return entriesOf(join(root, ...names)).some(({ name }) => name.startsWith('-'))
}

/** Without following a link; `undefined` for a missing or unreachable entry. */
export function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined // below a file, too long, closed
  }
}

/** A link exchanged meanwhile counts as one that leaves the mount. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    return '/..'
  }
}

/** A link with `..` changes its meaning when moved. */
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
