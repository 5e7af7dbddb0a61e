import { Command, MemorySaver } from '@langchain/langgraph'
import { createSandboxBackend } from '@ws/bridge-deepagents'
import type { Features } from '@ws/tests-support/bridges'
import type { Workspace } from '@ws/core'
import { createDeepAgent } from 'deepagents'
import type { CreateDeepAgentParams } from 'deepagents'
import { expect } from 'vitest'

import { ScriptedModel } from './script.ts'
import type { Next, Turn } from './script.ts'

type Options = Pick<CreateDeepAgentParams, 'checkpointer' | 'interruptOn' | 'memory' | 'skills'>

const thread = { configurable: { thread_id: 't1' } }

/** An agent that makes these calls, and the results that it saw. */
function open(workspace: Workspace, turns: readonly Turn[], options: Options = {}) {
  const seen: string[] = []
  const model = new ScriptedModel(
    [...turns, 'done'].map(
      (turn): Next =>
        (last) => (seen.push(last), turn),
    ),
  )
  const agent = createDeepAgent({ model, backend: createSandboxBackend(workspace), ...options })
  const go = (input: Command | { messages: { role: string; content: string }[] }) =>
    agent.invoke(input as Parameters<typeof agent.invoke>[0], thread)
  return { model, seen, go, start: () => go({ messages: [{ role: 'user', content: 'Go.' }] }) }
}

async function play(workspace: Workspace, turns: readonly Turn[], options?: Options) {
  const { model, seen, start } = open(workspace, turns, options)
  const { messages } = await start()
  expect(messages.at(-1)?.text).toBe('done')
  return { seen: seen.slice(1), instructions: model.instructions }
}

const execute = (command: string): Turn => ({ name: 'execute', args: { command } })
/** Runs until a command waits for the user, and decides it on another agent over `later`. */
async function decide(workspace: Workspace, later: () => Promise<Workspace>, type: 'approve' | 'reject') {
  const options = { checkpointer: new MemorySaver(), interruptOn: { execute: true } }
  await open(workspace, [execute('echo yes >said.txt')], options).start()
  const workspaceLater = await later()
  expect(await workspaceLater.exists('said.txt')).toBe(false)
  const { messages } = await open(workspaceLater, [], options).go(new Command({ resume: { decisions: [{ type }] } }))
  expect(messages.at(-1)?.text).toBe('done')
  return workspaceLater
}

export const features: Features = {
  files: {
    by: '`createBackend`, `createSandboxBackend`',
    async test({ workspace, at }) {
      const { seen } = await play(workspace, [
        { name: 'write_file', args: { file_path: at('notes/a.md'), content: 'x1\n' } },
        { name: 'read_file', args: { file_path: at('notes/a.md') } },
        { name: 'grep', args: { pattern: 'x1', path: at('notes') } },
      ])
      expect(seen[1]).toContain('x1')
      expect(seen[2]).toContain(at('notes/a.md'))
      expect(await workspace.readText('notes/a.md')).toBe('x1\n')
    },
  },
  'a command': {
    by: '`createSandboxBackend`',
    async test({ workspace, at }) {
      const { seen } = await play(workspace, [execute(`cat ${at('src/answer.txt')}; pwd; exit 3`)])
      expect(seen[0]).toContain(`answer=41\n${workspace.root}\n`)
      expect(seen[0]).toContain('exit code 3')
    },
  },
  'background processes': 'deepagents waits for the end of each command',
  'input of a process': 'deepagents gives commands no input',
  'large results': {
    by: 'deepagents writes a result above 20,000 tokens to `/large_tool_results`',
    async test({ workspace }) {
      const path = '/large_tool_results/call-1.txt'
      const { seen } = await play(workspace, [
        execute('seq 1 20000'),
        { name: 'read_file', args: { file_path: path, offset: 15_000, limit: 1 } },
        { name: 'grep', args: { pattern: '19999', path: '/large_tool_results' } },
      ])
      expect(seen[0]).toContain(path)
      expect(seen[0]?.length).toBeLessThan(20_000)
      expect(seen[1]).toContain('15001')
      expect(seen[2]).toContain(path)
    },
  },
  resume: {
    by: '`checkpointer`, with another workspace on the store',
    async test({ workspace, reopen }) {
      const later = await decide(workspace, reopen, 'approve')
      expect(await later.readText('said.txt')).toBe('yes\n')
    },
  },
  approvals: {
    by: '`interruptOn`',
    async test({ workspace }) {
      await decide(workspace, async () => workspace, 'reject')
      expect(await workspace.exists('said.txt')).toBe(false)
      await decide(workspace, async () => workspace, 'approve')
      expect(await workspace.readText('said.txt')).toBe('yes\n')
    },
  },
  skills: {
    by: '`skills`',
    async test({ workspace, at }) {
      const path = at('skills/count/SKILL.md')
      const read = { name: 'read_file', args: { file_path: path } }
      const { seen, instructions } = await play(workspace, [read], { skills: [at('skills/')] })
      expect(instructions).toContain('Counts lines')
      expect(instructions).toContain(path)
      expect(seen[0]).toContain('Run `wc -l`.')
    },
  },
  memory: {
    by: '`memory`',
    async test({ workspace, at, reopen }) {
      const path = at('AGENTS.md')
      const learn = { name: 'edit_file', args: { file_path: path, old_string: '42', new_string: '43' } }
      const options = { memory: [path] }
      const { instructions } = await play(workspace, [learn], options)
      expect(instructions).toContain('The answer is 42.')
      expect((await play(await reopen(), [], options)).instructions).toContain('The answer is 43.')
    },
  },
}
