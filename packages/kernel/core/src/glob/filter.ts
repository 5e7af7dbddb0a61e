import { Descent } from '../path/descent.ts'
import { Automaton } from './automaton.ts'
import type { Progress } from './automaton.ts'
import { maxGlobCost, stepsOf } from './glob.ts'
import type { Steps } from './glob.ts'
import { malformed } from './malformed.ts'
import { nameOf } from './names.ts'
import type { Name } from './names.ts'

/** Selects files below a directory. Paths are relative to this directory and have no leading slash: `src/a.ts`. */
export interface GlobFilter {
  matches(path: string): boolean
  /** Returns true if no path at or below this directory matches. */
  excludes(directory: string): boolean
  /** Returns false if no path below this directory matches. */
  mayMatchBelow(directory: string): boolean
}

const maxListLength = 4000

const everything: GlobFilter = { matches: () => true, excludes: () => false, mayMatchBelow: () => true }

/**
 * Makes a filter of globs, in the syntax of `compileGlob`. If some globs have no `!`, a file must match one of these.
 * A glob with `!` excludes a match and everything below it. Without `/`, a glob matches the name at any depth, else the path.
 * If `hidden` is false, wildcards of globs without `!` do not match a leading dot of a name, as in a shell.
 *
 * @throws WorkspaceError `EINVAL` for a glob that `compileGlob` refuses, a list above 4,000 characters, or a total `cost` above 300
 */
export function createGlobFilter(globs: readonly string[] = [], operation = 'search', hidden = true): GlobFilter {
  if (globs.length === 0 && hidden) return everything
  const included: Steps[] = []
  const excluded: Steps[] = []
  let length = 0
  let cost = 0
  for (const glob of globs) {
    const all = stepsGiven(glob, operation, hidden)
    if (glob.startsWith('!')) excluded.push(...all)
    else included.push(...all)
    length += glob.length
    cost += all.reduce((total, one) => total + one.cost, 0)
    if (length <= maxListLength && cost <= maxGlobCost) continue
    throw malformed(glob, operation, 'is one too many: the list takes too long to match', 'pass fewer or simpler globs')
  }
  if (included.length === 0 && !hidden) included.push(stepsOf('*', { operation, hidden }))
  const includes = createMatcher(
    included.map(({ steps }) => steps),
    hidden,
  )
  const excludes = createMatcher(excluded.map(({ steps }) => steps))
  return {
    matches: (path) =>
      (included.length === 0 || includes.find(path) !== undefined) && excludes.find(path) === undefined,
    excludes: (path) => excludes.find(path) !== undefined,
    mayMatchBelow: (path) => (included.length === 0 || includes.isOpen(path)) && excludes.find(path) === undefined,
  }
}

interface Matcher {
  find(path: string): number | undefined
  isOpen(directory: string): boolean
}

/** Makes a matcher for many relative globs. Each glob has one or more lists of steps. */
export function createMatcher(globs: readonly Steps['steps'][], passesHidden = true): Matcher {
  if (globs.length === 0) return { find: () => undefined, isOpen: () => false }
  const automaton = new Automaton(globs, passesHidden)
  const lastOf = (path: string): Name => nameOf(path.slice(path.lastIndexOf('/') + 1), false)
  const directories = new Descent<Progress, string>('', automaton.start, (above, path) =>
    automaton.enter(above, lastOf(path)),
  )
  return {
    find(path) {
      const slash = path.lastIndexOf('/')
      const directory = slash < 0 || automaton.isFlat ? automaton.start : directories.at(path.slice(0, slash))
      return automaton.match(directory, lastOf(path))
    },
    isOpen: (directory) => automaton.isFlat || automaton.isOpen(directories.at(directory)),
  }
}

/** Returns the steps of a glob. For a `!` glob, adds steps for everything below its matches. */
function stepsGiven(glob: unknown, operation: string, includesHidden: boolean): Steps[] {
  if (typeof glob !== 'string') return [stepsOf(glob as string, { operation })]
  const isExcluding = glob.startsWith('!')
  const hidden = includesHidden || isExcluding
  const given = isExcluding ? glob.slice(1) : glob
  const rooted = given.includes('/') ? `/${given.replace(/^(?:\.?\/)+/u, '')}` : given
  const steps = stepsOf(rooted, { operation, hidden })
  return isExcluding && !rooted.endsWith('/') ? [steps, stepsOf(`${rooted}/**`, { operation })] : [steps]
}
