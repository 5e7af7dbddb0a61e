import { WorkspaceError, quotePath } from '../errors.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { decideCommandLine } from './command-rules.ts'
import { DeclaredRules, refuse } from './declared-rules.ts'
import { Namespace } from './namespace.ts'
import type { NamespaceMount } from './namespace.ts'
import type {
  AccessRequest,
  CommandLineRequest,
  CommandRule,
  Decision,
  ExceptionRule,
  PatternRule,
  Policy,
  PredicateRule,
  Rule,
  SubtreeRule,
} from './types.ts'

const allow: Decision = { effect: 'allow' }

export interface PolicyOptions {
  /** A path that is exempt from every rule that does not name it or something below it: the workspace's `/tmp`. */
  readonly exempt?: VirtualPath | undefined
}

/** The policy that rules make: every rule is evaluated alone, and the results are intersected. */
export class RulePolicy implements Policy {
  readonly #predicates: readonly PredicateRule[]
  readonly #commands: readonly CommandRule[]
  readonly #exempt: VirtualPath | undefined
  #namespace: Namespace<NamespaceMount> | undefined
  readonly declared: DeclaredRules
  readonly exceptions: readonly ExceptionRule[]

  constructor(rules: readonly Rule[], { exempt }: PolicyOptions = {}) {
    checkNames(rules)
    this.exceptions = rules.filter((rule) => rule.kind === 'exception')
    const subtrees = rules.filter((rule) => rule.kind === 'subtree')
    checkExceptions(this.exceptions, subtrees)
    this.declared = new DeclaredRules(
      subtrees.map((rule) => withExceptions(rule, this.exceptions)),
      rules.filter((rule) => rule.kind === 'pattern'),
    )
    this.#predicates = rules.filter((rule) => rule.kind === 'predicate')
    this.#commands = rules.filter((rule) => rule.kind === 'command')
    this.#exempt = exempt
  }

  subtreeRules(): readonly SubtreeRule[] {
    return this.declared.subtrees
  }

  patternRules(): readonly PatternRule[] {
    return this.declared.patterns.map(({ rule }) => rule)
  }

  apiOnlyRules(): readonly string[] {
    return this.#predicates.map(({ name }) => name)
  }

  decideCommand(request: CommandLineRequest): Decision {
    return decideCommandLine(this.#commands, request)
  }

  decide(request: AccessRequest): Decision {
    // A workspace has a namespace of its own and asks in two steps: this one is made for those who ask without.
    this.#namespace ??= new Namespace({ mounts: [], rules: this.declared.subtrees, scratch: this.#exempt })
    return this.declared.refusal(this.#namespace.find(request.path), request) ?? this.decidePredicates(request)
  }

  /** The part of {@link decide} that is not data. */
  decidePredicates(request: AccessRequest): Decision {
    for (const rule of this.#predicates) {
      const verdict = askPredicate(rule, request)
      if (verdict !== undefined) return verdict
    }
    return allow
  }
}

/** Makes the standard policy of a list of rules. @throws WorkspaceError `EINVAL` for duplicate names and dangling exceptions. */
export function createPolicy(rules: readonly Rule[], options?: PolicyOptions): Policy {
  return new RulePolicy(rules, options)
}

function askPredicate(rule: PredicateRule, request: AccessRequest): Decision | undefined {
  let verdict: ReturnType<PredicateRule['test']>
  try {
    verdict = rule.test(request)
  } catch {
    return refuse(rule, 'could not be judged: the rule failed', 'tell whoever wrote the rule')
  }
  if (verdict === true) return undefined
  const detail = typeof verdict === 'object' && verdict !== null ? verdict : undefined
  const reason = detail?.reason ?? rule.reason ?? 'is not allowed'
  return refuse(rule, reason, detail?.remedy ?? rule.remedy ?? 'use another path')
}

function withExceptions(rule: SubtreeRule, exceptions: readonly ExceptionRule[]): SubtreeRule {
  const own = exceptions.filter(({ from }) => (from === undefined ? rule.confines === true : from.includes(rule.name)))
  if (own.length === 0) return rule
  return { ...rule, entries: [...rule.entries, ...own.map(({ entry }) => entry)] }
}

function checkExceptions(exceptions: readonly ExceptionRule[], subtrees: readonly SubtreeRule[]): void {
  for (const { name, from, entry } of exceptions) {
    const targets = from ?? subtrees.filter(({ confines }) => confines).map((rule) => rule.name)
    const unknown = targets.find((target) => !subtrees.some((rule) => rule.name === target))
    if (unknown !== undefined || targets.length === 0) {
      throw new WorkspaceError({
        code: 'EINVAL',
        operation: 'rules',
        path: entry.path,
        rule: name,
        reason:
          unknown === undefined
            ? 'is an exception to nothing'
            : `is an exception to an unknown rule ${quotePath(unknown)}`,
        remedy: 'name existing rules in `from`, or drop the exception',
      })
    }
    const clash = subtrees.find(
      (rule) => targets.includes(rule.name) && rule.entries.some(({ path }) => path === entry.path),
    )
    if (clash !== undefined) {
      throw new WorkspaceError({
        code: 'EINVAL',
        operation: 'rules',
        path: entry.path,
        rule: name,
        reason: `is named by the rule ${quotePath(clash.name)} itself`,
        remedy: 'change that rule instead',
      })
    }
  }
}

function checkNames(rules: readonly Rule[]): void {
  const seen = new Set<string>()
  for (const rule of rules) {
    if (typeof rule !== 'object' || rule === null || typeof rule.name !== 'string') {
      throw new WorkspaceError({
        code: 'EINVAL',
        operation: 'rules',
        reason: 'the list of rules holds something that is no rule',
        remedy: 'make rules with `rules.…`',
      })
    }
    if (seen.has(rule.name)) {
      throw new WorkspaceError({
        code: 'EINVAL',
        operation: 'rules',
        rule: rule.name,
        reason: 'two rules have the same name',
        remedy: 'give one of them another `name`',
      })
    }
    seen.add(rule.name)
  }
}
