import {
  isInputRequiredResult,
  type CallToolResult,
  type InputRequiredResult,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { ToolAnswer } from '@ws/tools'
import { judgeCall } from '@ws/tools/bridge'

import type { Source } from '../source/source.ts'
import { metaOf, outputSchemaOf, shownSchema } from './output.ts'

/** Milliseconds between two reports that a call is still running. */
const progressInterval = 1_000

export function addTools(server: McpServer, { toolset, options, turns, opened, approvals }: Source): void {
  for (const tool of toolset.tools) {
    const { name, description, inputSchema, annotations } = tool
    const outputSchema = outputSchemaOf(options.tools?.face, name)
    const config = { title: annotations.title, description, inputSchema: shownSchema(inputSchema), annotations }
    const call = async (input: unknown, mcpReq: ServerContext['mcpReq']) => {
      using _ = reportProgress(name, mcpReq)
      if (approvals === undefined || (await judgeCall(opened.workspace, name, input)).kind === 'read')
        return await tool.run(input, { signal: mcpReq.signal })
      return await approvals.run({ server, tool, input, mcpReq })
    }
    server.registerTool(
      name,
      { ...config, ...(outputSchema && { outputSchema }) },
      async (input: unknown, { mcpReq }: ServerContext) => {
        const state = mcpReq.requestState()
        // a decision needs no turn: all turns may wait for it
        const isDecision = approvals !== undefined && typeof state === 'string'
        const answer = await (isDecision ? approvals.decide(state, mcpReq) : turns.run(() => call(input, mcpReq)))
        return resultOf(answer, outputSchema !== undefined)
      },
    )
  }
}

function resultOf(
  answer: ToolAnswer | InputRequiredResult,
  isStructured: boolean,
): CallToolResult | InputRequiredResult {
  if (isInputRequiredResult(answer)) return answer
  const { text, image, isError, data } = answer
  return {
    content: [
      { type: 'text', text },
      ...(image ? [{ type: 'image' as const, data: image.data, mimeType: image.mediaType }] : []),
    ],
    isError,
    ...(isStructured && !isError && { structuredContent: { ...data } }),
    _meta: metaOf(answer),
  }
}

/** Reports once a second that a call is running, if the client requests reports: many clients cancel a silent call. */
function reportProgress(name: string, { _meta, notify }: ServerContext['mcpReq']): Disposable {
  const progressToken = _meta?.progressToken
  if (progressToken === undefined) return { [Symbol.dispose]() {} }
  let seconds = 0
  const timer = setInterval(() => {
    seconds += 1
    const params = { progressToken, progress: seconds, message: `${name} has been running for ${seconds} s` }
    notify({ method: 'notifications/progress', params }).catch(() => undefined) // a client that has disconnected needs no report
  }, progressInterval)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
