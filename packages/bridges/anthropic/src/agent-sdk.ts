import { createSdkMcpServer, tool } from '@anthropic-ai/claude-agent-sdk'
import type { CanUseTool, McpSdkServerConfigWithInstance } from '@anthropic-ai/claude-agent-sdk'
import type { Workspace } from '@ws/core'
import { WorkspaceError } from '@ws/core'
import { createTools } from '@ws/tools'
import type { Tool, Toolset, ToolsOptions } from '@ws/tools'
import { checkFramework, checkWorkspace, PendingCalls } from '@ws/tools/bridge'
import { z } from 'zod'

import { askBy, type CanUseEffects } from './approval.ts'

/** Claude Code's tools that reach this machine, or that this server replaces. */
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

interface ClaudeOptions extends ToolsOptions {
  /** The server's name, a prefix of its tools: `mcp__ws__Bash`. Letters, digits, `-` and `_`. Default `ws`. */
  readonly server?: string | undefined
  /**
   * Asks about the effects of calls, in place of `approve`. A call runs first; if it changed files, `pending` has the changes. `allow` keeps
   * all that is left to decide, except after a `grant`. `deny`, an exception, another answer and changed arguments take it back.
   * `updatedPermissions` are ignored. Tools of other servers come without `pending`. Needs the workspace's `checkpoints` (`EINVAL`).
   */
  readonly canUseTool?: CanUseEffects | undefined
}

/** Options for `query`, to be spread into its own. */
interface WorkspaceQueryOptions {
  readonly mcpServers: Record<string, McpSdkServerConfigWithInstance>
  /** Always empty, which disables all built-in tools. */
  readonly tools: string[]
  /** Maps the names that the model uses to the names of the server: `{ Bash: 'mcp__ws__Bash' }`. */
  readonly toolAliases: Record<string, string>
  /** With `canUseTool`, only the tools that read. */
  readonly allowedTools: string[]
  readonly canUseTool?: CanUseTool
  readonly disallowedTools: string[]
}

export interface ClaudeTools extends AsyncDisposable {
  /** For `query({ prompt, options: { ...options } })`. */
  readonly options: WorkspaceQueryOptions
  journal(): ReturnType<Toolset['journal']>
  /** Ends the tools' background commands. The workspace stays open. */
  close(): Promise<void>
}

/**
 * Makes an in-process server with the workspace's tools, and the options of `query` that replace the built-in tools with this server.
 * The default face is `claude-code`. All its tools are allowed without `canUseTool`, since the workspace's rules judge each call.
 * @throws WorkspaceError `EINVAL` for an option or another value than a workspace; `ENOTSUP` for an unsupported SDK
 */
export function createClaudeTools(workspace: Workspace, options: ClaudeOptions = {}): ClaudeTools {
  const name = '@anthropic-ai/claude-agent-sdk'
  checkFramework('createClaudeTools', { name, from: '0.3.330', importer: import.meta.url })
  checkWorkspace(workspace, 'createClaudeTools')
  const { server: serverName = 'ws', face = 'claude-code', canUseTool, ...rest } = options
  if (canUseTool !== undefined && rest.approve !== undefined) {
    const reason = '`approve` and `canUseTool` both decide about changes'
    throw new WorkspaceError({ code: 'EINVAL', operation: 'createClaudeTools', reason, remedy: 'give one of them' })
  }
  const own = (toolName: string): string => `mcp__${serverName}__${toolName}`
  const pending = new PendingCalls()
  const toolset = createTools(workspace, { ...rest, face, ...(canUseTool && { approve: pending.approve }) })
  const asked = toolset.tools.filter(({ annotations }) => canUseTool && !annotations.readOnlyHint)
  const changing = new Map(asked.map((one) => [own(one.name), one]))
  const asking = canUseTool && askBy(canUseTool, pending, changing)
  const server = createSdkMcpServer({
    name: serverName,
    alwaysLoad: true,
    tools: toolset.tools.map(({ name: toolName, description, inputSchema, annotations }) =>
      tool(
        toolName,
        description,
        // given a plain object of fields, the SDK would silently drop misspelt arguments
        schemaOf(inputSchema) as unknown as ReturnType<typeof schemaOf>['shape'],
        async (input: unknown, extra: unknown) => {
          const shown = changing.has(own(toolName)) ? asking?.take(own(toolName), input) : undefined
          const { isError, text, image } = await (shown ?? toolset.run(toolName, input, { signal: signalOf(extra) }))
          const seen = image ? [{ type: 'image' as const, data: image.data, mimeType: image.mediaType }] : []
          return { content: [{ type: 'text' as const, text }, ...seen], isError }
        },
        { annotations },
      ),
    ),
  })
  const names = toolset.tools.map((one) => one.name)
  const close = (): Promise<void> => pending.close(toolset)
  return {
    options: {
      mcpServers: { [serverName]: server },
      tools: [],
      toolAliases: Object.fromEntries(names.map((toolName) => [toolName, own(toolName)])),
      allowedTools: names.map(own).filter((toolName) => !changing.has(toolName)),
      disallowedTools: [...builtIn],
      ...(asking && { canUseTool: asking.ask }),
    },
    journal: () => toolset.journal(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** A schema that describes the arguments to the model, but accepts all arguments: the toolset checks these with better messages. */
function schemaOf({ properties, required = [] }: Tool['inputSchema']): z.ZodObject {
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
