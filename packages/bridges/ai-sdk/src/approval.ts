import type { Workspace } from '@ws/core'
import { WorkspaceError } from '@ws/core'
import type { ToolsOptions } from '@ws/tools'
import { judgeCall } from '@ws/tools/bridge'
import type { ToolApprovalStatus } from 'ai'

/** Kinds of allowed calls that need the user's approval. */
const asks = ['nothing', 'commands', 'changes'] as const

export interface ApprovalOptions {
  /** Kinds of calls that need approval: `commands`, `changes` (includes commands and unknown arguments), `nothing`. Default `changes`. */
  readonly ask?: (typeof asks)[number] | undefined
}

/** Returns the function that decides for the AI SDK whether a call needs approval. */
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
