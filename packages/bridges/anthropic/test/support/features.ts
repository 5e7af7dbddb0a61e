import Anthropic from '@anthropic-ai/sdk'
import type { BetaMessageParam } from '@anthropic-ai/sdk/resources/beta'
import { createMemoryHandlers, createRunnableTools } from '@ws/bridge-anthropic'
import type { RunnableToolsOptions } from '../../src/runnable-tools.ts'
import type { Features } from '@ws/tests-support/bridges'
import type { Workspace } from '@ws/core'
import { expect } from 'vitest'

import { playMessages, say, use } from './messages-server.ts'

type Call = ReturnType<typeof use>

interface Options extends RunnableToolsOptions {
  readonly messages?: BetaMessageParam[]
  /** Turns of the model before the runner stops. */
  readonly turns?: number
}

const go: BetaMessageParam[] = [{ role: 'user', content: 'go' }]

/** Lets a tool runner make these calls, and gives the results that the model saw, and the messages. */
async function play(workspace: Workspace, calls: readonly Call[], { messages = go, turns, ...rest }: Options = {}) {
  await using runnable = createRunnableTools(workspace, rest)
  const server = await playMessages([...calls, say('done')].map((call) => () => call))
  const client = new Anthropic({ apiKey: 'none', baseURL: server.url, maxRetries: 0 })
  const runner = client.beta.messages.toolRunner({
    model: 'claude-test',
    max_tokens: 1_000,
    messages,
    tools: runnable.tools,
    ...(turns !== undefined && { max_iterations: turns }),
  })
  await runner.runUntilDone()
  return { seen: server.seen.map(({ text }) => text), messages: [...runner.params.messages] }
}

const bash = (command: string): Call => use('bash', { command })

export const features: Features = {
  files: {
    by: '`createRunnableTools` for a tool runner',
    async test({ workspace, at }) {
      const { seen } = await play(workspace, [
        use('write', { file_path: 'notes/a.md', content: 'x1\n' }),
        use('str_replace_based_edit_tool', { command: 'view', path: at('notes/a.md') }),
        use('grep', { pattern: 'x1' }),
      ])
      expect(seen[2]).toContain('x1')
      expect(seen[3]).toContain('notes/a.md')
      expect(await workspace.readText('notes/a.md')).toBe('x1\n')
    },
  },
  'a command': {
    by: '`bash`',
    async test({ workspace, at }) {
      const { seen } = await play(workspace, [bash(`cat ${at('src/answer.txt')}; pwd; exit 3`)])
      expect(seen[1]).toContain(`answer=41\n${workspace.root}`)
      expect(seen[1]).toMatch(/code:? 3/iu)
    },
  },
  'background processes': {
    by: '`Bash`, `TaskOutput` and `TaskStop` of the face `claude-code`',
    async test({ workspace }) {
      const command = 'until test -e go; do sleep 0.1; done; echo went'
      const { seen } = await play(
        workspace,
        [
          use('Bash', { command, run_in_background: true }),
          use('TaskOutput', { task_id: 'c1' }),
          use('Write', { file_path: 'go', content: '' }),
          use('TaskOutput', { task_id: 'c1', block: true }),
          use('Bash', { command: 'sleep 300', run_in_background: true }),
          use('TaskStop', { task_id: 'c2' }),
        ],
        { face: 'claude-code' },
      )
      expect(seen[2]).toContain('Running.')
      expect(seen[4]).toBe('Exit code 0.\nwent')
      expect(seen[6]).toContain('Ended the background command c2.')
    },
  },
  'input of a process': 'the tools for Claude give commands no input',
  'large results': {
    by: 'head and tail from the tools; a file is read in parts',
    async test({ workspace }) {
      const { seen } = await play(workspace, [
        bash('seq 1 12000 | tee numbers.txt'),
        use('str_replace_based_edit_tool', { command: 'view', path: 'numbers.txt', view_range: [9_000, 9_000] }),
      ])
      expect(seen[1]?.length).toBeLessThan(50_000)
      expect(seen[1]).toMatch(/\n1\n2\n.*\n12000$/su)
      expect(seen[2]).toContain('9000')
    },
  },
  resume: {
    by: 'the messages of a runner, as JSON, with other tools and another workspace on the store',
    async test({ workspace, reopen }) {
      const write = use('write', { file_path: 'notes/a.md', content: 'x1\n' })
      const first = await play(workspace, [write], { turns: 1 })
      const stored = JSON.stringify(first.messages)
      const messages = JSON.parse(stored) as BetaMessageParam[]
      const { seen } = await play(await reopen(), [bash('cat notes/a.md')], { messages })
      expect(seen[0]).toContain('notes/a.md')
      expect(seen[1]).toContain('x1')
    },
  },
  approvals:
    'A tool runner runs each call. Claude Code asks, by `canUseTool`, also about effects; its program is not installed for tests',
  skills: 'Skills of the API run in Anthropic’s containers, those of Claude Code in its program',
  memory: {
    by: '`memory` of the tools, `createMemoryHandlers`',
    async test({ workspace, reopen }) {
      const path = '/memories/task.md'
      await play(workspace, [use('memory', { command: 'create', path, file_text: 'done\n' })])
      const { seen } = await play(await reopen(), [use('memory', { command: 'view', path })])
      expect(seen[1]).toContain('done')
      const handlers = createMemoryHandlers(await reopen())
      expect(await handlers.view({ command: 'view', path })).toContain('done')
    },
  },
}
