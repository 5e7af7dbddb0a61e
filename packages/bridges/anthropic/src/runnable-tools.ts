import { AnthropicError } from '@anthropic-ai/sdk'
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool'
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError'
import type { BetaMemoryTool20250818, BetaTool, BetaToolTextEditor20250728 } from '@anthropic-ai/sdk/resources/beta'
import type { Workspace } from '@ws/core'
import { isWorkspaceError } from '@ws/core'
import { createTools } from '@ws/tools'
import type { Tool, Toolset, ToolsOptions } from '@ws/tools'

import { checkGiven } from './framework.ts'
import { memoryAnswer } from './memory.ts'
import type { MemoryCommand } from './memory.ts'

export interface RunnableToolsOptions extends ToolsOptions {
  /** Names of the tools that are given. Default: all of the face. */
  readonly names?: readonly string[] | undefined
  /** Characters of a file that the text editor shows at most: its `max_characters`. Default: none but `maxContext`. */
  readonly maxCharacters?: number | undefined
}

/** Tools for `client.beta.messages.toolRunner({ tools })`, and the changes that they made. */
export interface RunnableTools extends AsyncDisposable {
  readonly tools: BetaRunnableTool[]
  /** The changes of all calls so far, with the versions before and after. */
  journal(): ReturnType<Toolset['journal']>
  /** Ends background commands of the tools. The workspace stays open. */
  close(): Promise<void>
}

/**
 * Makes tools that a tool runner of the SDK runs. The default face `anthropic` has the text editor and the memory by their
 * versioned types, and `bash`, `read`, `write`, `edit`, `glob` and `grep` of the agent toolset.
 *
 * A refusal is a `ToolError`, whose content is the reason, the remedy and a ready call. Calls at the same time are safe: those
 * on one path wait for each other. A call ends with the signal of its runner.
 *
 * @throws AnthropicError for an option that is not valid, another version of the SDK, and where `workspace` is not a workspace
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
      // the toolset checks arguments, and says how to put them right
      parse: (input) => input,
      run: async (input, context) => {
        const signal = context?.signal ?? undefined
        const answer = await toolset.run(tool.name, input, { signal })
        if (tool.name === 'memory') return memoryAnswer(input as MemoryCommand, answer)
        if (answer.isError) throw new ToolError(answer.text)
        return answer.text
      },
      close,
    }),
  )
  return { tools, journal: () => toolset.journal(), close, [Symbol.asyncDispose]: close }
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

/** Describes a tool by its type, where models know one; otherwise by its schema. */
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
