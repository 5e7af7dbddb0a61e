import { compileGlob, maxGlobCost } from './glob.ts'
import type { Glob } from './glob.ts'
import { malformed } from './malformed.ts'

/** Says which files below a directory are meant. Paths are relative to it: `src/a.ts`, without a slash in front. */
export interface GlobFilter {
  /** The file is meant. */
  matches(path: string): boolean
  /** Nothing at or below this directory is meant: it need not be entered. */
  excludes(directory: string): boolean
}

/** Characters of a list of globs, all together, at most. */
const maxListLength = 4000

const everything: GlobFilter = { matches: () => true, excludes: () => false }

/**
 * Makes a filter of globs, in the syntax of {@link compileGlob}, for the search of a directory.
 *
 * A file is meant when at least one glob without `!` matches it (or there is none), and no glob with `!` excludes it. A glob
 * without `/` is about the name, at any depth. One with `/` is about the path below the directory that is searched; `/` or
 * `./` in front changes nothing else. A glob with `!` excludes a directory with everything below it.
 *
 * @throws WorkspaceError `EINVAL` for a glob that {@link compileGlob} refuses, and for a list of more than 4,000 characters,
 * or with more than 500 of them before a `**` (all characters of an excluding glob stand before one).
 */
export function createGlobFilter(globs: readonly string[] = [], operation = 'search'): GlobFilter {
  if (globs.length === 0) return everything
  const included: Glob[] = []
  const excluded: Glob[] = []
  let length = 0
  let cost = 0
  for (const glob of globs) {
    const compiled = compileGiven(glob, operation)
    if (glob.startsWith('!')) excluded.push(...compiled)
    else included.push(...compiled.slice(0, 1))
    length += glob.length
    cost += compiled.reduce((total, one) => total + one.cost, 0)
    if (length <= maxListLength && cost <= maxGlobCost) continue
    throw malformed(glob, operation, 'is one too many: the list takes too long to match', 'pass fewer or simpler globs')
  }
  const excludes = (path: string): boolean => excluded.some((glob) => glob.matches(`/${path}`))
  return {
    matches: (path) => (included.length === 0 || included.some((glob) => glob.matches(`/${path}`))) && !excludes(path),
    excludes,
  }
}

/** The glob; for one that excludes, also everything below its matches. */
function compileGiven(glob: unknown, operation: string): readonly [Glob, ...Glob[]] {
  if (typeof glob !== 'string') return [compileGlob(glob as string, { operation })]
  const isExcluding = glob.startsWith('!')
  const given = isExcluding ? glob.slice(1) : glob
  const rooted = given.includes('/') ? `/${given.replace(/^(?:\.?\/)+/u, '')}` : given
  const compiled = compileGlob(rooted, { operation })
  return isExcluding && !rooted.endsWith('/') ? [compiled, compileGlob(`${rooted}/**`, { operation })] : [compiled]
}
