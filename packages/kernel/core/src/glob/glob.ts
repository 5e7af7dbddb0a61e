import { Automaton, anyDirectories } from './automaton.ts'
import type { Progress, GlobComponent } from './automaton.ts'
import { expandBraces } from './braces.ts'
import { compileComponent, withoutHidden } from './component.ts'
import type { Component, Refuse } from './component.ts'
import { malformed } from './malformed.ts'
import { namesOf } from './names.ts'
import type { Name } from './names.ts'

export interface GlobOptions {
  /** Ignores case and Unicode normalisation, as a case-insensitive file system does. Default false. */
  readonly foldCase?: boolean | undefined
  /** The operation in error messages. Default `glob`. */
  readonly operation?: string | undefined
}

/** A compiled glob for absolute virtual paths, without state. */
export interface Glob {
  readonly pattern: string
  /**
   * Maximum steps per character of a path. `*`, `*text` and `text*` count 1.
   * Other names count 1 for each wildcard, 1 for each text between wildcards, and 1 for every 8 characters.
   */
  readonly cost: number
  matches(path: string): boolean
  /** Returns false if no path below this directory matches. */
  mayMatchBelow(directory: string): boolean
}

const maxGlobLength = 1000

/** Maximum {@link Glob.cost} of a glob, or of all globs for the same path. */
export const maxGlobCost = 300

/**
 * Compiles a glob. Only these characters are special:
 *
 * - `/` at the start: the glob begins at the root. Without it, the glob matches at any depth.
 * - `*`: any number of characters of a name; `?`: one Unicode code point.
 * - `**` as a whole component: any number of directories; at the end: everything below. Elsewhere it means `*`. A final `/` means
 *   `/**`.
 * - `[a-z]`: one of these characters; `[!a-z]` or `[^a-z]`: any other character except `/`. A leading `]` is a member.
 * - `{a,b}`: two globs. Braces can be nested, and can contain `/`.
 * - `\`: the next character is not special.
 *
 * Wildcards also match a leading dot. A glob that ends in `**` does not match the directory itself.
 * A match takes at most {@link Glob.cost} times the characters of the path, in steps.
 *
 * @throws WorkspaceError `EINVAL` for a glob that is malformed, empty, above 1,000 characters or above 300 of {@link Glob.cost};
 * with `.`, `..`, an empty name or a leading `!`; or with braces more than 8 deep, above 256 globs or above 4,000 characters.
 */
export function compileGlob(pattern: string, options: GlobOptions = {}): Glob {
  if ('topDown' in options) throw malformed(pattern, 'compileGlob', 'has the removed option `topDown`', 'leave it out')
  const { foldCase = false } = options
  const { steps, cost } = stepsOf(pattern, options)
  const automaton = new Automaton([steps])
  const progressAt = (names: readonly Name[]): Progress =>
    names.reduce((above, name) => automaton.enter(above, name), automaton.start)
  return {
    pattern,
    cost,
    matches(path) {
      const names = namesOf(path, foldCase)
      const last = names.pop()
      return last !== undefined && automaton.match(progressAt(names), last) !== undefined
    },
    mayMatchBelow: (directory) => automaton.isOpen(progressAt(namesOf(directory, foldCase))),
  }
}

export interface Steps {
  /** One list for each glob of the brace expansion. Equal components are the same object. */
  readonly steps: readonly (readonly GlobComponent[])[]
  readonly cost: number
}

interface StepsOptions extends GlobOptions {
  /** True if wildcards match names that begin with a dot. Default true. */
  readonly hidden?: boolean | undefined
  /** For walks that never enter a match: a final `**` then matches only the first path below, which is faster. Default false. */
  readonly topDown?: boolean | undefined
}

export function stepsOf(
  pattern: string,
  { foldCase = false, topDown = false, operation = 'glob', hidden = true }: StepsOptions = {},
): Steps {
  checkGlob(pattern, operation)
  const refuse: Refuse = (reason, remedy) => malformed(pattern, operation, reason, remedy)
  const parsed = expandBraces(pattern, operation).map((one) => componentsOf(one, topDown, refuse))
  const known = new Map<string, Component>()
  const compile = (source: string): Component => {
    let component = known.get(source)
    component ??= hidden
      ? compileComponent(source, foldCase, refuse)
      : withoutHidden(source, compileComponent(source, foldCase, refuse))
    known.set(source, component)
    return component
  }
  const steps = parsed.map((components) => components.map((one) => (one === anyDirectories ? one : compile(one))))
  const cost = [...known.values()].reduce((total, component) => total + component.cost, 0)
  if (cost <= maxGlobCost) return { steps, cost }
  throw refuse(`takes too long to match: it has over ${maxGlobCost} wildcards, braces expanded`, 'write several globs')
}

function checkGlob(pattern: unknown, operation: string): asserts pattern is string {
  const refuse = (reason: string, remedy: string): Error => malformed(String(pattern), operation, reason, remedy)
  if (typeof pattern !== 'string') throw refuse('must be a string', 'pass a glob such as `*.ts`')
  if (pattern === '') throw refuse('is empty', 'pass a glob such as `*.ts`')
  if (pattern.length > maxGlobLength) {
    throw refuse(`has ${pattern.length} characters; the limit is ${maxGlobLength}`, 'write several globs')
  }
  if (pattern.includes('\0') || !pattern.isWellFormed()) {
    throw refuse('has a NUL character or a lone surrogate, which no name holds', 'remove it')
  }
  if (pattern.startsWith('!')) throw refuse('begins with `!`', 'write `\\!` for the character')
}

function componentsOf(glob: string, topDown: boolean, refuse: Refuse): string[] {
  if (glob === '') throw refuse('stands for an empty glob', 'leave the empty alternative out')
  const given = glob.split('/')
  const components: string[] = []
  if (given[0] === '') given.shift()
  else components.push(anyDirectories)
  if (given.at(-1) === '') given[given.length - 1] = anyDirectories
  for (const component of given) {
    if (component === anyDirectories) {
      if (components.at(-1) !== anyDirectories) components.push(anyDirectories)
      continue
    }
    if (component === '' || component === '.' || component === '..') {
      throw refuse('has an empty name, `.` or `..` between slashes, which no path has', 'remove it')
    }
    components.push(component)
  }
  if (components.at(-1) !== anyDirectories) return components
  // A final `**` matches everything below the directory, but not the directory itself.
  if (topDown && components.length > 1) components.pop()
  components.push('*')
  return components
}
