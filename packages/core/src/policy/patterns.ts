import { WorkspaceError } from '../errors.ts'
import type { Progress } from '../glob/automaton.ts'
import { nameOf } from '../glob/names.ts'
import type { Name } from '../glob/names.ts'
import { Descent } from '../path/descent.ts'
import { baseName, parentPath, rootPath } from '../path/virtual-path.ts'
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

/** A rule's judgement of a directory. */
interface Level {
  /** The entries below it are under the rule, are looked at, or are not. */
  readonly below: PatternMatch | 'open' | 'skipped'
  readonly patterns: Progress
  readonly except: Progress
  readonly skip: Progress
}

/** A rule by pattern whose globs are compiled. Pure: its answer for a path depends on the path alone. */
export class CompiledPattern {
  readonly rule: PatternRule
  /** The rights that remain at a match, as bits. */
  readonly rights: number
  readonly #patterns: NameSet
  readonly #except: NameSet
  readonly #skip: NameSet
  readonly #levels: Descent<Level>
  #lastAsked: { readonly path: VirtualPath; readonly match: PatternMatch | undefined } | undefined

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
    const [all, except, skip] = [this.#patterns.start, this.#except.start, this.#skip.start]
    this.#levels = new Descent<Level>(rootPath, { below: 'open', patterns: all, except, skip }, (above, path) =>
      this.#enter(above, path),
    )
  }

  /** The match that decides about `path`: its own, or that of the highest directory above it. */
  match(path: VirtualPath): PatternMatch | undefined {
    if (path === '/') return undefined
    // A path is asked about several times in a row, for one operation after the other.
    if (path === this.#lastAsked?.path) return this.#lastAsked.match
    const match = this.#matchIn(this.#levels.at(parentPath(path)), path, nameOf(baseName(path), true))
    this.#lastAsked = { path, match }
    return match
  }

  /** Some path that ends in this name may match. False for most names, at once. */
  mayMatchName(name: string): boolean {
    return this.#patterns.mayMatchName(name)
  }

  /** Something below `directory` may match. A walk need not enter it otherwise. */
  mayMatchBelow(directory: VirtualPath): boolean {
    const { below, patterns } = this.#levels.at(directory)
    return below === 'open' && this.#patterns.mayMatchBelow(patterns)
  }

  #matchIn({ below, patterns, except }: Level, path: VirtualPath, name: Name): PatternMatch | undefined {
    if (below === 'skipped') return undefined
    if (below !== 'open') return below
    const pattern = this.#patterns.match(patterns, name)
    return pattern === undefined || this.#except.match(except, name) !== undefined ? undefined : { at: path, pattern }
  }

  #enter(above: Level, path: VirtualPath): Level {
    if (above.below !== 'open') return above
    const name = nameOf(baseName(path), true)
    const match = this.#matchIn(above, path, name)
    return {
      below: match ?? (this.#skip.match(above.skip, name) === undefined ? 'open' : 'skipped'),
      patterns: this.#patterns.enter(above.patterns, name),
      except: this.#except.enter(above.except, name),
      skip: this.#skip.enter(above.skip, name),
    }
  }
}

function invalid(rule: string, reason: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation: 'rule', rule, reason, remedy: 'mend the rule' })
}
