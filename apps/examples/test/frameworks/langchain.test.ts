/** @module-tag all */
import { DynamicStructuredTool } from '@langchain/core/tools'
import type { JSONSchema } from '@langchain/core/utils/json_schema'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules } from '@ws/core'
import type { Workspace } from '@ws/core'
import { createTools } from '@ws/tools'
import type { Toolset } from '@ws/tools'
import { expect, it, onTestFinished } from 'vitest'

/** The tools of a workspace for LangChain: the model sees the text of an answer, and the program the answer itself. */
function langChainTools(toolset: Toolset): DynamicStructuredTool<JSONSchema>[] {
  return toolset.tools.map(
    ({ name, description, inputSchema, run }) =>
      new DynamicStructuredTool<JSONSchema>({
        name,
        description,
        schema: inputSchema as JSONSchema,
        responseFormat: 'content_and_artifact',
        async func(input: unknown, _manager, config) {
          const answer = await run(input, { signal: config?.signal })
          return [answer.text, answer]
        },
      }),
  )
}

async function open(): Promise<Workspace> {
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createMemoryAdapter() }],
    rules: [rules.readOnly('/docs')],
  })
  onTestFinished(() => workspace.close())
  return workspace
}

it('gives LangChain the tools of a workspace: text for the model, the answer as artifact', async () => {
  const workspace = await open()
  await using toolset = createTools(workspace, { face: 'split', downloads: false })
  const tools = langChainTools(toolset)
  expect(tools.map(({ name }) => name)).toEqual(toolset.tools.map(({ name }) => name))
  const call = async (name: string, args: Record<string, unknown>) =>
    tools.find((one) => one.name === name)?.invoke({ type: 'tool_call', id: '1', name, args })

  const written = await call('write', { path: 'notes/a.md', content: 'hello\n' })
  expect(written).toMatchObject({ status: 'success', artifact: { isError: false } })
  expect(await workspace.readText('notes/a.md')).toBe('hello\n')

  const refused = await call('write', { path: 'docs/a.md', content: 'hello\n' })
  expect(refused).toMatchObject({
    content: expect.stringMatching(/Write outside `\/docs`/u),
    artifact: { isError: true, data: { code: 'EACCES' } },
  })
})
