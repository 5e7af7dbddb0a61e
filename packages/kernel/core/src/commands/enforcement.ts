import type { BindPlan, MissingName, Restriction, RestrictionProblem } from '../contract/bind-plan.ts'
import { compileBinds } from './binds/compile-binds.ts'
import type { AttachedExecutor, Executor } from '../contract/executor.ts'
import { satisfies } from '../contract/guarantees.ts'
import type { GuaranteeField, GuaranteeLevel } from '../contract/guarantees.ts'
import { quotePath } from '../errors.ts'
import { isWithin } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { Context } from '../calls/context.ts'
import { virtualError } from '../mount/errors.ts'
import { mountRuleName } from '../policy/namespace.ts'

export interface ChosenExecutor {
  readonly name: string
  readonly executor: Executor
  /** Names at `/` where commands see other content than the workspace's. */
  readonly needs: readonly string[]
  readonly attached: AttachedExecutor
  readonly passedOver: readonly PassedOver[]
}

export interface PassedOver {
  readonly executor: string
  readonly reasons: readonly string[]
  readonly remedies: readonly string[]
}

/** Refuses an unknown rule name: the caller would believe a rule is off, and the command would run with every rule. */
export function checkAcknowledged({ gate, mounts }: Context, acknowledged: ReadonlySet<string>): void {
  const known = [
    ...[...gate.declared.subtrees, ...gate.hostRules()].map(({ name }) => name),
    ...gate.declared.patterns.map(({ rule }) => rule.name),
    ...gate.apiOnlyRules(),
    ...mounts.filter(({ access }) => access === 'read-only').map(({ at }) => mountRuleName(at)),
  ]
  for (const name of acknowledged) {
    if (known.includes(name)) continue
    throw virtualError({
      code: 'EINVAL',
      operation: 'exec',
      reason: `\`acknowledge\` must name rules of this workspace that hold in commands, got ${quotePath(name)}`,
      remedy: 'pass the name from the refusal, or leave it out',
    })
  }
}

export async function planFor(
  { gate, tracer, attempt, ...context }: Pick<Context, 'gate' | 'tracer' | 'root' | 'aliases' | 'attempt'>,
  { attached }: ChosenExecutor,
  acknowledged: ReadonlySet<string>,
  { looksOnly = false }: { readonly looksOnly?: boolean } = {},
): Promise<BindPlan> {
  const own = gate.hostRules().filter(({ name }) => !acknowledged.has(name))
  const hostRules = attempt === undefined ? own : [...own, ...attempt.hostRules]
  const plan = await compileBinds({
    gate,
    tracer,
    reserves: (name) => problemOfMissing(name, attached) === undefined,
    root: context.root,
    aliases: [...context.aliases].map((name) => `/${name}` as VirtualPath),
    acknowledged,
    interpreted: attached.guarantees.deniedSubtrees === 'interpreter',
    looksOnly,
    apiOnlyRules: gate.apiOnlyRules().filter((rule) => !acknowledged.has(rule)),
  })
  if (hostRules.length === 0) return plan
  const asked = hostRules.map(({ name }): Restriction => ({ rule: name, path: context.root, field: 'network' }))
  return { ...plan, hostRules, restrictions: [...plan.restrictions, ...asked] }
}

export function unheld(plan: BindPlan, attached: AttachedExecutor): Restriction[] {
  return plan.restrictions.flatMap((restriction) => {
    const level = attached.guarantees[restriction.field]
    // With an interpreter, every access passes the file API. No bind is needed, so problems of binds do not matter.
    if (level === 'interpreter') return []
    if (restriction.problem !== undefined || !satisfies(level, leastLevel(restriction))) return [restriction]
    const problem = restriction.missing && problemOfMissing(restriction.missing, attached)
    return problem === undefined ? [] : [{ ...restriction, problem }]
  })
}

function leastLevel({ field }: Restriction): GuaranteeLevel {
  return field === 'network' ? 'names' : 'translated'
}

function problemOfMissing(name: MissingName, attached: AttachedExecutor): RestrictionProblem | undefined {
  if (attached.refuseMissing !== undefined) return attached.refuseMissing(name)
  return {
    reason: 'does not exist, and this executor cannot reserve its name',
    remedy: 'create it, or use an executor that reserves names (bubblewrap)',
  }
}

export function describeUnheld(
  { field, problem, path }: Restriction,
  executor: string,
): { reason: string; remedy: string } {
  if (problem !== undefined) return { reason: `\`${path}\` ${problem.reason}`, remedy: problem.remedy }
  const what: Partial<Record<typeof field, string>> = {
    readOnlyMounts: `commands in ${executor} could change the read-only \`${path}\``,
    subtrees: `commands in ${executor} could change \`${path}\`, which the rule protects inside a writable mount`,
    deniedSubtrees: `commands in ${executor} could read \`${path}\``,
    network: `commands in ${executor} share the network of this machine`,
    apiRules: 'only the file API can judge it',
  }
  return {
    reason: what[field] ?? `${executor} cannot hold it`,
    remedy: remedyOf(field),
  }
}

function remedyOf(field: GuaranteeField): string {
  if (field === 'apiRules') return 'use the file API, or the virtual executor, which holds it'
  if (field === 'network') return 'use the bubblewrap executor with a list of hosts (`network: { allow: [...] }`)'
  return 'use an executor that holds it: bubblewrap, or the virtual one'
}

/** Throws `EUNENFORCEABLE` for the first rule that is neither enforceable nor acknowledged. */
export function requireHeld(
  plan: BindPlan,
  { name, attached }: ChosenExecutor,
  acknowledged: ReadonlySet<string>,
): void {
  const first = unheld(plan, attached).find(({ rule }) => !acknowledged.has(rule))
  if (first === undefined) return
  const { reason, remedy } = describeUnheld(first, name)
  throw virtualError({
    code: 'EUNENFORCEABLE',
    operation: 'exec',
    path: first.path,
    rule: first.rule,
    reason: `is under a rule that cannot be enforced on this command: ${reason}`,
    remedy: `${remedy}; as a last resort run this command without the rule (\`acknowledge: ['${first.rule}']\`)`,
  })
}

/** Refuses a working directory that a mask covers. A mask can even cover the default directory, the root. */
export function requireEntrance(plan: BindPlan, { attached }: ChosenExecutor, cwd: VirtualPath): void {
  if (attached.guarantees.deniedSubtrees === 'interpreter') return
  const mask = plan.binds.find(({ kind, at }) => kind === 'mask' && isWithin(cwd, at))
  if (mask === undefined) return
  throw virtualError({
    code: 'EACCES',
    operation: 'exec',
    path: cwd,
    rule: mask.rules[0],
    reason: 'is denied as a whole, so no command can start there',
    remedy: 'give a directory that the rules leave open as `cwd`',
  })
}
