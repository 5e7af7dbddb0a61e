import { segmentsOf } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { ALL, rightFor, ruleRights } from './access.ts'
import { DeniedVariants } from './denied-variants.ts'
import type { NamespaceMount, NamespaceNode } from './namespace.ts'
import { CompiledPattern } from './patterns.ts'
import type { AccessRequest, Asked, Decision, PatternRule, PredicateRule, SubtreeRule } from '../contract/policy.ts'

type Denial = Extract<Decision, { effect: 'deny' }>

export interface RefusalOptions {
  /** Allows other spellings of denied names. Default false. */
  readonly ignoreVariants?: boolean | undefined
}

/** Rules that are data. They apply to the file API and to commands, whichever policy engine declares them. */
export class DeclaredRules {
  readonly subtrees: readonly SubtreeRule<VirtualPath>[]
  readonly patterns: readonly CompiledPattern[]
  readonly variants: DeniedVariants

  /** @throws WorkspaceError `EINVAL` for a malformed glob. */
  constructor(
    subtrees: readonly SubtreeRule<VirtualPath>[],
    patterns: readonly PatternRule[],
    grants: readonly Asked[] = [],
  ) {
    this.subtrees = subtrees
    this.patterns = patterns.map((rule) => new CompiledPattern(rule, grantedBy(rule, grants)))
    this.variants = new DeniedVariants(subtrees)
  }

  /** The same rules, except at the matches of rules that ask which are granted. */
  granting(grants: readonly Asked[]): DeclaredRules {
    return new DeclaredRules(
      this.subtrees,
      this.patterns.map(({ rule }) => rule),
      grants,
    )
  }

  /** The same rules without those that ask. */
  withoutAsking(): DeclaredRules {
    const others = this.patterns.filter(({ rule }) => rule.asks !== true)
    return new DeclaredRules(
      this.subtrees,
      others.map(({ rule }) => rule),
    )
  }

  /** Returns the match, at or above a path, of a rule that asks. */
  askedAt(name: string, path: VirtualPath): VirtualPath | undefined {
    const pattern = this.patterns.find(({ rule }) => rule.name === name && rule.asks === true)
    return pattern?.match(path, true)?.at
  }

  mayMatchBelow(directory: VirtualPath): boolean {
    return this.patterns.some((pattern) => pattern.mayMatchBelow(directory))
  }

  /** `node`: the deepest node at or above the path, in a namespace with these subtrees. */
  refusal(
    node: NamespaceNode<NamespaceMount>,
    request: AccessRequest,
    { ignoreVariants = false }: RefusalOptions = {},
  ): Denial | undefined {
    const { path, need, operation } = request
    if (node.rights !== ALL && (node.rights & rightFor(need)) === 0) return refuseSubtree(node, request)
    // On a case-sensitive store, another spelling names another file, which callers may delete.
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

  /** Returns the refusal by a rule that names a link on the path, or a name below the link. The link's target does not matter. */
  refusalAtLink(node: NamespaceNode<NamespaceMount>, request: AccessRequest, link: VirtualPath): Denial | undefined {
    const depth = segmentsOf(link).length
    const isNamed = (at: VirtualPath): boolean => segmentsOf(at).length >= depth
    const right = rightFor(request.need)
    for (const rule of node.deniers) {
      const { path, rights } = decidingEntry(node, rule)
      if ((rights & right) === 0 && isNamed(path)) return refuseBy(rule)
    }
    for (const pattern of this.patterns) {
      const refused = refusePattern(pattern, request, isNamed)
      if (refused !== undefined) return refused
    }
    return undefined
  }
}

function grantedBy({ name, asks }: PatternRule, grants: readonly Asked[]): ReadonlySet<VirtualPath> {
  const own = grants.filter(({ rule }) => asks === true && rule === name) // @defence ` && rule === name` a grant that opens more than its place: of its own rule alone
  return new Set(own.flatMap(({ path }) => path ?? []))
}

/** Returns the deepest path of a rule at or above a node, and the rule's rights there. */
function decidingEntry(
  node: NamespaceNode<NamespaceMount>,
  rule: SubtreeRule<VirtualPath>,
): { readonly path: VirtualPath; readonly rights: number } {
  const own = node.entries?.filter((entry) => entry.rule === rule) ?? []
  if (own.length === 0 && node.parent !== undefined) return decidingEntry(node.parent, rule)
  return { path: node.path, rights: own.reduce((rights, entry) => rights & entry.rights, ALL) }
}

function refuseSubtree(node: NamespaceNode<NamespaceMount>, { path, need }: AccessRequest): Denial {
  const right = rightFor(need)
  const rule = node.deniers.find((candidate) => (ruleRights(candidate, node.path) & right) === 0) ?? node.deniers[0]
  if (rule === undefined)
    return { effect: 'deny', code: 'EACCES', rule: 'policy', reason: 'is denied', remedy: 'go on without it' }
  return refuseBy(rule, need === 'read' && ruleRights(rule, path) !== 0 ? 'cannot be read back' : undefined)
}

function refuseBy(rule: SubtreeRule<VirtualPath>, reason = rule.reason ?? 'is not allowed'): Denial {
  return refuse(rule, reason, rule.remedy ?? 'use another path')
}

function refusePattern(
  pattern: CompiledPattern,
  { path, need, operation }: AccessRequest,
  concerns: (at: VirtualPath) => boolean = () => true,
): Denial | undefined {
  const { rule, rights } = pattern
  if ((rights & rightFor(need)) !== 0) return undefined
  const found = pattern.match(path, operation !== 'createDirectory') // @defence `, operation !== 'createDirectory'` another name by which git: each name it lists
  if (found === undefined || !concerns(found.at)) return undefined
  const why =
    rule.reason ?? `matches the ${rule.access === 'none' ? 'denied' : 'read-only'} pattern \`${found.pattern}\``
  const reason = found.at === path ? why : `lies in \`${found.at}\`, which ${why}`
  return refuse(rule, reason, rule.remedy ?? 'go on without it')
}

export function refuse(
  rule: SubtreeRule<VirtualPath> | PatternRule | PredicateRule,
  reason: string,
  remedy: string,
): Denial {
  return { effect: 'deny', code: 'EACCES', rule: rule.name, reason, remedy }
}
