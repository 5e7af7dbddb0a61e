import { isWorkspaceError, quotePath } from '@ws/core'
import type { ErrorCode, ExplainRequest, Workspace } from '@ws/core'

import type { ToolsOptions } from '../types.ts'
import { accessesOf } from './accesses.ts'
import { wordsOf } from './errors.ts'

/** The workspace's opinion about a call that was not run yet. */
export interface Judgement {
  /** `deny`: the workspace would refuse it. Every call is judged again when it runs. */
  readonly effect: 'allow' | 'deny'
  /**
   * The most that the call asks for. `unknown` where its arguments do not show it: the arguments are not valid, or the tool
   * does not belong to `@ws/tools`.
   */
  readonly kind: 'read' | 'change' | 'command' | 'unknown'
  /** The reason and the remedy of a denial, in one text. */
  readonly reason?: string | undefined
}

const changing: ReadonlySet<string> = new Set(['write', 'append', 'delete', 'move'])
/** The codes of a rule, a mount or an executor that says no. The tool itself reports a missing file. */
const refusals: ReadonlySet<ErrorCode> = new Set([
  'EACCES',
  'EROFS',
  'EOUTSIDE',
  'EBUSY',
  'ENOEXECUTOR',
  'EUNENFORCEABLE',
  'ECLOSED',
])

/**
 * Judges a call of a tool of `@ws/tools` by `workspace.explain()`, without running it: for the part of a framework that asks
 * for approval.
 *
 * @param downloads as in the options of the tools
 */
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
    // a path that cannot be one at all
    if (isWorkspaceError(error)) return refusals.has(error.code) ? wordsOf(error) : undefined
    throw error
  }
}
