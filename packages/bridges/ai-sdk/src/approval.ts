import type { Workspace } from '@ws/core'
import { WorkspaceError } from '@ws/core'
import type { ToolsOptions } from '@ws/tools'
import { judgeCall } from '@ws/tools/bridge'
import type { ToolApprovalStatus } from 'ai'

/** The calls that need the user, among those that the workspace allows. */
const asks = ['nothing', 'commands', 'changes'] as const

export interface ApprovalOptions {
  /** Calls to ask about: `commands`, `changes` (also commands and unknown arguments), `nothing`. Default `changes`. */
  readonly ask?: (typeof asks)[number] | undefined
}

/** Returns the function that the AI SDK asks about a call. */
export function createApproval(
  workspace: Workspace,
  { ask = 'changes', downloads }: ApprovalOptions & Pick<ToolsOptions, 'downloads'>,
): (tool: string, input: unknown) => Promise<ToolApprovalStatus> {
  if (!asks.includes(ask)) {
    throw new WorkspaceError({
      code: 'EINVAL',
      operation: 'createAiTools',
      reason: `\`ask\` must be one of ${asks.map((one) => `\`${one}\``).join(', ')}`,
      remedy: 'give one of them',
    })
  }
  return async (tool, input) => {
    const { effect, kind, reason } = await judgeCall(workspace, tool, input, downloads)
    if (effect === 'deny') return { type: 'denied', ...(reason !== undefined && { reason }) }
    const needsUser = ask === 'changes' ? kind !== 'read' : ask === 'commands' && kind === 'command'
    return needsUser ? 'user-approval' : 'not-applicable'
  }
}
