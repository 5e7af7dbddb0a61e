import type { Workspace } from '@ws/core'
import { createTools } from '@ws/tools'
import type { Tool, ToolAnswer, Toolset, ToolsOptions } from '@ws/tools'
import { checkWorkspace, judgeCall, type PendingCall, PendingCalls } from '@ws/tools/bridge'
import { jsonSchema, tool } from 'ai'
import type { ToolApprovalStatus, Tool as AiTool } from 'ai'

import { checkAsk, createApproval } from './approval.ts'
import type { ApprovalOptions, CallOptions } from './approval.ts'
import { checkAiSdk } from './framework.ts'

export interface AiToolsOptions extends ToolsOptions, ApprovalOptions {}

export interface AiTools extends AsyncDisposable {
  /** For `tools`. A call's result is the {@link ToolAnswer}; the model sees its text and its image. */
  readonly tools: Record<string, AiTool<unknown, ToolAnswer>>
  /**
   * For `toolApproval`. Refused calls are `denied`, with reason and remedy; calls of the kinds in `ask` need the user's approval.
   * Every call is judged again when it runs.
   */
  readonly toolApproval: Record<string, (input: unknown, call: CallOptions) => Promise<ToolApprovalStatus>>
  /**
   * The changes of a call that needs approval, with `ask: 'effects'`. Approval keeps all of them; `decide` keeps some of them before. A
   * denied call is taken back by `decide`, at the next call or after `decideWithin`.
   */
  readonly pending: (toolCallId: string) => PendingCall | undefined
  readonly journal: Toolset['journal']
  /** Ends the tools' background commands. The workspace stays open. */
  readonly close: () => Promise<void>
}

/**
 * Makes a workspace's tools in any face of `@ws/tools`.
 * A failed call is a result with `isError` (`error-text` for the model), since the AI SDK's UI streams hide thrown messages.
 * Only an abort rejects. @throws WorkspaceError `EINVAL` for options or workspace, `ENOTSUP` for an unsupported AI SDK
 */
export function createAiTools(workspace: Workspace, { ask, ...options }: AiToolsOptions = {}): AiTools {
  checkWorkspace(workspace, 'createAiTools')
  checkAiSdk('createAiTools')
  checkAsk({ ask, ...options })
  const pending = new PendingCalls()
  const toolset = createTools(workspace, ask === 'effects' ? { ...options, approve: pending.approve } : options)
  const approve = createApproval({ workspace, toolset, pending }, { ask, ...options })
  const close = (): Promise<void> => pending.close(toolset)
  /** The answer of a call that has run. A call that only reads runs now. */
  const shown = async (name: string, input: unknown, id: string): Promise<ToolAnswer | undefined> => {
    const runsNow = !pending.has(id) && (await judgeCall(workspace, name, input)).kind === 'read'
    return runsNow ? undefined : pending.take(id)
  }
  return {
    tools: Object.fromEntries(
      toolset.tools.map((one) => [one.name, aiTool(one, ask === 'effects' ? shown : undefined)]),
    ),
    toolApproval: Object.fromEntries(
      toolset.tools.map(
        ({ name }) => [name, (input: unknown, call: CallOptions) => approve(name, input, call)] as const,
      ),
    ),
    pending: (toolCallId) => pending.get(toolCallId),
    journal: () => toolset.journal(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

type Shown = (tool: string, input: unknown, id: string) => Promise<ToolAnswer | undefined>

/** @param shown the answer of a call that has already run */
function aiTool(
  { name, description, inputSchema, annotations, run }: Tool,
  shown?: Shown,
): AiTool<unknown, ToolAnswer> {
  return tool<unknown, ToolAnswer, Record<string, unknown>>({
    title: annotations.title,
    description,
    // the tool itself checks arguments, with better messages
    inputSchema: jsonSchema<unknown>(inputSchema as Parameters<typeof jsonSchema>[0]),
    execute: async (input, { abortSignal, toolCallId }) =>
      (await shown?.(name, input, toolCallId)) ?? (await run(input, { signal: abortSignal })),
    toModelOutput: ({ output: { isError, text, image } }) =>
      image === undefined
        ? { type: isError ? 'error-text' : 'text', value: text }
        : {
            type: 'content',
            value: [
              { type: 'text', text },
              { type: 'file', mediaType: image.mediaType, data: { type: 'data', data: image.data } },
            ],
          },
  })
}
