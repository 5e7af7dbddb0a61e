import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { join } from 'node:path'

/** Entries that a look for links visits at most. */
const mostEntries = 50_000
const mostLinks = 40

export type LinkProblem = 'leaves' | 'too-many'

/** A link into the system's programs is the same for everybody: that of a virtual environment, say. */
const programTarget = /^\/(?:usr|bin|sbin|lib|lib64)\/(?!.*(?:^|\/)\.\.(?:\/|$))/

export interface WalkResult {
  /** Names below the mount's root after links; `undefined` when a link leaves it. */
  readonly names: readonly string[] | undefined
  /** How many of the first names are there, as directories that are not links. */
  readonly missing: boolean
  readonly linked: boolean
}

/**
 * Follows a path in a mount as the kernel would, and tells whether a link on it leaves the mount. Absolute targets
 * leave it: in a view they mean another file than here. The path can change before the command runs: without Landlock
 * this is a convenience, not a boundary.
 *
 * @param names may hold `..`
 * @param last what a link at the end is: `follow`, or `keep` for programs that work on the link itself
 */
export function walkLinks(root: string, names: readonly string[], last: 'follow' | 'keep'): WalkResult {
  const open = [...names]
  const done: string[] = []
  let links = 0
  let missing = false
  for (let name = open.shift(); name !== undefined; name = open.shift()) {
    if (name === '' || name === '.') continue
    if (name === '..') {
      if (done.pop() === undefined) return { names: undefined, missing, linked: links > 0 }
      continue
    }
    const stat = missing ? undefined : lookAt(join(root, ...done, name))
    if (stat === undefined) missing = true
    if (stat?.isSymbolicLink() && !(open.length === 0 && last === 'keep')) {
      const target = targetOf(join(root, ...done, name))
      if (programTarget.test(target) && open.length === 0) return { names: [...done, name], missing, linked: true }
      if (target.startsWith('/') || ++links > mostLinks) return { names: undefined, missing, linked: true }
      open.unshift(...target.split('/'))
      continue
    }
    done.push(name)
  }
  return { names: done, missing, linked: links > 0 }
}

/**
 * Looks for links in a directory, and those below it to a depth, that leave the mount.
 *
 * @param climbing also report links with `..`, which mean something else when they are moved
 */
export function findProblem(
  root: string,
  names: readonly string[],
  options: { readonly depth: number; readonly climbing?: boolean },
): LinkProblem | undefined {
  const open: { readonly names: readonly string[]; readonly depth: number }[] = [{ names, depth: options.depth }]
  let seen = 0
  for (let current = open.pop(); current !== undefined; current = open.pop()) {
    for (const entry of entriesOf(join(root, ...current.names))) {
      if (++seen > mostEntries) return 'too-many'
      const path = [...current.names, entry.name]
      if (entry.isSymbolicLink()) {
        if (walkLinks(root, path, 'follow').names === undefined) return 'leaves'
        if (options.climbing && climbs(join(root, ...path))) return 'leaves'
      } else if (entry.isDirectory() && current.depth > 1) open.push({ names: path, depth: current.depth - 1 })
    }
  }
  return undefined
}

/** True when a name in the directory begins with `-`. */
export function holdsOption(root: string, names: readonly string[]): boolean {
  return entriesOf(join(root, ...names)).some(({ name }) => name.startsWith('-'))
}

/** The status of an entry, without following a link; `undefined` for one that is missing or cannot be reached. */
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
