import { WorkspaceError } from '../errors.ts'
import { parentPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { rightsOf } from './access.ts'
import { NameSet } from './name-set.ts'
import type { PatternRule } from './types.ts'

/** Where a rule by pattern holds. */
export interface PatternMatch {
  /** The highest path that matches, at or above the one that was asked for. Everything below it is under the rule. */
  readonly at: VirtualPath
  /** The pattern, as it was written. */
  readonly pattern: string
}

/** Of what lies below a directory: it is under the rule, is looked at, or is not. */
type Below = PatternMatch | 'open' | 'skipped'

/** Directories that a rule remembers at most. */
const maxRemembered = 1024
/** Characters of a directory that is remembered by its path. Of longer ones the last is, or deep trees would take long. */
const longestRemembered = 512

/** A rule by pattern whose globs are compiled. Pure: what it says of a path depends on the path alone. */
export class CompiledPattern {
  readonly rule: PatternRule
  /** What is left of the rights at a match, as bits. */
  readonly rights: number
  readonly #patterns: NameSet
  readonly #except: NameSet
  readonly #skip: NameSet
  /** Most paths that are asked about lie beside one another. */
  readonly #directories = new Map<VirtualPath, Below>()
  #lastAsked: { readonly path: VirtualPath; readonly pattern: string | undefined } | undefined
  #last: { readonly directory: VirtualPath; readonly below: Below } = { directory: '/' as VirtualPath, below: 'open' }

  /** @throws WorkspaceError `EINVAL` for a malformed glob, and for a rule that could match nothing. */
  constructor(rule: PatternRule) {
    const { name, access, patterns } = rule
    if (access !== 'none' && access !== 'read-only') {
      throw invalid(name, `the access of a pattern rule must be \`none\` or \`read-only\`, got \`${String(access)}\``)
    }
    if (!Array.isArray(patterns) || patterns.length === 0)
      throw invalid(name, 'a pattern rule needs at least one pattern')
    this.rule = rule
    this.rights = rightsOf(rule.access)
    // Below a match that is excepted, others are looked for.
    this.#patterns = new NameSet(rule.patterns, (rule.except ?? []).length === 0)
    this.#except = new NameSet(rule.except ?? [])
    this.#skip = new NameSet(rule.skip ?? [], true)
  }

  /** The match that decides about `path`: its own, or that of the highest directory above it. */
  match(path: VirtualPath): PatternMatch | undefined {
    if (path === '/') return undefined
    const above = this.#below(parentPath(path))
    if (above === 'skipped') return undefined
    if (above !== 'open') return above
    const pattern = this.matchAt(path)
    return pattern === undefined ? undefined : { at: path, pattern }
  }

  /** What the rule says of everything below a directory. */
  #below(directory: VirtualPath): Below {
    if (directory === '/') return 'open'
    if (directory === this.#last.directory) return this.#last.below
    const isShort = directory.length <= longestRemembered
    const known = isShort ? this.#directories.get(directory) : undefined
    if (known !== undefined) return known
    const above = this.#below(parentPath(directory))
    let below = above
    if (above === 'open') {
      const pattern = this.matchAt(directory)
      if (pattern !== undefined) below = { at: directory, pattern }
      else if (this.skips(directory)) below = 'skipped'
    }
    if (isShort) {
      if (this.#directories.size >= maxRemembered) this.#directories.clear()
      this.#directories.set(directory, below)
    } else {
      this.#last = { directory, below }
    }
    return below
  }

  /** The pattern that `path` itself matches. For a walk from the top, which never goes below a match or a skipped directory. */
  matchAt(path: VirtualPath): string | undefined {
    // A path is asked about several times in a row, for one operation after the other.
    if (path === this.#lastAsked?.path) return this.#lastAsked.pattern
    const found = this.#patterns.find(path)
    const pattern = found === undefined || this.#except.find(path) !== undefined ? undefined : found
    this.#lastAsked = { path, pattern }
    return pattern
  }

  /** Some path that ends in this name may match. False for most names, at once. */
  mayMatchName(name: string): boolean {
    return this.#patterns.mayMatchName(name)
  }

  /** A walk that starts at `directory` has something to look for: it is neither under the rule nor left out. */
  looksBelow(directory: VirtualPath): boolean {
    return this.#below(directory) === 'open' && this.mayMatchBelow(directory)
  }

  /** Nothing below `directory` is looked at. */
  skips(directory: VirtualPath): boolean {
    return this.#skip.find(directory) !== undefined
  }

  /** Something below `directory` may match. A walk need not enter it otherwise. */
  mayMatchBelow(directory: VirtualPath): boolean {
    return !this.skips(directory) && this.#patterns.mayMatchBelow(directory)
  }
}

function invalid(rule: string, reason: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation: 'rule', rule, reason, remedy: 'mend the rule' })
}
