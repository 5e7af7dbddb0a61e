import type { CallToolResult, McpServer, ServerContext } from '@modelcontextprotocol/server'
import type { Tool } from '@ws/tools'

import type { Source } from '../source/source.ts'
import { metaOf, outputSchemaOf, shownSchema } from './output.ts'

/** Milliseconds between two reports that a call is still running. */
const progressInterval = 1_000

export function addTools(server: McpServer, { toolset, options, turns }: Source): void {
  for (const tool of toolset.tools) {
    const { name, description, inputSchema, annotations } = tool
    const outputSchema = outputSchemaOf(options.tools?.face, name)
    const config = { title: annotations.title, description, inputSchema: shownSchema(inputSchema), annotations }
    server.registerTool(
      name,
      { ...config, ...(outputSchema && { outputSchema }) },
      (input: unknown, context: ServerContext) =>
        turns.run(() => call(tool, input, context, outputSchema !== undefined)),
    )
  }
}

async function call(
  tool: Tool,
  input: unknown,
  { mcpReq }: ServerContext,
  isStructured: boolean,
): Promise<CallToolResult> {
  using _ = reportProgress(tool.name, mcpReq)
  const answer = await tool.run(input, { signal: mcpReq.signal })
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
