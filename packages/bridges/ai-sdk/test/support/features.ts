import { createAiTools, createSandboxSession } from '@ws/bridge-ai-sdk'
import type { AiToolsOptions } from '../../src/tools.ts'
import type { Features } from '@ws/tests-support/bridges'
import type { Workspace } from '@ws/core'
import { generateText, isStepCount } from 'ai'
import type { ModelMessage } from 'ai'
import { expect } from 'vitest'

import { scriptedModel } from './script.ts'
import type { Next, Turn } from './script.ts'

/** Lets a model make these calls, and gives the results that it saw. */
async function play(workspace: Workspace, turns: readonly Turn[], options: AiToolsOptions = {}): Promise<string[]> {
  await using ai = createAiTools(workspace, { face: 'split', ...options })
  const seen: string[] = []
  const seeing = [...turns, 'done'].map(
    (turn): Next =>
      (last) => (seen.push(last), turn),
  )
  const { text } = await generateText({
    model: scriptedModel(seeing),
    tools: ai.tools,
    prompt: 'Go.',
    stopWhen: isStepCount(10),
  })
  expect(text).toBe('done')
  return seen.slice(1)
}

/** Runs until a call waits for the user, and gives the messages so far with the answer of the user. */
async function askFirst(workspace: Workspace, turn: Turn, approved: boolean): Promise<ModelMessage[]> {
  await using ai = createAiTools(workspace, { face: 'split', ask: 'changes' })
  const model = scriptedModel([turn])
  const { content, response } = await generateText({
    model,
    tools: ai.tools,
    toolApproval: ai.toolApproval,
    prompt: 'Go.',
    stopWhen: isStepCount(3),
  })
  const request = content.find(({ type }) => type === 'tool-approval-request')
  if (request?.type !== 'tool-approval-request') throw new Error('the user was not asked')
  const answer = { type: 'tool-approval-response', approvalId: request.approvalId, approved } as const
  return [{ role: 'user', content: 'Go.' }, ...response.messages, { role: 'tool', content: [answer] }]
}

async function goOn(workspace: Workspace, messages: ModelMessage[]): Promise<void> {
  await using ai = createAiTools(workspace, { face: 'split', ask: 'changes' })
  await generateText({ model: scriptedModel([]), tools: ai.tools, toolApproval: ai.toolApproval, messages })
}

const note = { tool: 'write', input: { path: 'notes/a.md', content: 'x' } }
const command = (text: string, more = {}): Turn => ({ tool: 'execute', input: { command: text, ...more } })

export const features: Features = {
  files: {
    by: '`createAiTools`, `createSandboxSession`',
    async test({ workspace, at }) {
      const seen = await play(workspace, [note, { tool: 'read', input: { path: at('notes/a.md') } }])
      expect(seen[1]).toMatch(/^text: .*x/su)
      expect(await createSandboxSession(workspace).readTextFile({ path: 'notes/a.md' })).toBe('x')
    },
  },
  'a command': {
    by: '`execute` of the tools, `run` of the session',
    async test({ workspace, at }) {
      const [seen] = await play(workspace, [command(`cat ${at('src/answer.txt')}; pwd; exit 3`)])
      expect(seen).toBe(`text: Exit code 3.\nanswer=41\n${workspace.root}`)
      const session = createSandboxSession(workspace)
      expect(await session.run({ command: 'cat src/answer.txt' })).toMatchObject({ stdout: 'answer=41\n' })
    },
  },
  'background processes': {
    by: '`background` of `execute`, `spawn` of the session',
    async test({ workspace }) {
      const waiting = 'until test -e go; do sleep 0.1; done; echo went'
      const seen = await play(
        workspace,
        [
          { tool: 'Bash', input: { command: waiting, run_in_background: true } },
          { tool: 'TaskOutput', input: { task_id: 'c1' } },
          { tool: 'Write', input: { file_path: 'go', content: '' } },
          { tool: 'TaskOutput', input: { task_id: 'c1', block: true } },
        ],
        { face: 'claude-code' },
      )
      expect(seen[1]).toContain('Running.')
      expect(seen[3]).toBe('text: Exit code 0.\nwent')
      await workspace.delete('go')
      const process = await createSandboxSession(workspace).spawn({ command: waiting })
      await workspace.write('go', '')
      expect(await process.wait()).toEqual({ exitCode: 0 })
      expect(await new Response(process.stdout).text()).toBe('went\n')
    },
  },
  'input of a process': {
    by: '`spawn` of the session with `stdin`',
    async test({ workspace }) {
      const process = await createSandboxSession(workspace).spawn({ command: 'sort', stdin: true })
      const writer = process.stdin?.getWriter()
      await writer?.write(new TextEncoder().encode('b\na\n'))
      await writer?.close()
      expect(await new Response(process.stdout).text()).toBe('a\nb\n')
      expect(await process.wait()).toEqual({ exitCode: 0 })
    },
  },
  'large results': {
    by: 'head and tail from the tools, all from the session',
    async test({ workspace }) {
      const seen = await play(workspace, [
        command('seq 1 12000'),
        command('seq 1 12000 >numbers.txt'),
        { tool: 'read', input: { path: 'numbers.txt', start_line: 9_000, limit: 1 } },
      ])
      expect(seen[0]?.length).toBeLessThan(50_000)
      expect(seen[0]).toMatch(/^text: Exit code 0\.\n1\n2\n.*\n12000$/su)
      expect(seen[2]).toContain('9000')
      const { stdout } = await createSandboxSession(workspace).run({ command: 'seq 1 170000' })
      expect(stdout).toMatch(/^1\n2\n.*\n169999\n170000\n$/su)
      expect(stdout.length).toBe(1_078_895)
    },
  },
  resume: {
    by: 'the messages of a run, as JSON, with other tools and another workspace on the store',
    async test({ workspace, reopen }) {
      const stored = JSON.stringify(await askFirst(workspace, note, true))
      const later = await reopen()
      expect(await later.exists('notes')).toBe(false)
      await goOn(later, JSON.parse(stored) as ModelMessage[])
      expect(await later.readText('notes/a.md')).toBe('x')
    },
  },
  approvals: {
    by: '`toolApproval`',
    async test({ workspace }) {
      await goOn(workspace, await askFirst(workspace, note, false))
      expect(await workspace.exists('notes/a.md')).toBe(false)
      const messages = await askFirst(workspace, command('echo yes >said.txt'), true)
      expect(await workspace.exists('said.txt')).toBe(false)
      await goOn(workspace, messages)
      expect(await workspace.readText('said.txt')).toBe('yes\n')
    },
  },
  skills: 'The AI SDK gives skills to providers, and reads none from files',
  memory: {
    by: '`memory` of the face `anthropic`',
    async test({ workspace, reopen }) {
      const create = { command: 'create', path: '/memories/task.md', file_text: 'done\n' }
      const face = 'anthropic'
      await play(workspace, [{ tool: 'memory', input: create }], { face })
      const view = { tool: 'memory', input: { command: 'view', path: '/memories/task.md' } }
      const [seen] = await play(await reopen(), [view], { face })
      expect(seen).toContain('done')
    },
  },
}
