import { DeclaredRules } from './declared-rules.ts'
import { RulePolicy } from './policy.ts'
import { resolvePatterns, resolveSubtree } from './rule-paths.ts'
import type { RuleScope } from './rule-paths.ts'
import type { Policy, Rule } from '../contract/policy.ts'
import type { VirtualPath } from '../path/virtual-path.ts'

export interface PolicySources {
  readonly rules?: readonly Rule[] | undefined
  readonly policy?: Policy | undefined
}

/**
 * Returns the policy of a workspace, with resolved paths.
 * @throws WorkspaceError `EINVAL` for invalid rules, and for rules that cannot have an effect in this workspace
 */
export function readPolicy(
  { rules = [], policy }: PolicySources,
  { exempt, scope }: { readonly exempt: VirtualPath | undefined; readonly scope: RuleScope },
): { readonly policy: Policy; readonly declared: DeclaredRules } {
  if (policy !== undefined && !(policy instanceof RulePolicy)) {
    const subtrees = policy.subtreeRules().map((rule) => resolveSubtree(rule, scope))
    const patterns = (policy.patternRules?.() ?? []).map((rule) => resolvePatterns(rule, scope))
    return { policy, declared: new DeclaredRules(subtrees, patterns) }
  }
  const made = new RulePolicy(policy?.written ?? rules, { exempt, scope })
  return { policy: made, declared: made.declared }
}
