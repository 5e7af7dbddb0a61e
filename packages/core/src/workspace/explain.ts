import { isWorkspaceError } from '../errors.ts'
import type { WorkspaceError } from '../errors.ts'
import type { BindPlan } from '../executor/bind-plan.ts'
import type { GuaranteeLevel } from '../executor/guarantees.ts'
import { displayPath } from '../path/segments.ts'
import { isWithin, rootPath } from '../path/virtual-path.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import { operationNeeds } from '../policy/access.ts'
import type { FileOperation } from '../policy/types.ts'
import { RulePolicy } from '../policy/policy.ts'
import { describeUnheld, planFor, unheld } from './commands.ts'
import type { CommandDoor } from './commands.ts'
import { admitCall, parseFor } from './context.ts'
import { checkMethod } from './method-options.ts'
import type { ExplainRequest, Explanation } from './types.ts'

const onTheEntryItself = new Set<FileOperation>(['stat', 'delete', 'move', 'readSymlink', 'copy', 'createSymlink'])

/** What the policy says, and how it is held at each door. */
export async function explain(door: CommandDoor, request: ExplainRequest): Promise<Explanation> {
  const { context } = door
  checkMethod('explain', 'explain', request, 'request')
  admitCall(context, 'explain', undefined)
  const { operation, path } = request
  const fileOperation: FileOperation = operation === 'exec' ? 'list' : operation
  const parsed = parseFor(context, 'explain', path)
  const budget = { links: 0 }
  let resolvedPath = displayPath(parsed.path)
  let refusal: WorkspaceError | undefined
  try {
    const settled = await context.walker.settle(fileOperation, parsed.path, budget)
    resolvedPath = settled
    const follow = !onTheEntryItself.has(fileOperation)
    resolvedPath = await context.walker.canonical(fileOperation, settled, follow, budget)
    context.gate.admit(fileOperation, resolvedPath, operationNeeds[fileOperation])
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    refusal = error
    // The step that was refused, where a link or `..` led there.
    if (error.path !== undefined && error.code === 'EACCES') resolvedPath = error.path as VirtualPath
  }

  const node = context.gate.namespace.find(resolvedPath)
  const plan = door.executor === undefined ? undefined : await planFor(context, new Set(), { looksOnly: true })
  const open = plan === undefined || door.executor === undefined ? [] : unheld(plan, door.executor.attached)
  const exceptions = exceptionsAt(door, resolvedPath)
  const borders = (plan?.renameBorders ?? []).filter(
    (border) => isWithin(resolvedPath, border) || isWithin(border, resolvedPath),
  )
  const first = operation === 'exec' ? open[0] : undefined
  return {
    effect: refusal === undefined && first === undefined ? 'allow' : 'deny',
    resolvedPath,
    rule: refusal?.rule ?? first?.rule,
    code: refusal?.code ?? (first === undefined ? undefined : 'EUNENFORCEABLE'),
    reason: refusal?.reason ?? (first && describeUnheld(first, door.executor?.name ?? '').reason),
    remedy: refusal?.remedy ?? (first && describeUnheld(first, door.executor?.name ?? '').remedy),
    mount: node.reserved ? undefined : node.mount?.at,
    enforcedBy: { files: 'interpreter', exec: execLevel(door, plan, resolvedPath) },
    exceptions: exceptions.length > 0 ? exceptions : undefined,
    unenforceable:
      open.length > 0
        ? open.map((restriction) => ({
            rule: restriction.rule,
            ...describeUnheld(restriction, door.executor?.name ?? ''),
          }))
        : undefined,
    renameBorders: borders.length > 0 ? borders : undefined,
  }
}

/** The weakest level of all that holds the rights at a path against commands. */
function execLevel(
  { executor }: CommandDoor,
  plan: BindPlan | undefined,
  path: VirtualPath,
): GuaranteeLevel | undefined {
  if (executor === undefined || plan === undefined) return undefined
  const { guarantees } = executor.attached
  const order: readonly GuaranteeLevel[] = ['none', 'translated', 'kernel', 'interpreter']
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
