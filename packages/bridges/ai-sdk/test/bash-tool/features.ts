import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createSandbox } from '@ws/bridge-ai-sdk/bash-tool'
import { createBashFileSystem } from '@ws/executor-virtual/just-bash'
import type { Features } from '@ws/tests-support/bridges'
import type { Workspace } from '@ws/core'
import { createScratchDirectory } from '@ws/test-fixtures'
import { generateText, isStepCount } from 'ai'
import type { ModelMessage } from 'ai'
import { createBashTool, experimental_createSkillTool } from 'bash-tool'
import type { CreateBashToolOptions } from 'bash-tool'
import { Bash } from 'just-bash'
import { expect } from 'vitest'

import { playing } from './script.ts'

type Call = ReturnType<ReturnType<typeof call>>
const call = (tool: string, input: object) => () => ({ tool, input })
const bash = (command: string) => call('bash', { command })

async function toolsOf(workspace: Workspace, options: CreateBashToolOptions = {}) {
  return createBashTool({ sandbox: createSandbox(workspace), destination: workspace.root, ...options })
}

/** Lets a model make these calls, and gives the results that it saw, as JSON. */
async function play(workspace: Workspace, calls: readonly (() => Call)[], options?: CreateBashToolOptions, more = {}) {
  const { tools } = await toolsOf(workspace, options)
  const { model, seen } = playing([...calls, () => 'done'])
  const all = { ...tools, ...more }
  const { text } = await generateText({ model, tools: all, prompt: 'go', stopWhen: isStepCount(10) })
  expect(text).toBe('done')
  return seen.slice(1)
}

/** Runs until a command waits for the user, stores the messages, and goes on with the decision. */
async function decide(workspace: Workspace, later: () => Promise<Workspace>, approved: boolean): Promise<void> {
  const toolApproval = { bash: 'user-approval' } as const
  const { tools } = await toolsOf(workspace)
  const { model } = playing([bash('echo yes >said.txt')])
  const { content, response } = await generateText({ model, tools, toolApproval, prompt: 'go' })
  const request = content.find(({ type }) => type === 'tool-approval-request')
  if (request?.type !== 'tool-approval-request') throw new Error('the user was not asked')
  expect(await workspace.exists('said.txt')).toBe(false)
  const answer = { type: 'tool-approval-response', approvalId: request.approvalId, approved } as const
  const stored = JSON.stringify([
    { role: 'user', content: 'go' },
    ...response.messages,
    { role: 'tool', content: [answer] },
  ])
  const { tools: laterTools } = await toolsOf(await later())
  const messages = JSON.parse(stored) as ModelMessage[]
  await generateText({ model: playing([]).model, tools: laterTools, toolApproval, messages })
}

export const features: Features = {
  files: {
    by: '`createSandbox`; `createBashFileSystem` for a shell of just-bash',
    async test({ workspace, at }) {
      const seen = await play(workspace, [
        call('writeFile', { path: 'notes/a.md', content: 'x1\n' }),
        call('readFile', { path: at('notes/a.md') }),
      ])
      expect(seen[1]).toContain('x1')
      const shell = new Bash({ fs: createBashFileSystem(workspace), cwd: workspace.root })
      expect(await shell.exec(`cat ${at('notes/a.md')}; echo x2 >> notes/a.md`)).toMatchObject({ stdout: 'x1\n' })
      expect(await workspace.readText('notes/a.md')).toBe('x1\nx2\n')
    },
  },
  'a command': {
    by: '`createSandbox`',
    async test({ workspace, at }) {
      const [seen] = await play(workspace, [bash(`cat ${at('src/answer.txt')}; pwd; exit 3`)])
      expect(seen).toContain(JSON.stringify(`answer=41\n${workspace.root}\n`))
      expect(seen).toContain('"exitCode":3')
    },
  },
  'background processes': 'bash-tool waits for the end of each command',
  'input of a process': 'bash-tool gives commands no input',
  'large results': {
    by: '`maxOutputLength` gives the head; `experimentalTeeTransform` keeps all in `/tmp/bash-tool`',
    async test({ workspace }) {
      const seen = await play(workspace, [bash('seq 1 12000 | cat'), bash('sed -n 9000p /tmp/bash-tool/*seq*')], {
        experimentalTeeTransform: true,
      })
      expect(seen[0]?.length).toBeLessThan(45_000)
      expect(seen[0]).toContain('stdout truncated')
      expect(seen[1]).toContain('9000')
    },
  },
  resume: {
    by: 'the messages of a run of the AI SDK, with another workspace on the store',
    async test({ workspace, reopen }) {
      await decide(workspace, reopen, true)
      expect(await (await reopen()).readText('said.txt')).toBe('yes\n')
    },
  },
  approvals: {
    by: '`toolApproval` of the AI SDK',
    async test({ workspace }) {
      await decide(workspace, async () => workspace, false)
      expect(await workspace.exists('said.txt')).toBe(false)
      await decide(workspace, async () => workspace, true)
      expect(await workspace.readText('said.txt')).toBe('yes\n')
    },
  },
  skills: {
    by: '`experimental_createSkillTool` copies the skills of a directory of the host',
    async test({ workspace }) {
      await using host = await createScratchDirectory()
      await mkdir(join(host.path, 'sum'))
      const content = '---\nname: sum\ndescription: Adds numbers\n---\nRun `bc`.\n'
      await writeFile(join(host.path, 'sum/SKILL.md'), content)
      const { skill, files, instructions } = await experimental_createSkillTool({ skillsDirectory: host.path })
      const seen = await play(
        workspace,
        [call('skill', { skillName: 'sum' }), bash('cat skills/sum/SKILL.md')],
        { files, extraInstructions: instructions },
        { skill },
      )
      expect(seen[0]).toContain('Run `bc`.')
      expect(seen[1]).toContain('Adds numbers')
    },
  },
  memory: 'bash-tool has no memory besides files',
}
