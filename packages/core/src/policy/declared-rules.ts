import type { VirtualPath } from '../path/virtual-path.ts'
import { ALL, rightFor, ruleRights } from './access.ts'
import { DeniedVariants } from './denied-variants.ts'
import type { NamespaceMount, NamespaceNode } from './namespace.ts'
import { CompiledPattern } from './patterns.ts'
import type { AccessRequest, Decision, PatternRule, PredicateRule, ResolvedSubtreeRule } from './types.ts'

type Denial = Extract<Decision, { effect: 'deny' }>

export interface RefusalOptions {
  /** Look-alikes of denied names are allowed. Default false. */
  readonly ignoreVariants?: boolean | undefined
}

/**
 * The rules that are data: subtrees and patterns. They hold at both doors, whichever engine they come from, so what an
 * engine of the caller's own declares is held at the file API too.
 */
export class DeclaredRules {
  readonly subtrees: readonly ResolvedSubtreeRule[]
  readonly patterns: readonly CompiledPattern[]
  readonly variants: DeniedVariants

  /** @throws WorkspaceError `EINVAL` for a malformed glob. */
  constructor(subtrees: readonly ResolvedSubtreeRule[], patterns: readonly PatternRule[]) {
    this.subtrees = subtrees
    this.patterns = patterns.map((rule) => new CompiledPattern(rule))
    this.variants = new DeniedVariants(subtrees)
  }

  /** Something below `directory` may match a rule by pattern. */
  mayMatchBelow(directory: VirtualPath): boolean {
    return this.patterns.some((pattern) => pattern.mayMatchBelow(directory))
  }

  /** The refusal, if there is one; `node` is the deepest one at or above the path, in a namespace of these subtrees. */
  refusal(
    node: NamespaceNode<NamespaceMount>,
    request: AccessRequest,
    { ignoreVariants = false }: RefusalOptions = {},
  ): Denial | undefined {
    const { path, need, operation } = request
    if (node.rights !== ALL && (node.rights & rightFor(need)) === 0) return refuseSubtree(node, request)
    // Where case matters, a look-alike is not the denied file: callers who find it may remove it.
    const removes = operation === 'delete' && node.mount?.caseSensitive === true
    if (!this.variants.empty && !removes && !ignoreVariants) {
      const rule = this.variants.match(path)
      if (rule !== undefined) return refuse(rule, 'is a variant of a denied name', 'go on without it')
    }
    for (const pattern of this.patterns) {
      const refused = refusePattern(pattern, request)
      if (refused !== undefined) return refused
    }
    return undefined
  }
}

function refuseSubtree(node: NamespaceNode<NamespaceMount>, { path, need }: AccessRequest): Denial {
  const right = rightFor(need)
  const rule = node.deniers.find((candidate) => (ruleRights(candidate, node.path) & right) === 0) ?? node.deniers[0]
  if (rule === undefined)
    return { effect: 'deny', code: 'EACCES', rule: 'policy', reason: 'is denied', remedy: 'go on without it' }
  const outside = need === 'read' && ruleRights(rule, path) !== 0 ? 'cannot be read back' : undefined
  return refuse(rule, outside ?? rule.reason ?? 'is not allowed', rule.remedy ?? 'use another path')
}

function refusePattern(pattern: CompiledPattern, { path, need, operation }: AccessRequest): Denial | undefined {
  const { rule, rights } = pattern
  if ((rights & rightFor(need)) !== 0) return undefined
  const found = pattern.match(path, operation !== 'createDirectory')
  if (found === undefined) return undefined
  const why =
    rule.reason ?? `matches the ${rule.access === 'none' ? 'denied' : 'read-only'} pattern \`${found.pattern}\``
  const reason = found.at === path ? why : `lies in \`${found.at}\`, which ${why}`
  return refuse(rule, reason, rule.remedy ?? 'go on without it')
}

export function refuse(
  rule: ResolvedSubtreeRule | PatternRule | PredicateRule,
  reason: string,
  remedy: string,
): Denial {
  return { effect: 'deny', code: 'EACCES', rule: rule.name, reason, remedy }
}
