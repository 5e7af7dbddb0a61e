// A server on standard input and output, as a client starts it: `node stdio-server.ts ROOT [FACE]`. With FACE it offers commands.
import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, rules } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { findSkills, serveStdio } from '@ws/mcp-server'
import type { FaceName } from '@ws/tools/face-names'

const [root = '', face] = process.argv.slice(2)
await using workspace = await createWorkspace({
  mounts: [{ at: '/', adapter: () => createLocalAdapter({ root }) }],
  rules: [rules.deny('/secret')],
  executors: [createVirtualExecutor()],
})
await using server = await serveStdio(
  { workspace, listSkills: () => findSkills(workspace, '/skills') },
  {
    tools: { face: (face as FaceName | undefined) ?? 'split' },
    ...(face !== undefined && { commands: { fileContent: 'interpreter' } }),
  },
)
await server.closed
