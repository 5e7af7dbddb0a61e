import type { MemoryToolHandlers } from '@anthropic-ai/sdk/helpers/beta/memory'
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError'
import type { BetaMemoryTool20250818Command } from '@anthropic-ai/sdk/resources/beta'
import type { Workspace } from '@ws/core'
import { createTools } from '@ws/tools'
import type { ToolAnswer } from '@ws/tools'

import { checkGiven } from './framework.ts'

export type MemoryCommand = BetaMemoryTool20250818Command

/**
 * Makes handlers for `betaMemoryTool(handlers)`: files below `memories` of the root. Answers begin with Anthropic's documented sentences.
 * A refusal is a `ToolError` with reason and remedy. @throws AnthropicError for another value than a workspace, or another SDK version
 */
export function createMemoryHandlers(workspace: Workspace): MemoryToolHandlers {
  checkGiven(workspace, 'createMemoryHandlers')
  const toolset = createTools(workspace, { face: 'anthropic', downloads: false })
  const run = async (command: MemoryCommand): Promise<string> =>
    memoryAnswer(command, await toolset.run('memory', command))
  return { view: run, create: run, str_replace: run, insert: run, delete: run, rename: run }
}

/** The documented sentence of a success, then the tool's answer. @throws ToolError for a refusal */
export function memoryAnswer(command: MemoryCommand, answer: ToolAnswer): string {
  if (answer.isError) throw new ToolError(refusalOf(command, answer))
  return `${doneOf(command, answer)}\n${answer.text}`
}

function doneOf(command: MemoryCommand, { data }: ToolAnswer): string {
  switch (command.command) {
    case 'view':
      return data?.['version'] === undefined
        ? `Here're the files and directories up to 2 levels deep in ${command.path}, excluding hidden items and node_modules:`
        : `Here's the content of ${command.path} with line numbers:`
    case 'create':
      return `File created successfully at: ${command.path}`
    case 'str_replace':
      return 'The memory file has been edited.'
    case 'insert':
      return `The file ${command.path} has been edited.`
    case 'delete':
      return `Successfully deleted ${command.path}`
    case 'rename':
      return `Successfully renamed ${command.old_path} to ${command.new_path}`
  }
}

/** The documented sentence of a refusal, if any, then the tool's answer. */
function refusalOf(command: MemoryCommand, { text, data }: ToolAnswer): string {
  const documented = sentenceFor(command, data ?? {}) ?? noReplacement(command, text)
  return documented === undefined ? text : `${documented}\n${text}`
}

function sentenceFor(
  command: MemoryCommand,
  { code, argument, lines }: Readonly<Record<string, unknown>>,
): string | undefined {
  const path = 'path' in command ? command.path : command.old_path
  const given = [path, ...(command.command === 'rename' ? [command.new_path] : [])]
  switch (code) {
    case 'ENOENT': {
      const words = `The path ${path} does not exist`
      return command.command === 'delete' || command.command === 'rename'
        ? words
        : `${words}. Please provide a valid path.`
    }
    case 'EEXIST':
      return command.command === 'rename'
        ? `The destination ${command.new_path} already exists`
        : `File ${path} already exists`
    case 'EISDIR':
      return `The path ${path} is not a file.`
    case 'EBUSY':
      return `Cannot ${command.command} the /memories directory itself`
    case 'EOUTSIDE': {
      const away = given.find((one) => !/^\/*memories(?:\/|$)/u.test(one))
      return away === undefined
        ? `Path ${given.find((one) => one.split('/').includes('..')) ?? path} would escape /memories directory`
        : `Path must start with /memories, got: ${away}`
    }
    case 'EINVAL':
      return command.command === 'insert' && argument === 'insert_line' && typeof lines === 'number'
        ? `Invalid \`insert_line\` parameter: ${command.insert_line}. It should be within the range of lines of the file: [0, ${lines}]`
        : undefined
    default:
      return undefined
  }
}

/** The documented sentences for a missing or repeated text. */
function noReplacement(command: MemoryCommand, text: string): string | undefined {
  if (command.command !== 'str_replace') return undefined
  const { old_str, path } = command
  if (text.startsWith('Error: `old_str` was not found')) {
    return `No replacement was performed, old_str \`${old_str}\` did not appear verbatim in ${path}.`
  }
  const lines = /^Error: `old_str` was found \d+ times in .*? \(lines ([\d, ]+)/u.exec(text)?.[1]
  if (lines === undefined) return undefined
  return `No replacement was performed. Multiple occurrences of old_str \`${old_str}\` in lines: ${lines}. Please ensure it is unique`
}
