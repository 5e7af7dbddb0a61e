import { isWorkspaceError, quotePath } from '@ws/core'
import type { ErrorCode, ExplainRequest, Workspace } from '@ws/core'
import { askedIn } from '@ws/core/executor'

import type { ToolsOptions } from '../types.ts'
import { accessesOf } from './accesses.ts'
import { wordsOf } from './errors.ts'

export interface Judgement {
  /**
   * `deny`: the workspace would refuse the call. `ask`: a rule that asks would refuse the call, and a person can grant the call. Every call
   * is judged again when it runs.
   */
  readonly effect: 'allow' | 'ask' | 'deny'
  /** The strongest access that the call needs. `unknown` for invalid arguments, or a tool from outside `@ws/tools`. */
  readonly kind: 'read' | 'change' | 'command' | 'unknown'
  readonly reason?: string | undefined
}

const changing: ReadonlySet<string> = new Set(['write', 'append', 'delete', 'move'])
/** Codes of refusals by a rule, a mount or an executor. The tool itself reports missing files. */
const refusals: ReadonlySet<ErrorCode> = new Set([
  'EACCES',
  'EROFS',
  'EOUTSIDE',
  'EBUSY',
  'ENOEXECUTOR',
  'EUNENFORCEABLE',
  'ECLOSED',
])

/** Judges a call of a tool by `workspace.explain()`, without running it. @param downloads as in the options of the tools */
export async function judgeCall(
  workspace: Workspace,
  tool: string,
  input: unknown,
  downloads: ToolsOptions['downloads'] = {},
): Promise<Judgement> {
  const accesses = accessesOf(tool, input)
  if (accesses === undefined) return { effect: 'allow', kind: 'unknown' }
  const kind = kindOf(accesses)
  const hosts = downloads !== false && 'hosts' in downloads ? downloads.hosts : undefined
  let asked: string | undefined
  for (const access of accesses) {
    const refusal = await refusalOf(workspace, access.operation === 'connect' ? { ...access, hosts } : access)
    if (refusal !== undefined && !refusal.asks) return { effect: 'deny', kind, reason: refusal.reason }
    asked ??= refusal?.reason
  }
  return asked === undefined ? { effect: 'allow', kind } : { effect: 'ask', kind, reason: asked }
}

function kindOf(accesses: readonly ExplainRequest[]): Judgement['kind'] {
  if (accesses.some(({ operation }) => operation === 'exec')) return 'command'
  return accesses.some(({ operation }) => changing.has(operation)) ? 'change' : 'read'
}

interface Refusal {
  readonly reason: string
  /** True if the rule asks. */
  readonly asks: boolean
}

async function refusalOf(workspace: Workspace, access: ExplainRequest): Promise<Refusal | undefined> {
  try {
    const { effect, code, resolvedPath, reason = 'is denied', rule, remedy } = await workspace.explain(access)
    if (effect === 'allow' || code === undefined || !refusals.has(code)) return undefined
    const note = rule === undefined ? '' : ` (rule ${quotePath(rule)})`
    const advice = remedy === undefined ? '' : `; ${remedy}`
    const { operation, host, port } = access
    const place = host === undefined ? { path: resolvedPath } : { host, port }
    return {
      reason: `${code}: ${operation}: ${quotePath(host ?? resolvedPath)} ${reason}${note}${advice}`,
      asks: rule !== undefined && askedIn(workspace, [{ rule, ...place }]).length > 0,
    }
  } catch (error) {
    if (isWorkspaceError(error)) return refusals.has(error.code) ? { reason: wordsOf(error), asks: false } : undefined
    throw error
  }
}
