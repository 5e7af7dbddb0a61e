import { WorkspaceError } from '../errors.ts'
import type { Progress } from '../glob/automaton.ts'
import { nameOf } from '../glob/names.ts'
import type { Name } from '../glob/names.ts'
import { Descent } from '../path/descent.ts'
import { baseName, parentPath, rootPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { rightsOf } from './access.ts'
import { NameSet } from './name-set.ts'
import type { PatternRule } from '../contract/policy.ts'

export interface PatternMatch {
  /** The highest match at or above the path. The rule applies to everything below it. */
  readonly at: VirtualPath
  readonly pattern: string
}

interface Level {
  /** The match that covers all entries below; `open` if entries below are compared, `skipped` if not. */
  readonly below: PatternMatch | 'open' | 'skipped'
  readonly patterns: Progress
  readonly files: Progress
  readonly except: Progress
  readonly skip: Progress
}

/** A pattern rule with compiled globs. A match depends on the path alone. */
export class CompiledPattern {
  readonly rule: PatternRule
  readonly rights: number
  readonly #patterns: NameSet
  readonly #files: NameSet
  readonly #except: NameSet
  readonly #skip: NameSet
  readonly #granted: ReadonlySet<VirtualPath>
  readonly #levels: Descent<Level>
  #lastAsked:
    | { readonly path: VirtualPath; readonly isFile: boolean; readonly match: PatternMatch | undefined }
    | undefined

  /** @param granted matches to which the rule does not apply; it applies to other matches below */
  constructor(rule: PatternRule, granted: ReadonlySet<VirtualPath> = new Set()) {
    const { name, access, patterns } = rule
    if (access !== 'none' && access !== 'read-only') {
      throw invalid(name, `the access of a pattern rule must be \`none\` or \`read-only\`, got \`${String(access)}\``)
    }
    if (!Array.isArray(patterns) || patterns.length === 0)
      throw invalid(name, 'a pattern rule needs at least one pattern')
    this.rule = rule
    this.rights = rightsOf(rule.access)
    this.#granted = granted
    // In a rule with exceptions, matches below an excepted name count too, so `topDown` is false.
    this.#patterns = new NameSet(rule.patterns, (rule.except ?? []).length === 0 && granted.size === 0)
    this.#files = new NameSet(rule.files ?? [])
    this.#except = new NameSet(rule.except ?? [])
    this.#skip = new NameSet(rule.skip ?? [], true)
    const top: Level = {
      below: 'open',
      patterns: this.#patterns.start,
      files: this.#files.start,
      except: this.#except.start,
      skip: this.#skip.start,
    }
    this.#levels = new Descent<Level>(rootPath, top, (above, path) => this.#enter(above, path))
  }

  /** Returns the match at `path` or above that decides about `path`. `isFile`: the entry is, or can become, a file or link. */
  match(path: VirtualPath, isFile = false): PatternMatch | undefined {
    if (path === '/') return undefined
    // Consecutive operations often pass the same path.
    if (path === this.#lastAsked?.path && isFile === this.#lastAsked.isFile) return this.#lastAsked.match
    const match = this.#matchIn(this.#levels.at(parentPath(path)), path, nameOf(baseName(path), true), isFile)
    this.#lastAsked = { path, isFile, match }
    return match
  }

  mayMatchName(name: string): boolean {
    return this.#patterns.mayMatchName(name) || this.#files.mayMatchName(name)
  }

  mayMatchBelow(directory: VirtualPath): boolean {
    const { below, patterns, files } = this.#levels.at(directory)
    return below === 'open' && (this.#patterns.mayMatchBelow(patterns) || this.#files.mayMatchBelow(files))
  }

  /** Returns whether a match below `directory` can depend on the directory's own name. */
  hasBegunAt(directory: VirtualPath): boolean {
    const { below, patterns, files } = this.#levels.at(directory)
    return below === 'open' && (this.#patterns.isBegun(patterns) || this.#files.isBegun(files))
  }

  #matchIn(
    { below, patterns, files, except }: Level,
    path: VirtualPath,
    name: Name,
    isFile: boolean,
  ): PatternMatch | undefined {
    if (below === 'skipped') return undefined
    if (below !== 'open') return below
    const pattern = this.#patterns.match(patterns, name) ?? (isFile ? this.#files.match(files, name) : undefined)
    if (pattern === undefined || this.#granted.has(path)) return undefined
    return this.#except.match(except, name) === undefined ? { at: path, pattern } : undefined
  }

  #enter(above: Level, path: VirtualPath): Level {
    if (above.below !== 'open') return above
    const name = nameOf(baseName(path), true)
    const match = this.#matchIn(above, path, name, false)
    return {
      below: match ?? (this.#skip.match(above.skip, name) === undefined ? 'open' : 'skipped'),
      patterns: this.#patterns.enter(above.patterns, name),
      files: this.#files.enter(above.files, name),
      except: this.#except.enter(above.except, name),
      skip: this.#skip.enter(above.skip, name),
    }
  }
}

function invalid(rule: string, reason: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation: 'rule', rule, reason, remedy: 'mend the rule' })
}
