import Anthropic, { AnthropicError } from '@anthropic-ai/sdk'
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory'
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool'
import { runRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool'
import { ToolError } from '@anthropic-ai/sdk/lib/tools/ToolError'
import { createMemoryHandlers, createRunnableTools } from '@ws/bridge-anthropic'
import type { RunnableToolsOptions } from '../src/runnable-tools.ts'
import { rules } from '@ws/core'
import type { Workspace } from '@ws/core'
import { describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { checkGiven } from '../src/framework.ts'
import { playMessages, say, use } from './support/messages-server.ts'
import { openFiles, openSite, openUndoable, project, sites } from '@ws/tests-support/bridges'

const editor = 'str_replace_based_edit_tool'

function open(workspace: Workspace, options?: RunnableToolsOptions) {
  const { tools } = createRunnableTools(workspace, options)
  const find = (name: string): BetaRunnableTool => {
    const found = tools.find((tool) => tool.name === name)
    if (found === undefined) throw new Error(`there is no tool ${name}`)
    return found
  }
  return {
    tools,
    run: (name: string, input: unknown, signal?: AbortSignal) => {
      const toolUse = { type: 'tool_use', id: 't', name, input } as const
      return runRunnableTool(find(name), input, { toolUse, toolUseBlock: toolUse, signal })
    },
  }
}

it('[EF5] ask by `approve` about the effects of a call', async () => {
  const workspace = await openUndoable(project)
  const approve = () => ({ decision: 'drop', message: 'not the docs' }) as const
  await using runnable = createRunnableTools(workspace, { approve })
  const bash = runnable.tools.find(({ name }) => name === 'bash')
  const call = Promise.resolve(bash?.run({ command: 'rm docs/guide.md' }))
  await expect(call).rejects.toThrow(/took them back.*The person says: not the docs/su)
  expect(await workspace.exists('docs/guide.md')).toBe(true)
})

for (const site of sites) {
  describeWith(site.needs, `runnable tools on ${site.name}`, { tags: site.tags }, () => {
    it('[PC7] edit files that commands see, and the other way round', async () => {
      const workspace = await openSite(site, project)
      const { run } = open(workspace)
      expect(await run(editor, { command: 'create', path: 'src/new.sh', file_text: 'echo made\n' })).toMatchObject({
        isError: false,
      })
      expect(await run('bash', { command: 'sh src/new.sh; echo more >>src/new.sh' })).toMatchObject({
        content: expect.stringContaining('made'),
      })
      expect(
        await run(editor, { command: 'insert', path: 'src/new.sh', insert_line: 1, insert_text: 'inserted\n' }),
      ).toMatchObject({ isError: false })
      expect(await workspace.readText('src/new.sh')).toBe('echo made\ninserted\nmore\n')
      expect(await run('grep', { pattern: 'insert.d' })).toMatchObject({
        content: expect.stringContaining('src/new.sh'),
      })
      expect(await run('glob', { pattern: '**/*.sh' })).toMatchObject({
        content: expect.stringMatching(/src\/new\.sh.*test\.sh/su),
      })
    })

    it('let calls on one path at the same time wait for each other', async () => {
      const workspace = await openSite(site, { 'list.txt': 'end\n' })
      const { run } = open(workspace)
      const calls = Array.from({ length: 20 }, (_, index) =>
        run(editor, { command: 'insert', path: 'list.txt', insert_line: 0, insert_text: `line ${index}\n` }),
      )
      for (const { isError } of await Promise.all(calls)) expect(isError).toBe(false)
      expect((await workspace.readText('list.txt')).split('\n')).toHaveLength(22)
    })
  })
}

describe('runnable tools', () => {
  it.each<[string, string, unknown, RegExp]>([
    ['a path outside', editor, { command: 'view', path: '../x' }, /above the root/u],
    ['a missing file', 'read', { file_path: '/none' }, /does not exist.*Next: glob/su],
    ['a denied file', 'read', { file_path: '/secret' }, /denied|may not/u],
    ['a wrong argument', 'read', { path: '/src' }, /`path` is not an argument.*`file_path`/su],
    ['text at two places', 'edit', { file_path: 'twice', old_string: 'x', new_string: 'y' }, /2 times/u],
    ['a command that is unknown', editor, { command: 'undo_edit', path: 'twice' }, /`command` must be one of/u],
    ['no command', editor, 'view', /./u],
  ])('refuse %s by a ToolError', async (_, name, input, words) => {
    const workspace = await openSite(
      sites[0]!,
      { ...project, secret: 's', twice: 'x\nx\n' },
      { rules: [rules.deny('/secret')] },
    )
    const { tools, run } = open(workspace)
    const failure = await Promise.resolve(tools.find((tool) => tool.name === name)?.run(input)).catch(
      (error: unknown) => error,
    )
    expect(failure).toBeInstanceOf(ToolError)
    expect((failure as ToolError).content).toMatch(words)
    expect((failure as ToolError).content).toMatch(/^(.*\n)?Error: .*\nNext: /su)
    expect(await run(name, input)).toMatchObject({ isError: true, content: expect.stringMatching(words) })
  })

  it('say that there is no executor', async () => {
    const { run } = open(await openFiles(project))
    expect(await run('bash', { command: 'ls' })).toMatchObject({
      isError: true,
      content: expect.stringMatching(/executor/u),
    })
  })

  it('end with the signal of their runner', async () => {
    const { run } = open(await openSite(sites[0]!))
    const abort = new AbortController()
    const running = run('bash', { command: 'sleep 60' }, abort.signal)
    abort.abort(new Error('enough'))
    expect(await running).toMatchObject({ isError: true, content: 'Error: enough' })
  })

  it('[LS13] keep the shell between calls, if asked, until `restart`', async () => {
    const { run } = open(await openSite(sites[0]!), { shell: 'session' })
    await run('bash', { command: 'mkdir -p d && cd d && x=1' })
    expect((await run('bash', { command: 'pwd; echo "x$x"' })).content).toMatch(/\/d\nx1$/u)
    await run('bash', { restart: true })
    expect((await run('bash', { command: 'pwd; echo "x$x"' })).content).not.toMatch(/x1|\/d$/mu)
  })

  it('are chosen by name, and take options of their versioned types', async () => {
    const { tools } = open(await openFiles(), { names: [editor, 'memory'], maxCharacters: 1_000 })
    expect(tools).toMatchObject([{ type: 'text_editor_20250728', max_characters: 1_000 }, { type: 'memory_20250818' }])
    expect(open(await openFiles(), { face: 'split' }).tools.map(({ name }) => name)).toContain('replace')
  })

  it('refuse options and workspaces that are not valid', async () => {
    const workspace = await openFiles()
    expect(() => createRunnableTools(workspace, { names: ['reed'] })).toThrow(/`reed` is not a tool/u)
    expect(() => createRunnableTools(workspace, { maxContext: -1 })).toThrow(AnthropicError)
    expect(() => createRunnableTools({} as never)).toThrow(AnthropicError)
    expect(() => createMemoryHandlers({} as never)).toThrow(/pass the result of `createWorkspace`/u)
    expect(() => checkGiven(workspace, 'createRunnableTools', '0.99.0')).toThrow(
      /0\.99\.0.*install version \^1\.12\.0/u,
    )
  })

  it('close twice, and leave the workspace open', async () => {
    const workspace = await openSite(sites[0]!)
    const runnable = createRunnableTools(workspace)
    for (const tool of runnable.tools) await tool.close?.()
    await runnable.close()
    expect(await workspace.exists('/')).toBe(true)
  })
})

describe('the memory', () => {
  it('answers in the documented words', async () => {
    const workspace = await openFiles()
    const memory = createMemoryHandlers(workspace)
    expect(await memory.view({ command: 'view', path: '/memories' })).toMatch(
      /^Here're the files and directories up to 2 levels deep in \/memories/u,
    )
    expect(await memory.create({ command: 'create', path: '/memories/a/b.md', file_text: 'one\ntwo\n' })).toMatch(
      /^File created successfully at: \/memories\/a\/b\.md\n/u,
    )
    expect(await memory.view({ command: 'view', path: '/memories/a/b.md' })).toMatch(
      /^Here's the content of \/memories\/a\/b\.md with line numbers:\n {5}1\tone\n {5}2\ttwo\n/u,
    )
    expect(await memory.view({ command: 'view', path: '/memories/a/b.md', view_range: [2, 2] })).toMatch(
      /: *\n {5}2\ttwo\n/u,
    )
    expect(
      await memory.str_replace({ command: 'str_replace', path: '/memories/a/b.md', old_str: 'two', new_str: '2' }),
    ).toMatch(/^The memory file has been edited\./u)
    expect(
      await memory.insert({ command: 'insert', path: '/memories/a/b.md', insert_line: 0, insert_text: 'zero\n' }),
    ).toMatch(/^The file \/memories\/a\/b\.md has been edited\./u)
    expect(
      await memory.rename({ command: 'rename', old_path: '/memories/a/b.md', new_path: '/memories/c.md' }),
    ).toMatch(/^Successfully renamed \/memories\/a\/b\.md to \/memories\/c\.md/u)
    expect(await workspace.readText('memories/c.md')).toBe('zero\none\n2\n')
    expect(await memory.view({ command: 'view', path: '/memories' })).toContain('c.md')
    expect(await memory.delete({ command: 'delete', path: '/memories/c.md' })).toMatch(
      /^Successfully deleted \/memories\/c\.md/u,
    )
    expect(await workspace.exists('memories/c.md')).toBe(false)
  })

  it.each<[string, Record<string, unknown>, RegExp]>([
    [
      'a missing path',
      { command: 'view', path: '/memories/none' },
      /^The path \/memories\/none does not exist\. Please provide a valid path\.\nError: /u,
    ],
    [
      'a file that is there',
      { command: 'create', path: '/memories/a', file_text: 'x' },
      /^File \/memories\/a already exists\n/u,
    ],
    [
      'a target that is there',
      { command: 'rename', old_path: '/memories/b', new_path: '/memories/a' },
      /^The destination \/memories\/a already exists\n/u,
    ],
    [
      'another directory',
      { command: 'view', path: '/src' },
      /^Path must start with \/memories, got: \/src\nError: .*outside `\/memories`/u,
    ],
    [
      'a way out',
      { command: 'create', path: '/memories/../x', file_text: '' },
      /^Path \/memories\/\.\.\/x would escape \/memories directory\nError: .*outside `\/memories`/u,
    ],
    [
      'to delete the memory itself',
      { command: 'delete', path: '/memories' },
      /^Cannot delete the \/memories directory itself\nError: .*can be neither deleted nor renamed/u,
    ],
    [
      'to rename the memory itself',
      { command: 'rename', old_path: '/memories/', new_path: '/memories/b' },
      /^Cannot rename the \/memories directory itself\nError: /u,
    ],
    [
      'to delete what is missing',
      { command: 'delete', path: '/memories/none' },
      /^The path \/memories\/none does not exist\n/u,
    ],
    [
      'a directory for a file',
      { command: 'str_replace', path: '/memories/d', old_str: 'x', new_str: 'y' },
      /^The path \/memories\/d is not a file\.\nError: /u,
    ],
    [
      'a directory to insert into',
      { command: 'insert', path: '/memories/d', insert_line: 0, insert_text: 'y' },
      /^The path \/memories\/d is not a file\.\nError: /u,
    ],
    [
      'a line behind the end',
      { command: 'insert', path: '/memories/a', insert_line: 9, insert_text: 'y' },
      /^Invalid `insert_line` parameter: 9\. It should be within the range of lines of the file: \[0, 2\]\nError: /u,
    ],
    [
      'text at two places, in the documented words',
      { command: 'str_replace', path: '/memories/a', old_str: 'x', new_str: 'y' },
      /^No replacement was performed\. Multiple occurrences of old_str `x` in lines: [\d, ]+\. Please ensure it is unique/u,
    ],
    [
      'text at no place, in the documented words',
      { command: 'str_replace', path: '/memories/a', old_str: 'zzz', new_str: 'y' },
      /^No replacement was performed, old_str `zzz` did not appear verbatim in \/memories\/a\./u,
    ],
    ['text at two places', { command: 'str_replace', path: '/memories/a', old_str: 'x', new_str: 'y' }, /2 times/u],
  ])('refuses %s', async (_, command, words) => {
    const workspace = await openFiles({ 'memories/a': 'x\nx\n', 'memories/b': 'b', 'memories/d/c': '' })
    const run = (createMemoryHandlers(workspace) as unknown as Record<string, (given: unknown) => Promise<unknown>>)[
      String(command['command'])
    ]
    const failure = await run?.(command).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ToolError)
    expect((failure as ToolError).content).toMatch(words)
  })

  it('goes into `betaMemoryTool`', async () => {
    const workspace = await openFiles()
    const tool = betaMemoryTool(createMemoryHandlers(workspace))
    const server = await playMessages([
      () => use('memory', { command: 'create', path: '/memories/a', file_text: 'a' }),
      () => use('memory', { command: 'create', path: '/memories/a', file_text: 'b' }),
      () => say('done'),
    ])
    const client = new Anthropic({ apiKey: 'none', baseURL: server.url, maxRetries: 0 })
    const settings = {
      model: 'm',
      max_tokens: 100,
      messages: [{ role: 'user' as const, content: 'go' }],
      tools: [tool],
    }
    await client.beta.messages.toolRunner(settings).runUntilDone()
    expect(server.seen.map(({ isError }) => isError)).toEqual([false, false, true])
    expect(await workspace.readText('memories/a')).toBe('a')
  })
})
