import { createBackend, createSandboxBackend } from '@ws/bridge-deepagents'
import { rules } from '@ws/core'
import { describeWith } from '@ws/test-fixtures'
import { createDeepAgent, isSandboxBackend } from 'deepagents'
import { expect, it } from 'vitest'

import { features } from './support/features.ts'
import { ScriptedModel } from './support/script.ts'
import { openFiles, openSite, project, protectDocs, sites, testFeatures } from '@ws/tests-support/bridges'

for (const site of sites) {
  describeWith(site.needs, `a deep agent on ${site.name}`, { tags: site.tags }, () => {
    it('lists, reads, edits, runs the tests, and follows the remedy of a refusal', async () => {
      const workspace = await openSite(site, project, { rules: [protectDocs] })
      const at = (path: string) => `${site.at === '/' ? '' : site.at}/${path}`
      const seen: string[] = []
      const see = (last: string) => void seen.push(last)
      const model = new ScriptedModel([
        { name: 'ls', args: { path: at('src') } },
        (last) => (see(last), { name: 'read_file', args: { file_path: at('src/answer.txt') } }),
        (last) => (see(last), { name: 'execute', args: { command: 'sh test.sh' } }),
        (last) => (
          see(last),
          { name: 'edit_file', args: { file_path: at('src/answer.txt'), old_string: '41', new_string: '42' } }
        ),
        (last) => (see(last), { name: 'execute', args: { command: 'sh test.sh' } }),
        (last) => (see(last), { name: 'write_file', args: { file_path: at('docs/done.md'), content: 'done\n' } }),
        (last) => {
          see(last)
          const place = /write below `(\w+)`/u.exec(last)?.[1] ?? 'nowhere'
          return { name: 'write_file', args: { file_path: at(`${place}/done.md`), content: 'done\n' } }
        },
        (last) => (see(last), 'The tests pass.'),
      ])
      const agent = createDeepAgent({ model, backend: createSandboxBackend(workspace) })
      const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Make the tests pass.' }] })
      expect(messages.at(-1)?.text).toBe('The tests pass.')
      expect(seen).toEqual([
        expect.stringContaining(at('src/answer.txt')),
        expect.stringContaining('answer=41'),
        expect.stringMatching(/^1 failed\n.*failed with exit code 1/su),
        expect.stringMatching(/Successfully/iu),
        expect.stringMatching(/^1 passed\n.*succeeded with exit code 0/su),
        expect.stringMatching(/EACCES: write: .*is written by another team.*; write below `notes`/u),
        expect.stringMatching(/Successfully/iu),
      ])
      expect(await workspace.readText('src/answer.txt')).toBe('answer=42\n')
      expect(await workspace.readText('notes/done.md')).toBe('done\n')
    })
  })
}

it.each(['/', '/workspace'] as const)('keeps large results and the history, with an output, at %s', async (at) => {
  const output = at === '/' ? '/out' : '/workspace/out'
  const [memory] = sites
  if (memory === undefined) throw new Error('there is no site')
  const workspace = await openSite({ ...memory, at }, {}, { rules: [rules.withinOutput(output)] })
  const backend = createSandboxBackend(workspace)
  const path = '/large_tool_results/call-1.txt'
  const seen: string[] = []
  const see = (last: string) => void seen.push(last)
  const model = new ScriptedModel([
    { name: 'execute', args: { command: 'seq 1 20000' } },
    (last) => (see(last), { name: 'read_file', args: { file_path: path, offset: 15_000, limit: 1 } }),
    (last) => (see(last), { name: 'grep', args: { pattern: '19999', path: '/large_tool_results' } }),
    (last) => (see(last), 'done'),
  ])
  const agent = createDeepAgent({ model, backend })
  await agent.invoke({ messages: [{ role: 'user', content: 'Count.' }] })
  expect(seen[0]).toContain(path)
  expect(seen[0]).not.toContain('could not be saved')
  expect(seen[1]).toContain('15001')
  expect(seen[2]).toContain(path)
  expect(seen[2]).not.toContain('/tmp')
  // others write as before: by their own tools too
  const history = '/conversation_history/t1.md'
  expect(await backend.write(history, 'one')).toMatchObject({ path: history })
  expect(await backend.edit(history, 'one', 'two')).toMatchObject({ path: history, occurrences: 1 })
  expect(await backend.uploadFiles([[history, new Uint8Array([51])]])).toEqual([{ path: history, error: null }])
  expect(await backend.downloadFiles([history])).toMatchObject([{ path: history, error: null }])
  expect(await backend.ls('/conversation_history')).toMatchObject({ files: [{ path: history }] })
  expect(await backend.write('/elsewhere.md', 'x')).toMatchObject({ error: expect.stringContaining(output) })
  expect(await backend.read('/conversation_history/none.md')).toEqual({
    error: expect.stringContaining("'/conversation_history/none.md' not found"),
  })
})

it('has files without commands, where deepagents offers none', async () => {
  const workspace = await openFiles(project)
  const backend = createBackend(workspace)
  expect(isSandboxBackend(backend)).toBe(false)
  const model = new ScriptedModel([{ name: 'glob', args: { pattern: '**/*.txt' } }, (last) => last])
  const agent = createDeepAgent({ model, backend })
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Find.' }] })
  expect(messages.at(-1)?.text).toBe('/src/answer.txt\n/src/more.txt')
})

testFeatures('deepagents', features)
