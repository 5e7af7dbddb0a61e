import { Agent, applyPatchTool, Runner, RunState, shellTool } from '@openai/agents'
import { dir, file, filesystem, memory, SandboxAgent, shell, skills } from '@openai/agents/sandbox'
import { assistantMessage, ScriptedModel } from '@openai/agents/testing'
import type { Features } from '@ws/tests-support/bridges'
import { createEditor, createSandboxClient, createShell } from '@ws/bridge-openai-agents'
import type { Workspace } from '@ws/core'
import { expect } from 'vitest'

import { call, commands, patch, playing } from './script.ts'
import type { Turn } from './script.ts'

type Capabilities = NonNullable<ConstructorParameters<typeof SandboxAgent>[0]['capabilities']>

const runner = new Runner({ tracingDisabled: true })
const done: Turn = () => [assistantMessage('done')]
const exec =
  (cmd: string, more = {}): Turn =>
  () =>
    call('exec_command', { cmd, ...more })
const create =
  (path: string, text: string): Turn =>
  () =>
    patch({ type: 'create_file', path, diff: `+${text}` })

/** Runs a sandbox agent that makes these calls, and gives the results and the instructions that it saw. */
async function play(workspace: Workspace, turns: readonly Turn[], capabilities: Capabilities = []) {
  const { model, seen } = playing([...turns, done])
  const agent = new SandboxAgent({
    name: 'worker',
    model,
    instructions: 'Work.',
    capabilities: [shell(), filesystem(), ...capabilities],
  })
  const { finalOutput } = await runner.run(agent, 'go', { sandbox: { client: createSandboxClient(workspace) } })
  expect(finalOutput).toBe('done')
  return { seen: seen.slice(1), instructions: model.firstCall?.request.systemInstructions ?? '' }
}

const asking = shell({
  configureTools: (tools) => tools.map((tool) => ({ ...tool, needsApproval: async () => true })) as typeof tools,
})

/** Runs until a command waits for the user, stores the run, and goes on with what was decided. */
async function decide(open: () => Workspace | Promise<Workspace>, decision: 'approve' | 'reject'): Promise<void> {
  const sandbox = { client: createSandboxClient(async () => open()), options: { id: 'one' } }
  const { model } = playing([exec('echo yes >said.txt'), done])
  const agent = new SandboxAgent({ name: 'worker', model, capabilities: [asking] })
  const first = await runner.run(agent, 'go', { sandbox })
  expect(first.interruptions).toHaveLength(1)
  const state = await RunState.fromString(agent, first.state.toString())
  for (const interruption of state.getInterruptions()) state[decision](interruption)
  // a run that goes on from its state has the type of a first one
  const second = await runner.run(agent, state as unknown as string, { sandbox })
  expect(second.finalOutput).toBe('done')
}

const skill = '---\nname: count\ndescription: Counts lines\n---\nRun `wc -l`.\n'
const skillDirectory = dir({ children: { count: dir({ children: { 'SKILL.md': file({ content: skill }) } }) } })
const noInput = 'the virtual executor takes no input while a command runs'

