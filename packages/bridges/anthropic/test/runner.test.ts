import Anthropic from '@anthropic-ai/sdk'
import { createRunnableTools } from '@ws/bridge-anthropic'
import { describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { features } from './support/features.ts'
import { playMessages, say, use } from './support/messages-server.ts'
import { openSite, project, protectDocs, sites, testFeatures } from '@ws/tests-support/bridges'

const editor = 'str_replace_based_edit_tool'
const named = (seen: string): string => /[Ww]rite below `([^`]+)`/u.exec(seen)?.[1] ?? 'no remedy was given'

for (const site of sites) {
  for (const stream of [false, true]) {
    describeWith(site.needs, `a tool runner on ${site.name}${stream ? ', streaming' : ''}`, { tags: site.tags }, () => {
      it('lists, reads, edits, tests, remembers, and follows a remedy', async () => {
        const workspace = await openSite(site, project, { rules: [protectDocs] })
        await using runnable = createRunnableTools(workspace)
        const server = await playMessages([
          () => use(editor, { command: 'view', path: '.' }),
          () => use('read', { file_path: 'src/answer.txt' }),
          () => use('bash', { command: 'sh test.sh' }),
          () => use(editor, { command: 'str_replace', path: 'src/answer.txt', old_str: '41', new_str: '42' }),
          () => use('bash', { command: 'sh test.sh' }),
          () => use('write', { file_path: 'docs/done.md', content: '# Done\n' }),
          (seen) => use('write', { file_path: `${named(seen)}/done.md`, content: '# Done\n' }),
          () => use('memory', { command: 'create', path: '/memories/task.md', file_text: 'done\n' }),
          () => say('done'),
        ])
        const client = new Anthropic({ apiKey: 'none', baseURL: server.url, maxRetries: 0 })
        const final = await client.beta.messages
          .toolRunner({
            model: 'claude-test',
            max_tokens: 1_000,
            messages: [{ role: 'user', content: 'make the tests pass' }],
            tools: runnable.tools,
            stream,
          })
          .runUntilDone()
        expect(final.content).toMatchObject([{ type: 'text', text: 'done' }])
        const { seen } = server
        expect(seen[1]?.text).toContain('src/answer.txt')
        expect(seen[2]?.text).toContain('answer=41')
        expect(seen[3]?.text).toContain('1 failed')
        expect(seen[5]?.text).toContain('1 passed')
        expect(seen[6]).toMatchObject({ isError: true, text: expect.stringContaining('another team') })
        expect(seen[8]?.text).toContain('File created successfully at: /memories/task.md')
        expect(seen.filter(({ isError }) => isError)).toHaveLength(1)
        expect(await workspace.readText('src/answer.txt')).toBe('answer=42\n')
        expect(await workspace.readText('notes/done.md')).toBe('# Done\n')
        expect(await workspace.readText('memories/task.md')).toBe('done\n')
        expect(runnable.journal().map(({ change }) => change)).toEqual([
          'executed',
          'updated',
          'executed',
          'created',
          'created',
        ])
        expect(server.requests[0]?.tools).toMatchObject([
          { type: 'text_editor_20250728', name: editor },
          { type: 'memory_20250818', name: 'memory' },
          { name: 'bash' },
          { name: 'read' },
          { name: 'write' },
          { name: 'edit' },
          { name: 'glob' },
          { name: 'grep' },
        ])
      })
    })
  }
}

testFeatures('Anthropic SDK', features)
