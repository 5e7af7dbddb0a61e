import { spawnSync } from 'node:child_process'

import { query } from '@anthropic-ai/claude-agent-sdk'
import { createClaudeTools } from '@ws/bridge-anthropic/agent-sdk'
import { createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { connect } from './support/connect.ts'
import { playMessages, say, use } from './support/messages-server.ts'
import { openFiles, openSite, openUndoable, project, protectDocs, sites } from '@ws/tests-support/bridges'

describe('the in-process server', () => {
  it('shows the tools with their schemas and annotations', async () => {
    await using tools = createClaudeTools(await openFiles())
    const { tools: listed } = await (await connect(tools)).listTools()
    expect(listed.map(({ name }) => name)).toEqual([
      'Read',
      'Edit',
      'Write',
      'Glob',
      'Grep',
      'Bash',
      'TaskOutput',
      'TaskStop',
    ])
    const read = listed.find(({ name }) => name === 'Read')
    expect(read).toMatchObject({
      annotations: { readOnlyHint: true },
      inputSchema: {
        type: 'object',
        required: ['file_path'],
        additionalProperties: false,
        properties: { file_path: { type: 'string', description: expect.any(String) }, limit: { type: 'integer' } },
      },
    })
  })

  it('takes the place of the built-in tools', async () => {
    await using tools = createClaudeTools(await openFiles(), { server: 'files' })
    expect(tools.options).toMatchObject({
      tools: [],
      toolAliases: { Bash: 'mcp__files__Bash', Read: 'mcp__files__Read' },
      allowedTools: expect.arrayContaining(['mcp__files__Bash']),
      disallowedTools: expect.arrayContaining(['Bash', 'Read', 'Write', 'Edit', 'NotebookEdit', 'WebFetch']),
    })
    expect(Object.keys(tools.options.mcpServers)).toEqual(['files'])
  })

  it.each<[string, string, Record<string, unknown>, RegExp]>([
    ['a misspelt argument', 'Read', { file_path: 'test.sh', ofset: 2 }, /`ofset` is not an argument.*`offset`/su],
    ['a missing argument', 'Read', {}, /`file_path`/u],
    ['an argument of another type', 'Read', { file_path: ['a'] }, /`file_path` must be text/u],
    ['a path outside', 'Read', { file_path: '../../etc/passwd' }, /above the root/u],
    ['a rule', 'Write', { file_path: 'docs/new.md', content: 'x' }, /another team.*Write below `notes`/su],
    ['a file that was not read', 'Write', { file_path: 'test.sh', content: 'x' }, /was not read yet/u],
  ])('refuses %s, and says how to go on', async (_, name, given, words) => {
    await using tools = createClaudeTools(await openSite(sites[0]!, project, { rules: [protectDocs] }))
    const answer = await (await connect(tools)).callTool({ name, arguments: given })
    expect(answer).toMatchObject({ isError: true, content: [{ type: 'text', text: expect.stringMatching(words) }] })
  })

  it('[EF5] asks by `approve` about the effects of a call, and tells the model what was kept', async () => {
    const workspace = await openUndoable(project)
    const approve = () => ({ decision: 'keep', paths: ['src'], message: 'Leave the docs alone.' }) as const
    await using tools = createClaudeTools(workspace, { approve })
    const command = 'echo answer=42 > src/answer.txt; rm docs/guide.md'
    const answer = await (await connect(tools)).callTool({ name: 'Bash', arguments: { command } })
    expect(answer).toMatchObject({ content: [{ text: expect.stringMatching(/kept a part.*Leave the docs alone/su) }] })
    expect(await workspace.readText('src/answer.txt')).toBe('answer=42\n')
    expect(await workspace.exists('docs/guide.md')).toBe(true)
  })

  it('refuses options that are not valid', async () => {
    const workspace = await openFiles()
    expect(() => createClaudeTools(workspace, { face: 'vim' as never })).toThrow(/`face` must be one of/u)
    expect(() => createClaudeTools({} as never)).toThrow(/createWorkspace/u)
  })
})

/** Claude Code has a licence of its own, and comes with no package of this repository. */
const claude = process.env['CLAUDE_CODE_PATH'] ?? spawnSync('which', ['claude'], { encoding: 'utf8' }).stdout?.trim()
const describeClaude = claude === undefined || claude === '' ? describe.skip : describe

describeClaude('Claude Code (skipped without its program: set CLAUDE_CODE_PATH)', () => {
  for (const site of sites) {
    describeWith(site.needs, `on ${site.name}`, { tags: site.tags }, () => {
      it('lists, reads, edits, tests and follows a remedy', async () => {
        const workspace = await openSite(site, project, { rules: [protectDocs] })
        await using tools = createClaudeTools(workspace)
        const home = await createScratchDirectory()
        onTestFinished(() => home.remove())
        const named = (seen: string): string => /[Ww]rite below `([^`]+)`/u.exec(seen)?.[1] ?? 'no remedy was given'
        const server = await playMessages(
          [
            () => use('mcp__ws__Glob', { pattern: '**/*' }),
            () => use('mcp__ws__Read', { file_path: 'src/answer.txt' }),
            () => use('Bash', { command: 'sh test.sh' }),
            () => use('Edit', { file_path: 'src/answer.txt', old_string: '41', new_string: '42' }),
            () => use('mcp__ws__Bash', { command: 'sh test.sh' }),
            () => use('Write', { file_path: 'docs/done.md', content: '# Done\n' }),
            (seen) => use('Write', { file_path: `${named(seen)}/done.md`, content: '# Done\n' }),
            () => say('done'),
          ],
          (request) => request.tools?.some(({ name }) => name.startsWith('mcp__ws__')) === true,
        )
        const messages = []
        const conversation = query({
          prompt: 'make the tests pass',
          options: {
            ...tools.options,
            cwd: home.path,
            settingSources: [],
            persistSession: false,
            pathToClaudeCodeExecutable: claude ?? '',
            env: {
              PATH: process.env['PATH'],
              HOME: home.path,
              ANTHROPIC_BASE_URL: server.url,
              ANTHROPIC_API_KEY: 'none',
              CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
              DISABLE_AUTOUPDATER: '1',
            },
          },
        })
        for await (const message of conversation) messages.push(message)
        const { seen } = server
        expect(messages.at(-1)).toMatchObject({ type: 'result', subtype: 'success', result: 'done' })
        expect(seen[1]?.text).toContain('src/answer.txt')
        expect(seen[2]?.text).toContain('answer=41')
        expect(seen[3]?.text).toContain('1 failed')
        expect(seen[5]?.text).toContain('1 passed')
        expect(seen[6]).toMatchObject({ isError: true, text: expect.stringContaining('another team') })
        expect(await workspace.readText('src/answer.txt')).toBe('answer=42\n')
        expect(await workspace.readText('notes/done.md')).toBe('# Done\n')
        const offered = server.requests[0]?.tools?.map(({ name }) => name) ?? []
        expect(offered.filter((name) => /^(Bash|Read|Write|Edit|Glob|Grep|NotebookEdit)$/u.test(name))).toEqual([])
      })
    })
  }
})
