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

/** The tools of a workspace for `generateText`, `streamText` and agents of the AI SDK. */
export interface AiTools extends AsyncDisposable {
  /** For `tools`. The result of a call is the {@link ToolAnswer}; the model sees its text. */
  readonly tools: Record<string, AiTool<unknown, ToolAnswer>>
  /**
   * For `toolApproval`. A call that the workspace would refuse is `denied`, with the reason and the remedy; the user is not
   * asked. A call of the kind in `ask` needs the user. Every call is judged again when it runs.
   */
  readonly toolApproval: Record<string, (input: unknown) => Promise<ToolApprovalStatus>>
  /** The changes of all calls so far. */
  readonly journal: Toolset['journal']
  /** Ends the background commands that the tools started. The workspace stays open. */
  readonly close: () => Promise<void>
}

/**
 * Makes the tools of a workspace, in any face of `@ws/tools`.
 *
 * A call that fails is a result with `isError`, which the model gets as `error-text`. It is not thrown: the AI SDK's streams for
 * user interfaces replace the words of thrown errors, and the remedy would be lost. Only an abort rejects.
 *
 * @throws WorkspaceError `EINVAL` for options or a workspace of another shape, `ENOTSUP` for a version of the AI SDK that is not
 * supported
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
    // arguments are checked by the tool itself, whose words are better
    inputSchema: jsonSchema<unknown>(inputSchema as Parameters<typeof jsonSchema>[0]),
    execute: (input, { abortSignal }) => run(input, { signal: abortSignal }),
    toModelOutput: ({ output: { isError, text } }) => ({ type: isError ? 'error-text' : 'text', value: text }),
  })
}
