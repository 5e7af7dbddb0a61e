import { createSdkMcpServer, tool } from '@anthropic-ai/claude-agent-sdk'
import type { McpSdkServerConfigWithInstance } from '@anthropic-ai/claude-agent-sdk'
import type { Workspace } from '@ws/core'
import { createTools } from '@ws/tools'
import type { InputSchema, Toolset, ToolsOptions } from '@ws/tools'
import { checkFramework, checkWorkspace } from '@ws/tools/bridge'
import { z } from 'zod'

/** Tools of Claude Code that reach this machine, or that this server replaces. */
const builtIn = [
  'Bash',
  'BashOutput',
  'Edit',
  'EnterWorktree',
  'ExitWorktree',
  'Glob',
  'Grep',
  'KillShell',
  'LS',
  'LSP',
  'Monitor',
  'MultiEdit',
  'NotebookEdit',
  'NotebookRead',
  'PowerShell',
  'REPL',
  'Read',
  'TaskOutput',
  'TaskStop',
  'WebFetch',
  'Write',
] as const

export interface ClaudeOptions extends ToolsOptions {
  /** The name of the server, in front of its tools: `mcp__ws__Bash`. Letters, digits, `-` and `_`. Default `ws`. */
  readonly server?: string | undefined
}

/** A part of the options of `query`, to be spread into them. */
export interface WorkspaceQueryOptions {
  readonly mcpServers: Record<string, McpSdkServerConfigWithInstance>
  /** Built-in tools: none. */
  readonly tools: string[]
  /** Names that the model knows, to those of the server: `{ Bash: 'mcp__ws__Bash' }`. */
  readonly toolAliases: Record<string, string>
  readonly allowedTools: string[]
  readonly disallowedTools: string[]
}

/** The tools of a workspace for the Claude Agent SDK. */
export interface ClaudeTools extends AsyncDisposable {
  /** For `query({ prompt, options: { ...options } })`. */
  readonly options: WorkspaceQueryOptions
  /** The changes of all calls so far, with the versions before and after. */
  journal(): ReturnType<Toolset['journal']>
  /** Ends background commands of the tools. The workspace stays open. */
  close(): Promise<void>
}

/**
 * Makes an in-process server whose tools work on the workspace, and the options of `query` that put it in the place of the
 * built-in tools. The default face is `claude-code`. The built-in tools that reach this machine or go out from it are switched off; all tools of
 * the server are allowed, since the workspace's own rules judge each call.
 *
 * @throws WorkspaceError `EINVAL` for an option that is not valid, and where `workspace` is not a workspace; `ENOTSUP` for a version
 * of the SDK that is not supported
 */
export function createClaudeTools(workspace: Workspace, options: ClaudeOptions = {}): ClaudeTools {
  const name = '@anthropic-ai/claude-agent-sdk'
  checkFramework('createClaudeTools', { name, from: '0.3.330', importer: import.meta.url })
  checkWorkspace(workspace, 'createClaudeTools')
  const { server: serverName = 'ws', face = 'claude-code', ...rest } = options
  const toolset = createTools(workspace, { ...rest, face })
  const server = createSdkMcpServer({
    name: serverName,
    alwaysLoad: true,
    tools: toolset.tools.map(({ name: toolName, description, inputSchema, annotations }) =>
      tool(
        toolName,
        description,
        // the SDK takes a whole schema too; as a mere shape it would drop misspelt arguments without a word
        schemaOf(inputSchema) as unknown as ReturnType<typeof schemaOf>['shape'],
        async (input: unknown, extra: unknown) => {
          const { isError, text } = await toolset.run(toolName, input, { signal: signalOf(extra) })
          return { content: [{ type: 'text' as const, text }], isError }
        },
        { annotations },
      ),
    ),
  })
  const own = (toolName: string): string => `mcp__${serverName}__${toolName}`
  const names = toolset.tools.map((one) => one.name)
  const close = (): Promise<void> => toolset.close()
  return {
    options: {
      mcpServers: { [serverName]: server },
      tools: [],
      toolAliases: Object.fromEntries(names.map((toolName) => [toolName, own(toolName)])),
      allowedTools: names.map(own),
      disallowedTools: [...builtIn],
    },
    journal: () => toolset.journal(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Shows the model the schema as it is, and lets every argument through: the toolset checks them, and says how to put them right. */
function schemaOf({ properties, required = [] }: InputSchema): z.ZodObject {
  const shape = Object.entries(properties).map(([name, property]) => [
    name,
    z
      .any()
      .optional()
      .meta({ ...property }),
  ])
  return z.looseObject(Object.fromEntries(shape)).meta({ required: [...required], additionalProperties: false })
}

function signalOf(extra: unknown): AbortSignal | undefined {
  if (typeof extra !== 'object' || extra === null || !('signal' in extra)) return undefined
  return extra.signal instanceof AbortSignal ? extra.signal : undefined
}
