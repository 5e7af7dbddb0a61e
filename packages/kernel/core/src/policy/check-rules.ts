import { WorkspaceError, quotePath } from '../errors.ts'
import { checkOption } from '../options/check.ts'
import { option } from '../options/shapes.ts'
import type { OptionShape } from '../options/shapes.ts'
import { accesses } from './access.ts'
import { listOf } from './host-list.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { ExceptionRule, Rule, SubtreeRule } from '../contract/policy.ts'

const operation = 'rules'
const kinds: readonly Rule['kind'][] = ['subtree', 'pattern', 'predicate', 'exception', 'command', 'hosts', 'publish']

/** Commands have no right to listen below 1024. */
export const publishedPort = option.integer(1024, 65_535)
export const publishedPorts = option.required(option.list(publishedPort, 'a list of ports'))

export const rulesShape: OptionShape = option.of('a list of rules', Array.isArray)

/** @throws WorkspaceError `EINVAL` for a value that is not a rule, and for two rules with one name */
export function checkRules(rules: readonly Rule[]): void {
  const seen = new Set<string>()
  for (const [index, rule] of rules.entries()) {
    if (typeof rule !== 'object' || rule === null || !kinds.includes(rule.kind) || typeof rule.name !== 'string') {
      throw new WorkspaceError({
        code: 'EINVAL',
        operation,
        reason: `\`rules[${index}]\` must be a rule, got ${shapeOf(rule)}`,
        remedy: 'make rules with `rules.…`',
      })
    }
    if (seen.has(rule.name)) {
      throw invalid(rule, 'two rules have the same name', 'give one of them another `name`')
    }
    seen.add(rule.name)
    checkEntries(rule)
  }
}

function checkEntries(rule: Rule): void {
  if (rule.kind === 'hosts') listOf(rule)
  if (rule.kind === 'publish') checkOption('rules', 'ports', rule.ports, publishedPorts)
  if (rule.kind !== 'subtree' && rule.kind !== 'exception') return
  const entries: unknown = rule.kind === 'subtree' ? rule.entries : [rule.entry]
  if (!Array.isArray(entries) || entries.length === 0) {
    throw invalid(rule, 'a subtree rule needs at least one entry', 'name a path and its access')
  }
  for (const entry of entries as readonly Partial<SubtreeRule['entries'][number]>[]) {
    if (entry.access !== undefined && accesses.includes(entry.access)) continue
    const got = `got \`${String(entry.access)}\``
    throw invalid(rule, `the access of an entry must be one of ${accesses.join(', ')}, ${got}`, 'mend it')
  }
}

function shapeOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value
  const { kind } = value as Partial<Rule>
  return kind === undefined ? 'an object without `kind`' : `an object of kind \`${String(kind)}\``
}

function invalid({ name }: Rule, reason: string, remedy: string): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation, rule: name, reason, remedy })
}

/** @throws WorkspaceError `EINVAL` for an exception without a rule to apply to, and for an exception to a rule that names the same path */
export function checkExceptions(
  exceptions: readonly ExceptionRule<VirtualPath>[],
  subtrees: readonly SubtreeRule<VirtualPath>[],
): void {
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
