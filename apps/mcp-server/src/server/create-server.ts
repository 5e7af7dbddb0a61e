import { McpServer } from '@modelcontextprotocol/server'
import type { SkillsExtension } from '@modelcontextprotocol/server/ext/skills'

import type { Source } from '../source/source.ts'
import { version } from '../version.ts'
import { addResources } from './resources.ts'
import { addTools } from './tools.ts'

/** Makes a server for a connection or a request. @param streams true if clients can be notified of changes */
export function createServer(
  source: Source,
  skills: SkillsExtension | undefined,
  { streams }: { readonly streams: boolean },
): McpServer {
  const { name = 'workspace', instructions } = source.options
  const server = new McpServer(
    { name, version, title: 'Workspace' },
    {
      capabilities: { tools: {}, resources: { subscribe: streams }, completions: {} },
      ...(instructions && { instructions }),
    },
  )
  addTools(server, source)
  addResources(server, source)
  skills?.attach(server)
  return server
}
