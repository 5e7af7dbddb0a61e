import { Agent } from '@mastra/core/agent'
import { Mastra } from '@mastra/core/mastra'
import { InMemoryStore } from '@mastra/core/storage'
import { Workspace as MastraWorkspace } from '@mastra/core/workspace'
import type { Features } from '@ws/tests-support/bridges'
import { createMastraFilesystem, createMastraSandbox } from '@ws/bridge-mastra'
import type { Workspace } from '@ws/core'
import { expect } from 'vitest'

import { scriptedModel } from './script.ts'
import type { Next, Turn } from './script.ts'

/** An agent that makes these calls, and the results that it saw. Its runs are kept in `storage`. */
async function open(workspace: Workspace, turns: readonly (Turn | Next)[], storage = new InMemoryStore()) {
  const seen: string[] = []
  const seeing = [...turns, 'done'].map(
    (turn): Next =>
      (last) => (seen.push(last), typeof turn === 'function' ? turn(last) : turn),
  )
  const own = new MastraWorkspace({
    filesystem: createMastraFilesystem(workspace),
    sandbox: createMastraSandbox(workspace),
    skills: ['skills'],
    tools: { mastra_workspace_delete: { requireApproval: true } },
  })
  await own.init()
  const model = scriptedModel(seeing)
  const agent = new Agent({ id: 'a', name: 'a', instructions: 'Work.', model, workspace: own })
  const mastra = new Mastra({ agents: { agent }, storage, logger: false })
  return { agent: mastra.getAgent('agent'), seen, [Symbol.asyncDispose]: () => own.destroy() }
}

async function play(workspace: Workspace, turns: readonly (Turn | Next)[]): Promise<string[]> {
  await using opened = await open(workspace, turns)
  const { text } = await opened.agent.stream('Go.', { maxSteps: 12 })
  expect(await text).toBe('done')
  return opened.seen.slice(1)
}

const use = (tool: string, input: object): Turn => ({ tool: `mastra_workspace_${tool}`, input })
const command = (text: string, more = {}): Turn => use('execute_command', { command: text, ...more })
const deletion = use('delete', { path: 'src/answer.txt' })

/** Runs until the deletion of a file waits for the user, and gives the id of the run. */
async function askFirst(workspace: Workspace, storage: InMemoryStore): Promise<string> {
  await using opened = await open(workspace, [deletion], storage)
  const stream = await opened.agent.stream('Go.', { maxSteps: 3 })
  await stream.consumeStream()
  expect(await workspace.exists('src/answer.txt')).toBe(true)
  const { runs } = await opened.agent.listSuspendedRuns()
  expect(runs.map(({ runId }) => runId)).toEqual([stream.runId])
  return stream.runId
}

async function answer(workspace: Workspace, storage: InMemoryStore, runId: string, approved: boolean): Promise<string> {
  await using opened = await open(workspace, [], storage)
  const { agent } = opened
  const stream = await (approved ? agent.approveToolCall({ runId }) : agent.declineToolCall({ runId }))
  return await stream.text
}

export const features: Features = {
  files: {
    by: '`createMastraFilesystem`',
    async test({ workspace, at }) {
      const seen = await play(workspace, [
        use('write_file', { path: 'notes/a.md', content: 'x1\n' }),
        use('read_file', { path: at('notes/a.md') }),
        use('list_files', { path: at('notes') }),
      ])
      expect(seen[1]).toContain('x1')
      expect(seen[2]).toContain('a.md')
      expect(await workspace.readText('notes/a.md')).toBe('x1\n')
    },
  },
  'a command': {
    by: '`createMastraSandbox`',
    async test({ workspace, at }) {
      const [seen] = await play(workspace, [command(`cat ${at('src/answer.txt')}; pwd; exit 3`)])
      expect(seen).toContain(`answer=41\n${workspace.root}\n`)
      expect(seen).toContain('Exit code: 3')
    },
  },
  'background processes': {
    by: '`background` of `execute_command`, `get_process_output`, `kill_process`',
    async test({ workspace }) {
      const waiting = 'until test -e go; do sleep 0.1; done; echo went'
      const seen = await play(workspace, [
        command(waiting, { background: true }),
        use('get_process_output', { pid: '1' }),
        use('write_file', { path: 'go', content: '' }),
        use('get_process_output', { pid: '1', wait: true }),
        command('sleep 300', { background: true }),
        use('kill_process', { pid: '2' }),
      ])
      expect(seen[0]).toMatch(/PID: 1\b/u)
      expect(seen[1]).not.toContain('went')
      expect(seen[3]).toContain('went')
      expect(seen[5]).toMatch(/killed/u)
    },
  },
  'input of a process': {
    by: '`processes` of the sandbox',
    async test({ workspace }) {
      const process = await createMastraSandbox(workspace).processes?.spawn('sort')
      await process?.sendStdin('b\na\n')
      await process?.closeStdin()
      expect(await process?.wait()).toMatchObject({ exitCode: 0, stdout: 'a\nb\n' })
    },
  },
  'large results': {
    by: 'the tools of Mastra give the end of an output; a file is read in parts',
    async test({ workspace }) {
      const seen = await play(workspace, [
        command('seq 1 4000'),
        command('seq 1 4000 >numbers.txt'),
        use('read_file', { path: 'numbers.txt', offset: 3_000, limit: 1 }),
      ])
      expect(seen[0]).toContain('4000')
      expect(seen[0]?.length).toBeLessThan(10_000)
      expect(seen[2]).toContain('3000')
    },
  },
  resume: {
    by: 'a run that waits for the user, from Mastra’s storage, with another workspace on the store',
    async test({ workspace, reopen }) {
      const storage = new InMemoryStore()
      const runId = await askFirst(workspace, storage)
      const later = await reopen()
      expect(await answer(later, storage, runId, true)).toBe('done')
      expect(await later.exists('src/answer.txt')).toBe(false)
    },
  },
  approvals: {
    by: '`requireApproval` of a tool',
    async test({ workspace }) {
      const storage = new InMemoryStore()
      await answer(workspace, storage, await askFirst(workspace, storage), false)
      expect(await workspace.exists('src/answer.txt')).toBe(true)
      await answer(workspace, storage, await askFirst(workspace, storage), true)
      expect(await workspace.exists('src/answer.txt')).toBe(false)
    },
  },
  skills: {
    by: '`skills` of the workspace',
    async test({ workspace }) {
      const seen = await play(workspace, [
        { tool: 'skill', input: { name: 'count' } },
        { tool: 'skill_read', input: { skillName: 'count', path: 'SKILL.md' } },
      ])
      expect(seen[0]).toContain('Run `wc -l`.')
      expect(seen[1]).toContain('Counts lines')
    },
  },
  memory: 'Mastra keeps its memory in its storage, not in files',
}
