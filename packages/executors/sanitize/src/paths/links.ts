import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { join } from 'node:path'

/** Limit of entries that a search for links visits. */
const mostEntries = 50_000
const mostLinks = 40

/** Targets among the system's programs. Links to them, such as those of a virtual environment, are harmless. */
const programTarget = /^\/(?:usr|bin|sbin|lib|lib64)\/(?!.*(?:^|\/)\.\.(?:\/|$))/

/**
 * Follows a path in a mount as the kernel would. Absolute targets count as leaving the mount, because they differ in a view.
 * The path can change before the command runs: without Landlock this is no boundary.
 * @param names may hold `..` @param last `keep` for programs that work on a final link itself
 * @returns the names below the mount's root after links; `undefined` if a link leaves the mount
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

/** True if a link down to a depth leaves the mount, or if there are too many entries. @param climbing also report links with `..` */
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

/** Stats a path without following a link; `undefined` for a missing or unreachable entry. */
export function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined // below a file, too long, closed
  }
}

/** The target of a link. A link that was replaced meanwhile counts as leaving the mount. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    return '/..'
  }
}

/** True for a link with `..`, whose meaning changes after a move. */
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
