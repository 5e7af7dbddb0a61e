import { isWorkspaceError, quotePath } from '../errors.ts'
import type { WorkspaceError } from '../errors.ts'
import type { BindPlan } from '../contract/bind-plan.ts'
import { findMatches } from './binds/cover-names.ts'
import type { GuaranteeLevel } from '../contract/guarantees.ts'
import { displayPath } from '../path/segments.ts'
import { isWithin, rootPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { operations, type FileOperation } from '../contract/operations.ts'
import { RulePolicy } from '../policy/policy.ts'
import { admit, type CommandDoor } from './admission.ts'
import { admitCall, parseFor } from '../calls/context.ts'
import type { Context } from '../calls/context.ts'
import { explainConnection } from './explain-connection.ts'
import { invalidOption } from '../options/check.ts'
import { describeUnheld, planFor, unheld, type ChosenExecutor } from './enforcement.ts'
import { checkMethod } from '../calls/method-options.ts'
import type { ExplainRequest, Explanation } from '../contract/workspace.ts'

interface Verdict {
  /** The path with links resolved; the given path if a step failed. */
  readonly resolvedPath: VirtualPath
  readonly refusal: WorkspaceError | undefined
}

export async function explain(door: CommandDoor, request: ExplainRequest): Promise<Explanation> {
  const { context } = door
  checkMethod('explain', 'explain', request, 'request')
  admitCall(context, 'explain', undefined)
  const { operation, path } = request
  if (operation === 'connect') return explainConnection(door, request)
  if (path === undefined) throw invalidOption('explain', 'path', 'a string', path, { required: true })
  const { resolvedPath, refusal: refused } =
    operation === 'exec' ? await judgeExec(door, { ...request, path }) : await judgeFiles(context, operation, path)
  const node = context.gate.namespace.find(resolvedPath)
  const plan =
    door.executor === undefined ? undefined : await planFor(context, door.executor, new Set(), { looksOnly: true })
  const rootForm = operation === 'exec' && plan !== undefined ? door.executor?.attached.rootForm?.(plan) : undefined
  const refusal = refused ?? rootForm?.refused
  const open = plan === undefined || door.executor === undefined ? [] : unheldIn(plan, door.executor)
  const exceptions = exceptionsAt(door, resolvedPath)
  const borders = (plan?.renameBorders ?? []).filter(
    (border) => isWithin(resolvedPath, border) || isWithin(border, resolvedPath),
  )
  return {
    effect: refusal === undefined ? 'allow' : 'deny',
    resolvedPath,
    rule: refusal?.rule,
    code: refusal?.code,
    reason: refusal?.reason,
    remedy: refusal?.remedy,
    mount: node.reserved ? undefined : node.mount?.at,
    enforcedBy: { files: 'interpreter', exec: execLevel(door, plan, resolvedPath) },
    exceptions: exceptions.length > 0 ? exceptions : undefined,
    unenforceable: open.length > 0 ? open : undefined,
    rootForm,
    matches: operation === 'exec' ? await matchesNow(context) : undefined,
    passedOver: operation === 'exec' ? passedOver(door) : undefined,
    renameBorders: borders.length > 0 ? borders : undefined,
  }
}

function unheldIn(plan: BindPlan, { name, attached }: ChosenExecutor): NonNullable<Explanation['unenforceable']> {
  const refused = unheld(plan, attached).map((one) => ({ rule: one.rule, ...describeUnheld(one, name) }))
  const uncovered = (plan.links ?? []).flatMap(({ path, rules, problem }) =>
    problem === undefined
      ? []
      : rules.map((rule) => ({ rule, reason: `${quotePath(path)} ${problem.reason}`, remedy: problem.remedy })),
  )
  return [...refused, ...uncovered]
}

function passedOver({ executor }: CommandDoor): Explanation['passedOver'] {
  if (executor === undefined || executor.passedOver.length === 0) return undefined
  return executor.passedOver.map(({ executor: name, reasons, remedies }) => ({
    executor: name,
    reason: reasons.join('; '),
    ...(remedies.length > 0 && { remedy: remedies.join('; or ') }),
  }))
}

async function matchesNow({ gate, tracer }: Context): Promise<Explanation['matches']> {
  const { matches } = await findMatches({ gate, tracer, acknowledged: new Set() })
  if (matches.length === 0) return undefined
  return matches.map(({ path, pattern }) => ({ rule: pattern.rule.name, path }))
}

async function judgeExec(
  door: CommandDoor,
  { path, command, acknowledge }: ExplainRequest & { readonly path: string },
): Promise<Verdict> {
  let resolvedPath = path as VirtualPath
  const onAdmitted = (_line: string, cwd?: VirtualPath): void => {
    resolvedPath = cwd ?? resolvedPath
  }
  try {
    await admit(door, command, { cwd: path, acknowledge }, { onAdmitted, looksOnly: true })
    return { resolvedPath, refusal: undefined }
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    return { resolvedPath, refusal: error }
  }
}

async function judgeFiles(context: Context, operation: FileOperation, path: string): Promise<Verdict> {
  const parsed = parseFor(context, 'explain', path)
  const budget = { links: 0 }
  let resolvedPath = displayPath(parsed.path)
  try {
    const settled = await context.walker.settle(operation, parsed.path, budget)
    resolvedPath = settled
    const { need, follows: follow } = operations[operation]
    resolvedPath = await context.walker.canonical(operation, settled, follow, budget, (at, link) => {
      const named = need === 'write' ? context.walker.refusalAtLink({ operation, need }, at, link) : undefined
      if (named !== undefined) throw named
    })
    context.gate.admit(operation, resolvedPath, need)
    return { resolvedPath, refusal: undefined }
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    // After a link or `..`, the error has the path of the refused step.
    const refused = error.path !== undefined && error.code === 'EACCES'
    return { resolvedPath: refused ? (error.path as VirtualPath) : resolvedPath, refusal: error }
  }
}

/** Returns the weakest level that enforces the rights at a path against commands. */
function execLevel(
  { executor }: CommandDoor,
  plan: BindPlan | undefined,
  path: VirtualPath,
): GuaranteeLevel | undefined {
  if (executor === undefined || plan === undefined) return undefined
  const { guarantees } = executor.attached
  const order: readonly GuaranteeLevel[] = ['none', 'names', 'translated', 'kernel', 'interpreter']
  const levels = [
    guarantees.fileContent,
    ...plan.restrictions
      .filter(
        (restriction) =>
          isWithin(path, restriction.path) || (restriction.field === 'apiRules' && restriction.path === rootPath),
      )
      .map(({ field, problem }) =>
        problem === undefined || guarantees[field] === 'interpreter' ? guarantees[field] : 'none',
      ),
  ]
  return order.find((level) => levels.includes(level))
}

function exceptionsAt({ context }: CommandDoor, path: VirtualPath): string[] {
  const { policy } = context.gate
  if (!(policy instanceof RulePolicy)) return []
  return policy.exceptions
    .filter(({ entry }) => isWithin(path, entry.path))
    .map(({ name, justification }) => `${name}: ${justification}`)
}
