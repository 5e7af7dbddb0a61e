import { expandBraces } from '../glob/braces.ts'
import { compileGlob } from '../glob/glob.ts'
import type { Glob } from '../glob/glob.ts'
import { baseName } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'

// eslint-disable-next-line no-control-regex -- tells ASCII from the rest
const literal = /^[\u0000-\u007f]+$/
const special = /[*?[\\]/

/** How a last name begins and ends that a glob with wildcards matches, in lower case. */
interface Ends {
  readonly start: string
  readonly end: string
}

/**
 * Globs that are asked together about many paths. Most last names are told apart by one look into a map, however many
 * globs there are. Case never matters.
 */
export class NameSet {
  readonly #globs: readonly Glob[]
  /** The others, when the path is ASCII. */
  readonly #wild: readonly { readonly glob: Glob; readonly given: string }[]
  /** By their last name: the ends of paths that match, and whole paths. */
  readonly #plain = new Map<string, { readonly end: string; readonly whole: boolean; readonly given: string }[]>()
  /** Last names that some glob ends in, and the ends of those that have a wildcard in their last name. */
  readonly #lastNames = new Set<string>()
  readonly #ends: readonly Ends[]

  /**
   * With `topDown` (default false), no path is asked about that lies below a match.
   *
   * @throws WorkspaceError `EINVAL` for a malformed glob.
   */
  constructor(patterns: readonly string[], topDown = false) {
    const compile = (pattern: string): Glob => compileRule(pattern, topDown)
    this.#globs = patterns.map(compile)
    const wild: { glob: Glob; given: string }[] = []
    const ends: Ends[] = []
    for (const given of patterns) {
      const all = expandBraces(anchor(given), 'rule')
      for (const one of all) this.#addLastName(one, ends)
      const isPlain = (one: string): boolean => !special.test(one) && literal.test(one) && !one.endsWith('/')
      for (const one of all) if (isPlain(one)) this.#addPlain(one.toLowerCase(), given)
      if (!all.every(isPlain)) wild.push({ glob: compile(given), given })
    }
    this.#wild = wild
    this.#ends = ends
  }

  #addLastName(glob: string, ends: Ends[]): void {
    const last = glob.slice(glob.lastIndexOf('/') + 1)
    // Folding takes characters beyond ASCII to others, and `/` or `**` at the end stands for any name.
    if (last === '' || last === '**' || !literal.test(last)) ends.push({ start: '', end: '' })
    else if (!special.test(last)) this.#lastNames.add(last.toLowerCase())
    else {
      const start = last.slice(0, last.search(special)).toLowerCase()
      const end = /[[\\]/.test(last) ? '' : last.slice(/.*[*?]/.exec(last)?.[0].length).toLowerCase()
      ends.push({ start, end })
    }
  }

  #addPlain(path: string, given: string): void {
    const whole = path.startsWith('/')
    const end = whole ? path : `/${path}`
    const last = baseName(end as VirtualPath)
    const same = this.#plain.get(last) ?? []
    same.push({ end, whole, given })
    this.#plain.set(last, same)
  }

  /** Some path that ends in this name may match. False for most names, at once. */
  mayMatchName(name: string): boolean {
    if (!literal.test(name)) return true
    const lower = name.toLowerCase()
    return (
      this.#lastNames.has(lower) || this.#ends.some(({ start, end }) => lower.startsWith(start) && lower.endsWith(end))
    )
  }

  /** The glob that matches, as it was given. */
  find(path: VirtualPath): string | undefined {
    if (!this.mayMatchName(baseName(path))) return undefined
    if (!literal.test(path)) return this.#globs.find((glob) => glob.matches(path))?.pattern
    const lower = path.toLowerCase()
    const plain = this.#plain
      .get(baseName(lower as VirtualPath))
      ?.find(({ end, whole }) => (whole ? lower === end : lower.endsWith(end)))
    return plain?.given ?? this.#wild.find(({ glob }) => glob.matches(path))?.given
  }

  /** A path below `directory` may match. */
  mayMatchBelow(directory: VirtualPath): boolean {
    return this.#globs.some((glob) => glob.mayMatchBelow(directory))
  }
}

/** `./x`, which has its meaning in a workspace, is `/x` without one. */
function anchor(pattern: string): string {
  return pattern.startsWith('./') ? pattern.slice(1) : pattern
}

function compileRule(pattern: string, topDown: boolean): Glob {
  const glob = compileGlob(typeof pattern === 'string' ? anchor(pattern) : pattern, {
    foldCase: true,
    topDown,
    operation: 'rule',
  })
  return { ...glob, pattern }
}
