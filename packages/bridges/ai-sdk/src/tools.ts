import type { Workspace } from '@ws/core'
import { createTools } from '@ws/tools'
import type { Tool, ToolAnswer, Toolset, ToolsOptions } from '@ws/tools'
import { checkWorkspace } from '@ws/tools/bridge'
import { jsonSchema, tool } from 'ai'
import type { ToolApprovalStatus, Tool as AiTool } from 'ai'

import { createApproval } from './approval.ts'
import type { ApprovalOptions } from './approval.ts'
import { checkAiSdk } from './framework.ts'

export interface AiToolsOptions extends ToolsOptions, ApprovalOptions {}

export interface AiTools extends AsyncDisposable {
  /** For `tools`. A call's result is the {@link ToolAnswer}; the model sees its text and its image. */
  readonly tools: Record<string, AiTool<unknown, ToolAnswer>>
  /**
   * For `toolApproval`. Refused calls are `denied`, with reason and remedy; calls of the kinds in `ask` need the user's approval.
   * Every call is judged again when it runs.
   */
  readonly toolApproval: Record<string, (input: unknown) => Promise<ToolApprovalStatus>>
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
  const approve = createApproval(workspace, { ask, downloads: options.downloads })
  const toolset = createTools(workspace, options)
  const close = (): Promise<void> => toolset.close()
  return {
    tools: Object.fromEntries(toolset.tools.map((one) => [one.name, aiTool(one)])),
    toolApproval: Object.fromEntries(
      toolset.tools.map(({ name }) => [name, (input: unknown) => approve(name, input)] as const),
    ),
    journal: () => toolset.journal(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function aiTool({ description, inputSchema, annotations, run }: Tool): AiTool<unknown, ToolAnswer> {
  return tool<unknown, ToolAnswer, Record<string, unknown>>({
    title: annotations.title,
    description,
    // the tool itself checks arguments, with better messages
    inputSchema: jsonSchema<unknown>(inputSchema as Parameters<typeof jsonSchema>[0]),
    execute: (input, { abortSignal }) => run(input, { signal: abortSignal }),
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
