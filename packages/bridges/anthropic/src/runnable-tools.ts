import { AnthropicError } from '@anthropic-ai/sdk'
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool'
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError'
import type { BetaMemoryTool20250818, BetaTool, BetaToolTextEditor20250728 } from '@anthropic-ai/sdk/resources/beta'
import type { Workspace } from '@ws/core'
import { isWorkspaceError } from '@ws/core'
import { createTools } from '@ws/tools'
import type { Tool, ToolAnswer, Toolset, ToolsOptions } from '@ws/tools'

import { checkGiven } from './framework.ts'
import { memoryAnswer } from './memory.ts'
import type { MemoryCommand } from './memory.ts'

export interface RunnableToolsOptions extends ToolsOptions {
  /** Names of the tools to offer. Default: all tools of the face. */
  readonly names?: readonly string[] | undefined
  /** Limit of characters that the text editor shows of a file: its `max_characters`. Default: only `maxContext`. */
  readonly maxCharacters?: number | undefined
}

/** Tools for `client.beta.messages.toolRunner({ tools })`, and their changes. */
export interface RunnableTools extends AsyncDisposable {
  readonly tools: BetaRunnableTool[]
  journal(): ReturnType<Toolset['journal']>
  /** Ends the tools' background commands. The workspace stays open. */
  close(): Promise<void>
}

/**
 * Makes tools for a tool runner of the SDK. The default face `anthropic` has the versioned text editor and memory.
 * It also has `bash`, `read`, `write`, `edit`, `glob` and `grep` of the agent toolset.
 * A refusal is a `ToolError` with reason, remedy and suggested call. Calls on one path run in turn. Aborting the runner ends its calls.
 * @throws AnthropicError for an invalid option, another SDK version, or another value than a workspace
 */
export function createRunnableTools(workspace: Workspace, options: RunnableToolsOptions = {}): RunnableTools {
  checkGiven(workspace, 'createRunnableTools')
  const { names, maxCharacters, face = 'anthropic', ...rest } = options
  const toolset = toolsetOf(() => createTools(workspace, { ...rest, face }))
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => (closing ??= toolset.close())
  const tools = chosen(toolset, names).map(
    (tool): BetaRunnableTool => ({
      ...definitionOf(tool, maxCharacters),
      // the toolset checks arguments with better messages
      parse: (input) => input,
      run: async (input, context) => {
        const signal = context?.signal ?? undefined
        const answer = await toolset.run(tool.name, input, { signal })
        if (tool.name === 'memory') return memoryAnswer(input as MemoryCommand, answer)
        if (answer.isError) throw new ToolError(answer.text)
        return contentOf(answer)
      },
      close,
    }),
  )
  return { tools, journal: () => toolset.journal(), close, [Symbol.asyncDispose]: close }
}

function contentOf({ text, image }: ToolAnswer): Awaited<ReturnType<BetaRunnableTool['run']>> {
  if (image === undefined) return text
  const { data, mediaType: media_type } = image
  return [
    { type: 'text', text },
    { type: 'image', source: { type: 'base64', media_type, data } },
  ]
}

function toolsetOf(make: () => Toolset): Toolset {
  try {
    return make()
  } catch (error) {
    throw isWorkspaceError(error) ? new AnthropicError(error.message) : error
  }
}

function chosen({ tools }: Toolset, names: readonly string[] | undefined): readonly Tool[] {
  if (names === undefined) return tools
  return names.map((name) => {
    const found = tools.find((tool) => tool.name === name)
    if (found !== undefined) return found
    const known = tools.map((tool) => `\`${tool.name}\``).join(', ')
    throw new AnthropicError(`createRunnableTools: \`${name}\` is not a tool of this face; the tools are ${known}`)
  })
}

type Definition = BetaTool | BetaToolTextEditor20250728 | BetaMemoryTool20250818

/** Defines a tool by its versioned type where models know that type, else by its schema. */
function definitionOf({ name, description, inputSchema }: Tool, maxCharacters: number | undefined): Definition {
  if (name === 'memory') return { type: 'memory_20250818', name }
  if (name === 'str_replace_based_edit_tool') {
    return {
      type: 'text_editor_20250728',
      name,
      ...(maxCharacters !== undefined && { max_characters: maxCharacters }),
    }
  }
  const { required = [], ...schema } = inputSchema
  return { name, description, input_schema: { ...schema, required: [...required] } }
}