export const features: Features = {
  files: {
    by: '`createEditor`, `createSandboxClient`',
    async test({ workspace }) {
      const { seen } = await play(workspace, [
        create('notes/a.md', 'x1'),
        () => patch({ type: 'update_file', path: '/workspace/notes/a.md', diff: '@@\n-x1\n+x2\n' }),
      ])
      expect(seen).toHaveLength(2)
      expect(await workspace.readText('notes/a.md')).toBe('x2\n')
      const { model } = playing([create('notes/b.md', 'y'), done])
      const tools = [applyPatchTool({ editor: createEditor(workspace) })]
      await runner.run(new Agent({ name: 'worker', model, tools }), 'go')
      expect(await workspace.readText('notes/b.md')).toBe('y\n')
    },
  },
  'a command': {
    by: '`createShell`, `createSandboxClient`',
    async test({ workspace, at }) {
      const text = `cat ${at('src/answer.txt')}; pwd; exit 3`
      const { seen } = await play(workspace, [exec(text), exec('cat answer.txt', { workdir: '/workspace/src' })])
      expect(seen[0]).toContain(`code 3\nOutput:\nanswer=41\n${workspace.root}\n`)
      expect(seen[1]).toContain('answer=41')
      const { model, seen: seenByShell } = playing([() => commands(text), done])
      const tools = [shellTool({ shell: createShell(workspace) })]
      await runner.run(new Agent({ name: 'worker', model, tools }), 'go')
      expect(seenByShell[1]).toContain('answer=41')
    },
  },
  'background processes': {
    by: '`exec_command` gives a session id, `write_stdin` polls it',
    async test({ workspace }) {
      const { seen } = await play(workspace, [
        exec('until test -e go; do sleep 0.1; done; echo went', { yield_time_ms: 100 }),
        create('go', 'x'),
        () => call('write_stdin', { session_id: 1, yield_time_ms: 30_000 }),
      ])
      expect(seen[0]).toContain('running with session ID 1')
      expect(seen[2]).toMatch(/code 0\nOutput:\nwent\n/u)
    },
  },
  'input of a process': {
    by: '`tty` of `exec_command`, `write_stdin`',
    except: { 'virtual on memory': noInput, 'virtual on S3': noInput },
    async test({ workspace }) {
      const { seen } = await play(workspace, [
        exec('read line; echo "got $line"', { tty: true, yield_time_ms: 100 }),
        () => call('write_stdin', { session_id: 1, chars: 'hello\n', yield_time_ms: 30_000 }),
      ])
      expect(seen[1]).toContain('got hello')
    },
  },
  'large results': {
    by: '`max_output_tokens` gives head and tail',
    async test({ workspace }) {
      const { seen } = await play(workspace, [
        exec('seq 1 12000 | tee numbers.txt', { max_output_tokens: 1_000 }),
        exec('sed -n 9000p numbers.txt'),
      ])
      expect(seen[0]?.length).toBeLessThan(5_000)
      expect(seen[0]).toMatch(/\n1\n2\n.*truncated.*\n12000\n/su)
      expect(seen[1]).toContain('\n9000\n')
    },
  },
  resume: {
    by: '`RunState`, with another workspace on the store',
    async test({ workspace, reopen }) {
      let opened = 0
      await decide(() => (opened++ === 0 ? workspace : reopen()), 'approve')
      expect(opened).toBe(2)
      expect(await (await reopen()).readText('said.txt')).toBe('yes\n')
    },
  },
  approvals: {
    by: '`needsApproval` of a tool',
    async test({ reopen }) {
      await decide(reopen, 'reject')
      expect(await (await reopen()).exists('said.txt')).toBe(false)
      await decide(reopen, 'approve')
      expect(await (await reopen()).readText('said.txt')).toBe('yes\n')
    },
  },
  skills: {
    by: '`skills()`, at once and lazily',
    async test({ workspace }) {
      const read = exec('cat /workspace/.agents/count/SKILL.md')
      const given = { name: 'count', description: 'Counts lines' }
      const lazy = skills({ lazyFrom: { source: skillDirectory, index: [{ ...given, path: 'count' }] } })
      const first = await play(workspace, [() => call('load_skill', { skill_name: 'count' }), read], [lazy])
      expect(first.instructions).toContain('(file: .agents/count)')
      expect(first.seen[1]).toContain('Run `wc -l`.')
      const atOnce = skills({ skills: [{ ...given, content: skill }], skillsPath: 'more' })
      const second = await play(workspace, [exec('cat more/count/SKILL.md')], [atOnce])
      expect(second.instructions).toContain('(file: more/count)')
      expect(second.seen[0]).toContain('Run `wc -l`.')
    },
  },
  memory: {
    by: '`memory()`, read and generated',
    async test({ workspace, reopen }) {
      const artifacts = { rollout_slug: 'work', rollout_summary: 'Said yes.', raw_memory: 'The user likes yes.' }
      const phaseOneModel = new ScriptedModel([[assistantMessage(JSON.stringify(artifacts))]])
      const { model: phaseTwoModel } = playing([exec('cat memories/raw_memories.md >memories/memory_summary.md'), done])
      await play(workspace, [exec('echo yes')], [memory({ generate: { phaseOneModel, phaseTwoModel } })])
      expect(await workspace.readText('memories/memory_summary.md')).toContain('The user likes yes.')
      const { instructions } = await play(await reopen(), [], [memory({ generate: false })])
      expect(instructions).toContain('The user likes yes.')
    },
  },
}
