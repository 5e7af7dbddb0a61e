import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import { type BubblewrapExecutorOptions, createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { createTools, type Toolset } from '@ws/tools'
import { expect, it, onTestFinished } from 'vitest'

async function open(face: 'file_system' | 'claude-code' | 'openai', executor: BubblewrapExecutorOptions = {}) {
  const scratch = await createScratchDirectory()
  onTestFinished(() => scratch.remove())
  const { path: root, owner } = scratch
  const workspace = await createWorkspace({
    mounts: [{ at: '/workspace', adapter: () => createLocalAdapter({ root, owner }) }],
    executors: [createBubblewrapExecutor(executor)],
  })
  const toolset = createTools(workspace, { face })
  onTestFinished(async () => {
    await toolset.close()
    await workspace.close()
  })
  return toolset
}

const call = async ({ tools }: Toolset, name: string, input: unknown) =>
  (await tools.find((tool) => tool.name === name)?.run(input))?.text ?? ''
const sentence = 'Later commands reach a server that runs in the background at `localhost`.'
const described = ({ tools }: Toolset) =>
  tools.filter(({ description }) => description.includes(sentence)).map(({ name }) => name)

describeWith(
  [component('bubblewrap'), component('perl'), component('python3')],
  'a server that a tool call starts',
  () => {
    it('[SV1] is reached by the next call, and named by the answer about it', async () => {
      const toolset = await open('claude-code')
      expect(described(toolset)).toEqual(['Bash'])
      const command = 'python3 -u -m http.server --bind 127.0.0.1 8000'
      const started = await call(toolset, 'Bash', { command, run_in_background: true })
      expect(started).toContain('Ask for it by this id: the answer names the ports on which commands listen.')
      const [, task_id = ''] = /id (\w+)/u.exec(started) ?? []
      const asked = await call(toolset, 'Bash', {
        command: 'curl -s --retry 50 --retry-delay 0 --retry-connrefused localhost:8000 | head -n 1',
      })
      expect(asked).toContain('<!DOCTYPE HTML>')
      expect(await call(toolset, 'TaskOutput', { task_id })).toContain('Commands listen at `localhost` on: 8000.')
      await call(toolset, 'TaskStop', { task_id })
      expect(await call(toolset, 'TaskOutput', { task_id })).not.toContain('Commands listen')
    })

    it('[SV1] is spoken of where commands can stay in the background, and share a loopback', async () => {
      expect(described(await open('file_system'))).toEqual(['execute'])
      expect(described(await open('openai'))).toEqual([])
      expect(described(await open('claude-code', { loopback: 'command' }))).toEqual([])
    })
  },
)
