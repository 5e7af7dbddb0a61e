import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules, type Workspace, type WorkspaceOptions } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { findSkills, serveHttp, serveStdio, type HttpOptions, type HttpServer, type StdioOptions } from '@ws/mcp-server'
import { png } from '@ws/test-fixtures/images'
import { onTestFinished } from 'vitest'

type Files = Readonly<Record<string, string | Uint8Array>>

const skill = '---\nname: plan\ndescription: Plans a task.\n---\nThink first.\n'
export const project: Files = {
  '/a.txt': 'one\n',
  '/src/app.ts': 'const a = 1\n',
  '/src/b c.ts': '',
  '/image.bin': new Uint8Array([0, 255, 254]),
  '/image.png': png(),
  '/secret': 'hidden\n',
  '/skills/plan/SKILL.md': skill,
}

/** A workspace in memory with the interpreter for commands, where `/secret` is denied. */
export async function openWorkspace(
  files: Files = project,
  options: Partial<WorkspaceOptions> = {},
): Promise<Workspace> {
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createMemoryAdapter({ files }) }],
    rules: [rules.deny('/secret')],
    executors: [createVirtualExecutor()],
    ...options,
  })
  onTestFinished(() => workspace.close())
  return workspace
}

/** A workspace for one client, over pipes. */
export async function serveOnPipe(workspace: Workspace, options: StdioOptions): Promise<void> {
  const server = await serveStdio(
    { workspace, listSkills: () => findSkills(workspace, '/skills') },
    { tools: { face: 'split' }, commands: { fileContent: 'interpreter' }, ...options },
  )
  onTestFinished(() => server.close())
}

/** One workspace for all clients, over HTTP on a free port. */
export async function serveOne(workspace: Workspace, options: Partial<HttpOptions> = {}): Promise<HttpServer> {
  const server = await serveHttp({
    tools: { face: 'split' },
    commands: { fileContent: 'interpreter' },
    open: async () => ({ workspace, listSkills: () => findSkills(workspace, '/skills'), close: async () => undefined }),
    ...options,
  })
  onTestFinished(() => server.close())
  return server
}
