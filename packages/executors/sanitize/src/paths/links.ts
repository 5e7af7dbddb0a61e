import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { join } from 'node:path'

/** Maximum number of entries that a search for links visits. */
const mostEntries = 50_000
const mostLinks = 40

/** Matches link targets among the system's programs. Such links, as in a virtual environment, are harmless. */
const programTarget = /^\/(?:usr|bin|sbin|lib|lib64)\/(?!.*(?:^|\/)\.\.(?:\/|$))/

/**
 * Follows a path in a mount as the kernel would. An absolute target counts as leaving the mount, because it differs in a view.
 * The path can change before the command runs. Without Landlock, this check is therefore not a boundary.
 * @param names may contain `..` @param last `keep` for programs that use a final link itself
 * @returns the names below the mount's root after all links; `undefined` if a link leaves the mount
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

/** Returns true if a link within the depth leaves the mount, or there are too many entries. @param climbing report links with `..` too */
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

/** Returns whether a name in the directory begins with `-`. */
export function holdsOption(root: string, names: readonly string[]): boolean {
  return entriesOf(join(root, ...names)).some(({ name }) => name.startsWith('-'))
}

/** Returns the stat of a path without following a link at its end; `undefined` for a missing or unreachable entry. */
export function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined // below a file, too long, or unreadable
  }
}

/** Returns the target of a link. If the link was replaced meanwhile, returns a target that leaves the mount. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    return '/..'
  }
}

/** Returns true for a link with `..`, whose target changes if the link is moved. */
export function climbs(link: string): boolean {
  return /(?:^|\/)\.\.(?:\/|$)/.test(targetOf(link))
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    return [] // missing, not a directory, or unreadable for this process and so for the command
  }
}
