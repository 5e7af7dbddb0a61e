import { expandBraces } from './braces.ts'
import { compileComponent, parseComponent } from './component.ts'
import type { Refuse } from './component.ts'
import { foldName } from '../path/fold.ts'
import { Alternative, anyDirectories } from './alternative.ts'
import { foldCharacters } from './folds.ts'
import { malformed } from './malformed.ts'
import { Names } from './names.ts'

export interface GlobOptions {
  /** Ignores case and Unicode normalisation, as a case-insensitive file system does. Default false. */
  readonly foldCase?: boolean | undefined
  /**
   * For callers who go from the top down and never below a match: of what `**` at the end matches, only the highest does, which
   * takes less time. Default false.
   */
  readonly topDown?: boolean | undefined
  /** Named in errors. Default `glob`. */
  readonly operation?: string | undefined
}

/** A compiled glob over absolute virtual paths. It holds no state, and any number of paths may be matched against it. */
export interface Glob {
  /** As it was given. */
  readonly pattern: string
  /**
   * How much of the glob may be compared with every name of a path, braces expanded: of the components before its last `**`
   * the characters of those with a wildcard, and 1 for each other.
   */
  readonly cost: number
  matches(path: string): boolean
  /** True when a path below this directory may match; false when none does, so that it need not be entered. */
  mayMatchBelow(directory: string): boolean
}

/** Characters (UTF-16 units) of a glob at most. */
const maxGlobLength = 1000

/** The {@link Glob.cost} of a glob at most, and of all globs together where several are asked about one path. */
export const maxGlobCost = 500

/**
 * Compiles a glob. Its syntax, where no other character is special:
 *
 * - `/` in front binds the glob to the root; without it the glob matches at any depth, as if it began with `/**` and a slash.
 * - `*` is any number of characters within a name, also none; `?` is one character (Unicode code point).
 * - `**` as a whole component is any number of directories, also none; at the end it is everything below. Elsewhere it is `*`.
 *   `/` at the end means the same as `/**`.
 * - `[a-z]` is one of these characters, `[!a-z]` or `[^a-z]` one of the others, never `/`. `]` right behind the opening is a
 *   member.
 * - `{a,b}` stands for two globs. Braces nest, and may hold `/`.
 * - `\` takes the meaning from the next character.
 *
 * Names that begin with a dot are names like all others. A glob that ends in `**` matches neither the directory itself nor
 * its parents. Matching takes at most as many steps as glob and path have characters, multiplied: a few milliseconds at worst.
 *
 * @throws WorkspaceError `EINVAL` for a glob that is empty, over 1,000 characters, not closed or not well-formed; that has `.`,
 * `..` or an empty name between slashes; that begins with `!`; whose braces nest more than 8 deep, stand for more than 256
 * globs, or come to more than 4,000 characters, 500 of them before a `**`.
 */
export function compileGlob(
  pattern: string,
  { foldCase = false, topDown = false, operation = 'glob' }: GlobOptions = {},
): Glob {
  checkGlob(pattern, operation)
  const refuse: Refuse = (reason, remedy) => malformed(pattern, operation, reason, remedy)
  const parsed = expandBraces(pattern, operation).map((one) => componentsOf(one, topDown, refuse))
  const cost = parsed.reduce((total, components) => total + costOf(components), 0)
  if (cost > maxGlobCost) {
    throw refuse(`stands for more than ${maxGlobCost} characters in front of a \`**\``, 'write a simpler one')
  }
  const compile = (fold?: (text: string) => string): Alternative[] =>
    parsed.map(
      (components) =>
        new Alternative(
          components.map((one) => (one === anyDirectories ? one : compileComponent(parseComponent(one, refuse), fold))),
        ),
    )
  if (!foldCase) {
    const alternatives = compile()
    return globOf({ pattern, cost }, (path, test) => test(alternatives, new Names(path, 'none')))
  }
  const byText = compile(foldName)
  const byCharacter = compile(foldCharacters)
  return globOf({ pattern, cost }, (path, test) => {
    const names = new Names(path, 'text')
    return test(byText, names) || (!names.isAscii && test(byCharacter, new Names(path, 'characters')))
  })
}

type Test = (alternatives: readonly Alternative[], names: Names) => boolean

const isMatch: Test = (alternatives, names) => alternatives.some((one) => one.matches(names))
const isAbove: Test = (alternatives, names) => alternatives.some((one) => one.mayMatchBelow(names))

function globOf(described: Pick<Glob, 'pattern' | 'cost'>, run: (path: string, test: Test) => boolean): Glob {
  return {
    ...described,
    matches: (path) => run(path, isMatch),
    mayMatchBelow: (directory) => run(directory, isAbove),
  }
}

/** Of the components before the last `**`: the characters of those with a wildcard, and one for each other. */
function costOf(components: readonly string[]): number {
  return components
    .slice(0, components.lastIndexOf(anyDirectories) + 1)
    .filter((component) => component !== anyDirectories)
    .reduce((total, component) => total + (/[*?[]/.test(component) ? component.length : 1), 0)
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

/** The components of a glob without braces, a leading `**` included. */
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
