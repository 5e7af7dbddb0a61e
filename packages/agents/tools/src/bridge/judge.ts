import { isWorkspaceError, quotePath } from '@ws/core'
import type { ErrorCode, ExplainRequest, Workspace } from '@ws/core'

import type { ToolsOptions } from '../types.ts'
import { accessesOf } from './accesses.ts'
import { wordsOf } from './errors.ts'

export interface Judgement {
  /** `deny`: the workspace would refuse the call. Every call is judged again when it runs. */
  readonly effect: 'allow' | 'deny'
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
  for (const access of accesses) {
    const reason = await refusalOf(workspace, access.operation === 'connect' ? { ...access, hosts } : access)
    if (reason !== undefined) return { effect: 'deny', kind, reason }
  }
  return { effect: 'allow', kind }
}

function kindOf(accesses: readonly ExplainRequest[]): Judgement['kind'] {
  if (accesses.some(({ operation }) => operation === 'exec')) return 'command'
  return accesses.some(({ operation }) => changing.has(operation)) ? 'change' : 'read'
}

async function refusalOf(workspace: Workspace, access: ExplainRequest): Promise<string | undefined> {
  try {
    const { effect, code, resolvedPath, reason = 'is denied', rule, remedy } = await workspace.explain(access)
    if (effect === 'allow' || code === undefined || !refusals.has(code)) return undefined
    const note = rule === undefined ? '' : ` (rule ${quotePath(rule)})`
    const advice = remedy === undefined ? '' : `; ${remedy}`
    return `${code}: ${access.operation}: ${quotePath(access.host ?? resolvedPath)} ${reason}${note}${advice}`
  } catch (error) {
    if (isWorkspaceError(error)) return refusals.has(error.code) ? wordsOf(error) : undefined
    throw error
  }
}
