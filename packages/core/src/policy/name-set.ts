import { expandBraces } from '../glob/braces.ts'
import { compileGlob } from '../glob/glob.ts'
import type { Glob } from '../glob/glob.ts'
import { baseName } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'

// eslint-disable-next-line no-control-regex -- tells ASCII from the rest
const literal = /^[\u0000-\u007f]+$/
const special = /[*?[\\]/

/**
 * Globs that are asked together about many paths. Most are plain names: those are looked up by the last one, which takes
 * as long for a hundred as for one. Case never matters.
 */
export class NameSet {
  readonly #globs: readonly Glob[]
  /** The others, when the path is ASCII. */
  readonly #wild: readonly { readonly glob: Glob; readonly given: string }[]
  /** By their last name: the ends of paths that match, and whole paths. */
  readonly #plain = new Map<string, { readonly end: string; readonly whole: boolean; readonly given: string }[]>()

  /**
   * With `topDown` (default false), no path is asked about that lies below a match.
   *
   * @throws WorkspaceError `EINVAL` for a malformed glob.
   */
  constructor(patterns: readonly string[], topDown = false) {
    const compile = (pattern: string): Glob => compileRule(pattern, topDown)
    this.#globs = patterns.map(compile)
    const wild: { glob: Glob; given: string }[] = []
    for (const given of patterns) {
      const all = expandBraces(anchor(given), 'rule')
      const isPlain = (one: string): boolean => !special.test(one) && literal.test(one) && !one.endsWith('/')
      for (const one of all) if (isPlain(one)) this.#addPlain(one.toLowerCase(), given)
      if (!all.every(isPlain)) wild.push({ glob: compile(given), given })
    }
    this.#wild = wild
  }

  #addPlain(path: string, given: string): void {
    const whole = path.startsWith('/')
    const end = whole ? path : `/${path}`
    const last = baseName(end as VirtualPath)
    const same = this.#plain.get(last) ?? []
    same.push({ end, whole, given })
    this.#plain.set(last, same)
  }

  /** The glob that matches, as it was given. */
  find(path: VirtualPath): string | undefined {
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
