import { Automaton, anyDirectories } from './automaton.ts'
import type { Progress, Step } from './automaton.ts'
import { expandBraces } from './braces.ts'
import { compileComponent, withoutHidden } from './component.ts'
import type { Component, Refuse } from './component.ts'
import { malformed } from './malformed.ts'
import { namesOf } from './names.ts'
import type { Name } from './names.ts'

export interface GlobOptions {
  /** Ignores case and Unicode normalisation, as a case-insensitive file system does. Default false. */
  readonly foldCase?: boolean | undefined
  /** Named in errors. Default `glob`. */
  readonly operation?: string | undefined
}

/** A compiled glob over absolute virtual paths, without state. */
export interface Glob {
  readonly pattern: string
  /**
   * The steps per character of a path, at worst. `*`, `*text` and `text*` count 1.
   * Other names count 1 for each wildcard, each text between, and every 8 characters.
   */
  readonly cost: number
  matches(path: string): boolean
  /** False if nothing below this directory matches. */
  mayMatchBelow(directory: string): boolean
}

const maxGlobLength = 1000

/** The highest {@link Glob.cost} of a glob, or of several about one path. */
export const maxGlobCost = 300

/**
 * Compiles a glob. Its syntax, where no other character is special:
 *
 * - `/` in front binds it to the root; without it the glob matches at any depth.
 * - `*` is any number of characters of a name; `?` is one Unicode code point.
 * - `**` as a whole component is any number of directories; at the end it is everything below. Elsewhere it is `*`. A final `/` means
 *   `/**`.
 * - `[a-z]` is one of these characters, `[!a-z]` or `[^a-z]` one of the others, never `/`. A leading `]` is a member.
 * - `{a,b}` stands for two globs. Braces nest, and may hold `/`.
 * - `\` takes the meaning from the next character.
 *
 * A leading dot is ordinary. A glob that ends in `**` does not match the directory itself.
 * Steps of a match: at most {@link Glob.cost} times the characters of the path.
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
  /** One list for each glob without braces. Equal components are one object. */
  readonly steps: readonly (readonly Step[])[]
  readonly cost: number
}

interface StepsOptions extends GlobOptions {
  /** Wildcards match names that begin with a dot. Default true. */
  readonly hidden?: boolean | undefined
  /** For walks from the top that never go below a match: a final `**` then matches only the highest path, faster. Default false. */
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
  // Everything below, but not the directory itself.
  if (topDown && components.length > 1) components.pop()
  components.push('*')
  return components
}
