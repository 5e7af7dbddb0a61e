import { WorkspaceError } from '../errors.ts'
import { compileGlob } from '../glob/glob.ts'
import { foldName } from '../path/segments.ts'
import { parseInput, stripAlias } from '../path/segments.ts'
import type { AliasNames } from '../path/segments.ts'
import { isWithin, joinPath, parsePath, rootPath, topName } from '../path/virtual-path.ts'
import type { MountPath, VirtualPath } from '../path/virtual-path.ts'
import type { ExceptionRule, PatternRule, Rule, SubtreeEntry, SubtreeRule } from '../contract/policy.ts'

const special = /[*?[{\\]/

export interface RuleScope {
  readonly root: VirtualPath
  readonly aliases: AliasNames
  /** All mount points, including that of the scratch. Absent: a rule may name any path. */
  readonly mounts?: readonly VirtualPath[] | undefined
  readonly missingScratch?: VirtualPath | undefined
}

/** The scope without a workspace. */
export const anywhere: RuleScope = { root: rootPath, aliases: new Set() }

/**
 * Resolves the paths of rules: removes aliases, and starts relative paths at the root.
 * @throws WorkspaceError `EINVAL` for a path with `..`, and for a rule without effect; the message suggests the intended path
 */
export function resolveRules(rules: readonly Rule[], scope: RuleScope): Rule<VirtualPath>[] {
  return rules.map((rule) => {
    switch (rule.kind) {
      case 'subtree':
        return resolveSubtree(rule, scope)
      case 'exception':
        return resolveException(rule, scope)
      case 'pattern':
        return resolvePatterns(rule, scope)
      default:
        return rule
    }
  })
}

export function resolveSubtree(rule: SubtreeRule, scope: RuleScope): SubtreeRule<VirtualPath> {
  const entries = new Map<VirtualPath, SubtreeEntry<VirtualPath>>()
  for (const { path: text, access } of rule.entries) {
    const path = resolveRulePath(text, rule.name, scope)
    const before = entries.get(path)
    // A rule that confines to the whole root leaves no path outside.
    if (before !== undefined && before.access !== access && rule.confines !== true) {
      throw ruleError(rule.name, text, 'is named twice, with different access', 'keep one of the two')
    }
    entries.set(path, { path, access })
  }
  return { ...rule, entries: [...entries.values()] }
}

function resolveException(rule: ExceptionRule, scope: RuleScope): ExceptionRule<VirtualPath> {
  return { ...rule, entry: { ...rule.entry, path: resolveRulePath(rule.entry.path, rule.name, scope) } }
}

export function resolvePatterns(rule: PatternRule, scope: RuleScope): PatternRule {
  const resolve = (globs: readonly string[]): string[] => globs.map((glob) => resolvePattern(glob, rule.name, scope))
  // A value that is not a list is refused later, by the compiler of patterns.
  const { patterns, except, skip } = rule
  return {
    ...rule,
    patterns: Array.isArray(patterns) ? resolve(patterns) : patterns,
    ...(except && { except: resolve(except) }),
    ...(skip && { skip: resolve(skip) }),
  }
}

/** Resolves a glob like a path, and refuses a glob that cannot match. */
function resolvePattern(given: string, rule: string, scope: RuleScope): string {
  if (typeof given !== 'string') return given
  const glob = given.startsWith('./') ? joinPath(scope.root, given.slice(1) as MountPath) : given
  if (!glob.startsWith('/')) return glob
  const [first = ''] = glob.slice(1).split('/', 1)
  if (special.test(first)) {
    refuseHiddenAlias(first, glob, rule, scope)
    return glob
  }
  const stripped = stripAlias(glob as VirtualPath, scope.aliases)
  const names = stripped.slice(1).split('/')
  const end = names.findIndex((name) => special.test(name))
  const literal = (end === -1 ? names : names.slice(0, end)).filter((name) => name !== '').join('/')
  const path = `/${literal}` as VirtualPath
  checkEffect(path, glob, rule, scope, literal === '' ? '' : stripped.slice(path.length))
  return stripped
}

/** Refuses an alias in braces, such as `{workspace,src}`. No resolved path begins with an alias, so such a glob could not match. */
function refuseHiddenAlias(first: string, glob: string, rule: string, { aliases }: RuleScope): void {
  if (first.includes('*') || first.includes('{') !== first.includes('}')) return
  const { matches } = compileGlob(`/${first}`, { operation: 'rules' })
  const alias = [...aliases].find((name) => matches(`/${name}`))
  if (alias === undefined) return
  throw ruleError(rule, glob, `hides the alias \`/${alias}\` in a pattern`, 'write it out, or leave it out')
}

/** Checks a rule's path, and returns it unchanged: only the workspace can resolve it. */
export function rulePath(path: string): string {
  checkRulePath(path)
  parsePath(path, { operation: 'rule' })
  return path
}

function checkRulePath(text: string, rule?: string): void {
  if (typeof text === 'string' && text.split('/').includes('..')) {
    throw ruleError(rule, text, 'has `..`', 'name the path without `..`')
  }
}

function resolveRulePath(text: string, rule: string, scope: RuleScope): VirtualPath {
  checkRulePath(text, rule)
  const { path } = parseInput(text, { base: scope.root, aliases: scope.aliases, operation: 'rules' })
  if (typeof path !== 'string') throw ruleError(rule, text, 'has `..`', 'name the path without `..`')
  checkEffect(path, text, rule, scope) // @defence a rule whose path means nothing: refused with the path that was meant
  return path
}

/** Refuses a path outside all mounts; a path above a mount is allowed. `text`: as written. `rest`: the glob after the path. */
function checkEffect(path: VirtualPath, text: string, rule: string, scope: RuleScope, rest = ''): void {
  const { mounts, aliases, missingScratch } = scope
  if (mounts === undefined) return
  const name = topName(path)
  if (aliases.has(name)) {
    const likely = `did you mean \`${path}${rest}\`?`
    throw ruleError(rule, text, `names the alias \`/${name}\` twice, so the rule would do nothing`, likely)
  }
  if (mounts.some((at) => isWithin(path, at) || isWithin(at, path))) return
  if (missingScratch !== undefined && isWithin(path, missingScratch)) {
    throw ruleError(
      rule,
      text,
      'lies in the scratch directory, which this workspace does not have',
      'drop the rule, or leave out `scratch: false` where the storage can make one',
    )
  }
  const likely = `did you mean \`${likelyPath(path, scope.root, mounts)}${rest}\`?`
  throw ruleError(rule, text, 'lies outside every mount, so the rule would do nothing', likely)
}

/** Suggests a path below a mount with a similar spelling; otherwise the path below the root, without a leading `/workspace`. */
function likelyPath(path: VirtualPath, root: VirtualPath, mounts: readonly VirtualPath[]): VirtualPath {
  const alike = mounts.find(
    (at) => foldName(path.slice(0, at.length)) === foldName(at) && (path[at.length] ?? '/') === '/',
  )
  if (alike !== undefined) return joinPath(alike, (path.slice(alike.length) || '/') as MountPath)
  return joinPath(root, (path.replace(/^\/workspace(?=\/|$)/, '') || '/') as MountPath)
}

function ruleError(rule: string | undefined, path: string, reason: string, remedy: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation: 'rules', path, rule, reason, remedy })
}
