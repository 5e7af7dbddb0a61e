import type { Workspace } from '@ws/core'
import { WorkspaceError } from '@ws/core'
import type { Toolset, ToolsOptions } from '@ws/tools'
import { describeEffects, judgeCall, type PendingCalls } from '@ws/tools/bridge'
import type { ModelMessage, ToolApprovalStatus } from 'ai'

/** Kinds of allowed calls that need the user's approval. */
const asks = ['nothing', 'commands', 'changes', 'effects'] as const

export interface ApprovalOptions {
  /**
   * Kinds of calls that need approval: `commands`, `changes` (includes commands and unknown arguments), `nothing`. Default `changes`.
   * `effects`: calls run before the question, and need approval only if they changed files. Denied changes are taken back. States that
   * nothing else changes the files, and needs the workspace's `checkpoints` (`EINVAL`).
   */
  readonly ask?: (typeof asks)[number] | undefined
}

export interface CallOptions {
  readonly toolCallId: string
  /** The messages before the step of the call; with the call when its approval is checked again. */
  readonly messages: readonly ModelMessage[]
}

export interface ApprovalParts {
  readonly workspace: Workspace
  readonly toolset: Toolset
  readonly pending: PendingCalls
}

type Approve = (tool: string, input: unknown, call: CallOptions) => Promise<ToolApprovalStatus>

/** Checks the options. @throws WorkspaceError `EINVAL` */
export function checkAsk({ ask, approve }: ApprovalOptions & Pick<ToolsOptions, 'approve'>): void {
  const fail = (reason: string, remedy: string): WorkspaceError =>
    new WorkspaceError({ code: 'EINVAL', operation: 'createAiTools', reason, remedy })
  if (ask !== undefined && !asks.includes(ask))
    throw fail(`\`ask\` must be one of ${asks.map((one) => `\`${one}\``).join(', ')}`, 'give one of them')
  if (ask === 'effects' && approve !== undefined)
    throw fail("`approve` and `ask: 'effects'` both decide about changes", 'give one of them')
}

/** Returns the function that decides for the AI SDK whether a call needs approval. */
export function createApproval(
  { workspace, toolset, pending }: ApprovalParts,
  { ask = 'changes', downloads, approve }: ApprovalOptions & Pick<ToolsOptions, 'downloads' | 'approve'>,
): Approve {
  return async (tool, input, call) => {
    const { toolCallId, messages } = call
    // the SDK checks an approved call again: its answer is there, or `execute` says that it is not
    if (ask === 'effects' && isIn(messages, toolCallId)) return 'user-approval'
    const { waiting } = pending
    // an approved call ends before the model's next step, so this one was denied or left
    if (waiting !== undefined && isIn(messages, waiting)) await pending.drop(waiting)
    const { effect, kind, reason } = await judgeCall(workspace, tool, input, downloads)
    const isBusy = pending.waiting !== undefined && kind !== 'read'
    const isAsked = effect === 'ask' && (ask === 'effects' || approve !== undefined)
    if (effect !== 'allow' && !isBusy && !isAsked) return { type: 'denied', ...(reason !== undefined && { reason }) }
    if (ask === 'effects') return kind === 'read' ? 'not-applicable' : await effects(tool, input, toolCallId)
    const needsUser = ask === 'changes' ? kind !== 'read' : ask === 'commands' && kind === 'command'
    return needsUser ? 'user-approval' : 'not-applicable'
  }

  async function effects(tool: string, input: unknown, toolCallId: string): Promise<ToolApprovalStatus> {
    const state = await pending.begin(toolCallId, () => toolset.run(tool, input))
    if (state === 'ended') return 'not-applicable'
    if (state === 'busy') return { type: 'denied', reason: (await pending.take(toolCallId))?.text ?? '' }
    const request = pending.get(toolCallId)
    const text = request && (await describeEffects(request, { diffCharacters: 0 }))
    return { type: 'user-approval', ...(text !== undefined && { reason: text }) }
  }
}

/** True if the messages contain this call of a tool. */
function isIn(messages: readonly ModelMessage[], toolCallId: string): boolean {
  return messages.some(
    ({ role, content }) =>
      role === 'assistant' &&
      Array.isArray(content) &&
      content.some((part) => part.type === 'tool-call' && part.toolCallId === toolCallId),
  )
}
