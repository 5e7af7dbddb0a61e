/** @module-tag all */
import { Agent } from '@mastra/core/agent'
import { Workspace as MastraWorkspace } from '@mastra/core/workspace'
import { createMastraFilesystem, createMastraSandbox } from '@ws/bridge-mastra'
import { describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { features } from './support/features.ts'
import { scriptedModel } from './support/script.ts'
import { openSite, project, protectDocs, sites, testFeatures } from '@ws/tests-support/bridges'

for (const site of sites) {
  describeWith(site.needs, `an agent of Mastra on ${site.name}`, () => {
    it('lists, reads, edits, runs the tests, and follows the remedy of a refusal', async () => {
      const workspace = await openSite(site, project, { rules: [protectDocs] })
      const filesystem = createMastraFilesystem(workspace)
      const sandbox = createMastraSandbox(workspace)
      const mastra = new MastraWorkspace({ filesystem, sandbox })
      await mastra.init()
      const seen: string[] = []
      const see = (last: string) => void seen.push(last)
      const test = { tool: 'mastra_workspace_execute_command', input: { command: 'sh test.sh' } }
      const model = scriptedModel([
        { tool: 'mastra_workspace_list_files', input: { path: '.' } },
        (last) => (see(last), { tool: 'mastra_workspace_read_file', input: { path: 'src/answer.txt' } }),
        (last) => (see(last), test),
        (last) => (
          see(last),
          {
            tool: 'mastra_workspace_edit_file',
            input: { path: 'src/answer.txt', old_string: '41', new_string: '42' },
          }
        ),
        (last) => (see(last), test),
        (last) => (
          see(last), { tool: 'mastra_workspace_write_file', input: { path: 'docs/done.md', content: 'done\n' } }
        ),
        (last) => {
          see(last)
          const place = /write below `(\w+)`/u.exec(last)?.[1] ?? 'nowhere'
          return { tool: 'mastra_workspace_write_file', input: { path: `${place}/done.md`, content: 'done\n' } }
        },
        (last) => (see(last), { tool: 'mastra_workspace_grep', input: { pattern: 'answer=\\d+' } }),
        (last) => (see(last), 'The tests pass.'),
      ])
      const agent = new Agent({ id: 'a', name: 'a', instructions: 'Work.', model, workspace: mastra })
      const { text } = await agent.stream('Make the tests pass.', { maxSteps: 12 })
      expect(await text).toBe('The tests pass.')
      expect(seen).toEqual([
        expect.stringContaining('answer.txt'),
        expect.stringContaining('answer=41'),
        expect.stringContaining('1 failed'),
        expect.stringMatching(/answer\.txt/u),
        expect.stringContaining('1 passed'),
        expect.stringMatching(/is written by another team.*write below `notes`/su),
        expect.stringContaining('done.md'),
        expect.stringContaining('answer=42'),
      ])
      expect(await workspace.readText('notes/done.md')).toBe('done\n')
      await mastra.destroy()
    })
  })
}

testFeatures('Mastra', features)
