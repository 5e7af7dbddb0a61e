import { Agent, applyPatchTool, Runner, shellTool } from '@openai/agents'
import { SandboxAgent } from '@openai/agents/sandbox'
import { assistantMessage } from '@openai/agents/testing'
import { createEditor, createSandboxClient, createShell } from '@ws/bridge-openai-agents'
import type { Workspace } from '@ws/core'
import { describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { openSite, project, protectDocs, sites, testFeatures } from '@ws/tests-support/bridges'
import { features } from './support/features.ts'
import { call, commands, patch, playing } from './support/script.ts'
import type { Turn } from './support/script.ts'

const edit = { type: 'update_file', path: 'src/answer.txt', diff: '@@\n-answer=41\n+answer=42\n' }
const note = (path: string) => ({ type: 'create_file', path, diff: '+# Done\n' })
/** The directory that the remedy of the last answer names. */
const named = (seen: string): string => /[Ww]rite below `([^`]+)`/u.exec(seen)?.[1] ?? 'no remedy was given'

async function expectTheTaskDone(workspace: Workspace, seen: readonly string[]): Promise<void> {
  expect(seen[1]).toContain('docs')
  expect(seen[2]).toContain('answer=41')
  expect(seen[3]).toContain('1 failed')
  expect(seen[5]).toContain('1 passed')
  expect(seen[6]).toContain('is written by another team')
  expect(await workspace.readText('src/answer.txt')).toBe('answer=42\n')
  expect(await workspace.readText('notes/done.md')).toBe('# Done\n')
  expect(await workspace.exists('docs/done.md')).toBe(false)
}

for (const site of sites) {
  describeWith(site.needs, `an agent on ${site.name}`, { tags: site.tags }, () => {
    it('lists, reads, edits, tests and follows a remedy, by editor and shell', async () => {
      const workspace = await openSite(site, project, { rules: [protectDocs] })
      const turns: readonly Turn[] = [
        () => commands('ls'),
        () => commands('cat src/answer.txt'),
        () => commands('sh test.sh'),
        () => patch(edit),
        () => commands('sh test.sh'),
        () => patch(note('docs/done.md')),
        (seen) => patch(note(`${named(seen)}/done.md`)),
        () => [assistantMessage('done')],
      ]
      const { model, seen } = playing(turns)
      const agent = new Agent({
        name: 'worker',
        model,
        tools: [shellTool({ shell: createShell(workspace) }), applyPatchTool({ editor: createEditor(workspace) })],
      })
      const result = await new Runner({ tracingDisabled: true }).run(agent, 'make the tests pass')
      expect(result.finalOutput).toBe('done')
      await expectTheTaskDone(workspace, seen)
    })

    it('lists, reads, edits, tests and follows a remedy, as a sandbox agent', async () => {
      const workspace = await openSite(site, project, { rules: [protectDocs] })
      const turns: readonly Turn[] = [
        () => call('exec_command', { cmd: 'ls' }),
        () => call('exec_command', { cmd: 'cat answer.txt', workdir: 'src' }),
        () => call('exec_command', { cmd: 'sh test.sh' }),
        () => patch(edit),
        () => call('exec_command', { cmd: 'sh /workspace/test.sh' }),
        () => patch(note('docs/done.md')),
        (seen) => patch(note(`${named(seen)}/done.md`)),
        () => [assistantMessage('done')],
      ]
      const { model, seen } = playing(turns)
      const agent = new SandboxAgent({ name: 'worker', model, instructions: 'Make the tests pass.' })
      const client = createSandboxClient(workspace)
      const result = await new Runner({ tracingDisabled: true }).run(agent, 'go', { sandbox: { client } })
      expect(result.finalOutput).toBe('done')
      await expectTheTaskDone(workspace, seen)
      const { tools, systemInstructions } = model.firstCall?.request ?? {}
      expect(tools?.map(({ name }) => name).sort()).toEqual([
        'apply_patch',
        'exec_command',
        'view_image',
        'write_stdin',
      ])
      expect(systemInstructions).toContain('/workspace')
      // the run ended its session, and left the workspace open
      expect(await workspace.exists('src')).toBe(true)
    })
  })
}

testFeatures('OpenAI Agents SDK', features)
