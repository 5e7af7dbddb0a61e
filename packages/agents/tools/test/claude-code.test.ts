import { createVirtualExecutor } from '@ws/executor-virtual'
import { createTools } from '@ws/tools'
import { describe, expect, it } from 'vitest'

import { done, refused } from './support/calls.ts'
import { workspaceWith } from './support/stores.ts'

const given = {
  '/a.ts': 'const a = 1\nconst b = 2\n',
  '/src/b.ts': 'export const b = 1\n// TODO: more\n',
  '/src/c.py': 'def c():\n  pass  # TODO\n',
  '/many.txt': Array.from({ length: 2100 }, (_, index) => `line ${index + 1}\n`).join(''),
}

async function open(options: { readonly requireReadBeforeWrite?: boolean } = {}) {
  const workspace = await workspaceWith(given, { executors: [createVirtualExecutor()] })
  return { workspace, toolset: createTools(workspace, { face: 'claude-code', ...options }) }
}

describe('claude-code', () => {
  it('has the tools of the documentation', async () => {
    const { toolset } = await open()
    const properties = Object.fromEntries(
      toolset.tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties)]),
    )
    expect(properties).toEqual({
      Read: ['file_path', 'offset', 'limit', 'pages', 'allow_large'],
      Edit: ['file_path', 'old_string', 'new_string', 'replace_all'],
      Write: ['file_path', 'content'],
      Glob: ['pattern', 'path', 'hidden', 'ignored'],
      Grep: [
        ...[
          'pattern',
          'path',
          'glob',
          'output_mode',
          '-B',
          '-A',
          '-C',
          'context',
          '-n',
          '-i',
          'ignored',
          '-o',
          'type',
          'head_limit',
        ],
        ...['offset', 'multiline'],
      ],
      Bash: ['command', 'timeout', 'description', 'run_in_background'],
      TaskOutput: ['task_id', 'block', 'timeout'],
      TaskStop: ['task_id', 'shell_id'],
    })
  })

  const right: readonly (readonly [string, Readonly<Record<string, unknown>>, string | RegExp])[] = [
    ['Read', { file_path: '/a.ts' }, '     1\tconst a = 1\n     2\tconst b = 2\n'],
    ['Read', { file_path: '/workspace/a.ts' }, 'const a'],
    ['Read', { file_path: '/a.ts', offset: 2 }, /^ {5}2\tconst b = 2\n\[lines 2–2 of 2/u],
    ['Read', { file_path: '/a.ts', offset: 0 }, /^ {5}1\t/u],
    ['Read', { file_path: '/many.txt' }, 'lines 1–2000 of 2100; next: offset 2001'],
    ['Read', { file_path: '/many.txt', offset: 2001, limit: 2 }, '  2001\tline 2001\n  2002\tline 2002\n['],
    ['Read', { file_path: '/a.ts', offset: '2', limit: '1', allow_large: false }, '     2\tconst b'],
    ['Edit', { file_path: '/a.ts', old_string: 'a = 1', new_string: 'a = 3' }, 'Updated `/a.ts`'],
    [
      'Edit',
      { file_path: '/a.ts', old_string: 'const', new_string: 'let', replace_all: true },
      '2 replacements at lines 1, 2',
    ],
    ['Edit', { file_path: '/new/x.ts', old_string: '', new_string: 'x' }, 'Created'],
    ['Write', { file_path: '/fresh.txt', content: 'x' }, 'Created `/fresh.txt`'],
    ['Write', { file_path: '/data.json', content: '```json\n{}\n```' }, 'Created'],
    ['Glob', { pattern: '**/*.ts' }, '/a.ts\n/src/b.ts'],
    ['Glob', { pattern: '*.py', path: '/src' }, '/src/c.py'],
    ['Glob', { pattern: '/src/*.ts' }, '/src/b.ts'],
    ['Glob', { pattern: '**' }, /^[^\n]+[^/](?:\n[^\n]+[^/\n])*$/u],
    ['Glob', { pattern: 'sr*' }, 'No file matches'],
    ['Glob', { pattern: '*.rb' }, 'No file matches'],
    ['Grep', { pattern: 'TODO' }, /^\/src\/b\.ts\n\/src\/c\.py$/u],
    ['Grep', { pattern: 'TODO', output_mode: 'content' }, '/src/b.ts:2:// TODO: more'],
    ['Grep', { pattern: 'TODO', output_mode: 'content', '-n': false }, '/src/b.ts:// TODO: more'],
    ['Grep', { pattern: 'TODO', output_mode: 'count' }, '/src/b.ts:1\n/src/c.py:1'],
    ['Grep', { pattern: 'todo', '-i': true, type: 'py' }, /^\/src\/c\.py$/u],
    [
      'Grep',
      { pattern: 'TODO', glob: '*.ts', output_mode: 'content', '-B': 1 },
      '/src/b.ts-1-export const b = 1\n/src/b.ts:2:// TODO',
    ],
    [
      'Grep',
      { pattern: 'export', output_mode: 'content', '-A': 1, path: '/src/b.ts' },
      ':1:export const b = 1\n/src/b.ts-2-',
    ],
    [
      'Grep',
      { pattern: 'line', output_mode: 'content', head_limit: 3, path: '/many.txt' },
      '[more results; next: offset 3]',
    ],
    [
      'Grep',
      { pattern: 'line 21', output_mode: 'content', path: '/many.txt', offset: 1, head_limit: 1 },
      /^\/many\.txt:210:/u,
    ],
    ['Grep', { pattern: 'nowhere' }, 'No files found'],
    ['Grep', { pattern: '-x', output_mode: 'content' }, 'No matches found'],
    ['Bash', { command: 'echo hi; ls /src', description: 'List' }, 'Exit code 0.\nhi\nb.ts\nc.py'],
    ['Bash', { command: 'cat /missing' }, 'Exit code 1.'],
    ['Bash', { command: 'echo out; echo err >&2', timeout: 60_000 }, /out[\s\S]*err/u],
  ]
  it.each(right)('%s %j', async (tool, input, words) => {
    const { toolset } = await open()
    const { text } = await done(toolset, tool, input)
    if (typeof words === 'string') expect(text).toContain(words)
    else expect(text).toMatch(words)
  })

  const wrong: readonly (readonly [string, unknown, string, object])[] = [
    ['Read', {}, '`file_path`', { tool: 'Glob' }],
    ['Read', { path: '/a.ts' }, 'the nearest is `file_path`', { tool: 'Read', arguments: { file_path: '/a.ts' } }],
    ['Read', { file_path: '/nope/b.ts' }, '`/nope/b.ts`', { tool: 'Glob', arguments: { pattern: '*', path: '/' } }],
    ['Read', { file_path: '/src' }, '`/src`', { tool: 'Glob' }],
    ['Read', { file_path: '/a.ts', limit: 0 }, '`limit` must be', { tool: 'Read' }],
    [
      'Edit',
      { file_path: '/a.ts', old_string: 'const', new_string: 'let' },
      '`replace_all`',
      { tool: 'Edit', arguments: { replace_all: true } },
    ],
    [
      'Edit',
      { file_path: '/a.ts', old_string: 'zz', new_string: 'let' },
      '`old_string` was not found',
      { tool: 'Read' },
    ],
    ['Edit', { file_path: '/a.ts', old_str: 'a', new_string: 'b' }, 'the nearest is `old_string`', { tool: 'Edit' }],
    ['Edit', { file_path: '/a.ts', old_string: 'a' }, '`new_string`', { tool: 'Read' }],
    [
      'Write',
      { file_path: '/a.ts', content: 'x' },
      'was not read yet',
      { tool: 'Read', arguments: { file_path: '/a.ts' } },
    ],
    ['Write', { file_path: '/x.json', content: { a: 1 } }, '`content` must be text', { tool: 'Write' }],
    ['Glob', { glob: '*.ts' }, '`glob` is not an argument', { tool: 'Glob' }],
    ['Glob', { pattern: '*', path: '/nowhere' }, '`/nowhere`', { tool: 'Glob' }],
    ['Grep', { pattern: 'x', multiline: true }, '`multiline` is not supported', { tool: 'Grep' }],
    ['Grep', { pattern: 'x', '-o': true }, '`-o` is not supported', { tool: 'Grep' }],
    ['Grep', { pattern: 'x', output_mode: 'lines' }, '`output_mode` must be one of', { tool: 'Grep' }],
    ['Grep', { pattern: 'x', type: 'cobol' }, '`type` must be one of', { tool: 'Grep' }],
    ['Bash', { cmd: 'ls' }, '`cmd` is not an argument', { tool: 'Bash' }],
    ['Bash', { command: 'ls', timeout: 900_000 }, '`timeout` must be', { tool: 'Bash' }],
    ['TaskOutput', { task_id: 'c9' }, '`c9` is not a background command', { tool: 'Bash' }],
    ['TaskStop', {}, '`task_id`', { tool: 'Glob' }],
    ['read', { file_path: '/a.ts' }, '`read` is not a tool here', { tool: 'Read' }],
  ]
  it.each(wrong)('answers to %s %j', async (tool, input, words, next) => {
    const { workspace, toolset } = await open()
    const answer = await refused(toolset, tool, input)
    expect(answer.text).toContain(words)
    expect(answer.next).toMatchObject(next)
    expect(await workspace.readText('/a.ts')).toBe(given['/a.ts'])
  })

  it('overwrites only the version that was read, counting its own writes', async () => {
    const { workspace, toolset } = await open()
    await done(toolset, 'Read', { file_path: '/a.ts' })
    await workspace.write('/a.ts', 'of others')
    const stale = await refused(toolset, 'Write', { file_path: '/a.ts', content: 'mine' })
    expect(stale.text).toContain('has changed since it was read')
    expect(await workspace.readText('/a.ts')).toBe('of others')
    await done(toolset, 'Read', { file_path: '/a.ts' })
    await done(toolset, 'Write', { file_path: '/a.ts', content: 'one' })
    await done(toolset, 'Write', { file_path: '/a.ts', content: 'two' })
    await done(toolset, 'Edit', { file_path: '/a.ts', old_string: 'two', new_string: 'three' })
    await done(toolset, 'Write', { file_path: '/a.ts', content: 'four' })
    expect(await workspace.readText('/a.ts')).toBe('four')
  })

  it('overwrites without reading where the option allows it', async () => {
    const { workspace, toolset } = await open({ requireReadBeforeWrite: false })
    await done(toolset, 'Write', { file_path: '/a.ts', content: 'mine' })
    expect(await workspace.readText('/a.ts')).toBe('mine')
  })

  it('runs a command in the background, shows its output once, and ends it', async () => {
    const { toolset } = await open()
    const started = await done(toolset, 'Bash', { command: 'echo first; sleep 30', run_in_background: true })
    expect(started.next).toEqual({ tool: 'TaskOutput', arguments: { task_id: started.data?.['id'] } })
    const id = started.next?.arguments['task_id'] as string
    expect((await done(toolset, 'TaskStop', { task_id: id })).text).toContain(`Ended the background command ${id}`)
    const short = await done(toolset, 'Bash', { command: 'echo done', run_in_background: true })
    const wait = { task_id: short.data?.['id'], block: true, timeout: 20_000 }
    expect((await done(toolset, 'TaskOutput', wait)).text).toBe('Exit code 0.\ndone')
    expect((await done(toolset, 'TaskOutput', wait)).text).toBe('Exit code 0.\n(no new output)')
    const unknown = await refused(toolset, 'TaskOutput', { task_id: 'zz' })
    expect(unknown.next?.tool).toBe('TaskOutput')
  })
})
