import { checkOption, checkOptions } from '../options/check.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { checkExceptions, checkRules, rulesShape } from './check-rules.ts'
import { decideCommandLine } from './command-rules.ts'
import { DeclaredRules, refuse } from './declared-rules.ts'
import { Namespace } from './namespace.ts'
import type { NamespaceMount } from './namespace.ts'
import { anywhere, resolveRules } from './rule-paths.ts'
import type { RuleScope } from './rule-paths.ts'
import type {
  AccessRequest,
  CommandLineRequest,
  CommandRule,
  Decision,
  ExceptionRule,
  HostsRule,
  PatternRule,
  Policy,
  PredicateRule,
  PublishRule,
  Rule,
  SubtreeRule,
} from '../contract/policy.ts'

const allow: Decision = { effect: 'allow' }

interface RulePolicyOptions {
  /** A path to which only rules that name it apply: the workspace's `/tmp`. */
  readonly exempt?: VirtualPath | undefined
  /** The workspace of the rules. Default: none; a rule may then name any absolute path. */
  readonly scope?: RuleScope | undefined
}

/** The policy of a list of rules. Evaluates each rule alone; a request needs the permission of all rules. */
export class RulePolicy implements Policy {
  readonly #predicates: readonly PredicateRule[]
  readonly #commands: readonly CommandRule[]
  readonly #hosts: readonly HostsRule[]
  readonly #publish: readonly PublishRule[]
  readonly #exempt: VirtualPath | undefined
  #namespace: Namespace<NamespaceMount> | undefined
  readonly declared: DeclaredRules
  readonly exceptions: readonly ExceptionRule<VirtualPath>[]

  /** The rules before resolution, for use in another workspace. */
  readonly written: readonly Rule[]

  constructor(written: readonly Rule[], { exempt, scope = anywhere }: RulePolicyOptions = {}) {
    checkRules(written)
    this.written = written
    const rules = resolveRules(written, scope)
    this.exceptions = rules.filter((rule) => rule.kind === 'exception')
    const subtrees = rules.filter((rule) => rule.kind === 'subtree')
    checkExceptions(this.exceptions, subtrees)
    this.declared = new DeclaredRules(
      subtrees.map((rule) => withExceptions(rule, this.exceptions)),
      rules.filter((rule) => rule.kind === 'pattern'),
    )
    this.#predicates = rules.filter((rule) => rule.kind === 'predicate')
    this.#commands = rules.filter((rule) => rule.kind === 'command')
    this.#hosts = rules.filter((rule) => rule.kind === 'hosts')
    this.#publish = rules.filter((rule) => rule.kind === 'publish')
    this.#exempt = exempt
  }

  subtreeRules(): readonly SubtreeRule<VirtualPath>[] {
    return this.declared.subtrees
  }

  patternRules(): readonly PatternRule[] {
    return this.declared.patterns.map(({ rule }) => rule)
  }

  hostRules(): readonly HostsRule[] {
    return this.#hosts
  }

  publishRules(): readonly PublishRule[] {
    return this.#publish
  }

  apiOnlyRules(): readonly string[] {
    return this.#predicates.map(({ name }) => name)
  }

  decideCommand(request: CommandLineRequest): Decision {
    return decideCommandLine(this.#commands, request)
  }

  decide(request: AccessRequest): Decision {
    // Only for callers outside a workspace, which has its own namespace.
    this.#namespace ??= new Namespace({ mounts: [], rules: this.declared.subtrees, scratch: this.#exempt })
    return this.declared.refusal(this.#namespace.find(request.path), request) ?? this.decidePredicates(request)
  }

  decidePredicates(request: AccessRequest): Decision {
    for (const rule of this.#predicates) {
      const verdict = askPredicate(rule, request)
      if (verdict !== undefined) return verdict
    }
    return allow
  }
}

/**
 * Makes the standard policy from rules. In a workspace, they mean the same as the option `rules`; otherwise, paths are relative to `/`.
 * @throws WorkspaceError `EINVAL` for a value that is not a rule, duplicate names, and exceptions to unknown rules
 */
export function createPolicy(rules: readonly Rule[], options?: Record<never, never>): Policy {
  checkOption('createPolicy', 'rules', rules, rulesShape)
  checkOptions(options, {}, { operation: 'createPolicy', removed: { exempt: 'leave it out' } })
  return new RulePolicy(rules)
}

function askPredicate(rule: PredicateRule, request: AccessRequest): Decision | undefined {
  let verdict: ReturnType<PredicateRule['test']>
  try {
    verdict = rule.test(request)
  } catch {
    return refuse(rule, 'could not be judged: the rule failed', 'tell the author of the rule') // the refusal contains the rule's name
  }
  if (verdict === true) return undefined
  const detail = typeof verdict === 'object' && verdict !== null ? verdict : undefined
  const reason = detail?.reason ?? rule.reason ?? 'is not allowed'
  return refuse(rule, reason, detail?.remedy ?? rule.remedy ?? 'use another path')
}

function withExceptions(
  rule: SubtreeRule<VirtualPath>,
  exceptions: readonly ExceptionRule<VirtualPath>[],
): SubtreeRule<VirtualPath> {
  const own = exceptions.filter(({ from }) => (from === undefined ? rule.confines === true : from.includes(rule.name)))
  if (own.length === 0) return rule
  return { ...rule, entries: [...rule.entries, ...own.map(({ entry }) => entry)] }
}
