import { createMemoryAdapter } from '@ws/adapter-memory'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { textPdf } from '@ws/test-fixtures/pdf'
import { createTools } from '@ws/tools'
import { describe, expect, it } from 'vitest'

import { done, refused } from './support/calls.ts'
import { workspaceWith } from './support/stores.ts'

const given = {
  '/a.ts': 'one\ntwo\nthree\n',
  '/crlf.txt': 'a\r\nb',
  '/memories/n.md': 'note\n',
  '/src/deep/b.ts': 'TODO\n',
}
const editor = 'str_replace_based_edit_tool'

async function open() {
  const workspace = await workspaceWith(given, { executors: [createVirtualExecutor()] })
  return { workspace, toolset: createTools(workspace, { face: 'anthropic' }) }
}

type Right = readonly (readonly [string, Readonly<Record<string, unknown>>, string, (readonly [string, string])?])[]
const right: Right = [
  [editor, { command: 'view', path: '/a.ts' }, '     1\tone\n     2\ttwo\n     3\tthree\n'],
  [editor, { command: 'view', path: '/a.ts', view_range: [2, 3] }, '     2\ttwo\n     3\tthree\n[lines 2–3 of 3'],
  [editor, { command: 'view', path: '/a.ts', view_range: [3, -1] }, '     3\tthree\n[lines 3–3 of 3'],
  [editor, { command: 'view', path: '/' }, '  src/deep/'],
  [editor, { command: 'view', path: '/src' }, '  deep/b.ts (5 bytes)'],
  [editor, { command: 'create', path: '/new/x.md', file_text: '```\nx\n```' }, 'Created', ['/new/x.md', '```\nx\n```']],
  [editor, { command: 'create', path: '/a.ts', file_text: 'x' }, 'Updated', ['/a.ts', 'x']],
  [
    editor,
    { command: 'str_replace', path: '/a.ts', old_str: 'two', new_str: '$&' },
    'Updated',
    ['/a.ts', 'one\n$&\nthree\n'],
  ],
  [editor, { command: 'str_replace', path: '/a.ts', old_str: 'two\n' }, 'Updated', ['/a.ts', 'one\nthree\n']],
  [
    editor,
    { command: 'insert', path: '/a.ts', insert_line: 0, insert_text: 'zero' },
    'Inserted',
    ['/a.ts', 'zero\none\ntwo\nthree\n'],
  ],
  [
    editor,
    { command: 'insert', path: '/a.ts', insert_line: 3, new_str: 'four\n' },
    'Inserted',
    ['/a.ts', 'one\ntwo\nthree\nfour\n'],
  ],
  [
    editor,
    { command: 'insert', path: '/crlf.txt', insert_line: 1, insert_text: 'x\n' },
    'Inserted',
    ['/crlf.txt', 'a\r\nx\r\nb'],
  ],
  [
    editor,
    { command: 'insert', path: '/crlf.txt', insert_line: 2, insert_text: 'c' },
    'Inserted',
    ['/crlf.txt', 'a\r\nb\r\nc'],
  ],
  ['memory', { command: 'view', path: '/memories' }, '  /memories/n.md (5 bytes)'],
  ['memory', { command: 'view', path: '/memories/n.md' }, '     1\tnote'],
  ['memory', { command: 'create', path: '/memories/x.md', file_text: 'x' }, 'Created', ['/memories/x.md', 'x']],
  [
    'memory',
    { command: 'str_replace', path: '/memories/n.md', old_str: 'note', new_str: 'n' },
    'Updated',
    ['/memories/n.md', 'n\n'],
  ],
  [
    'memory',
    { command: 'insert', path: '/memories/n.md', insert_line: 1, insert_text: 'm' },
    'Inserted',
    ['/memories/n.md', 'note\nm\n'],
  ],
  ['memory', { command: 'delete', path: '/memories/n.md' }, 'Deleted the file'],
  [
    'memory',
    { command: 'rename', old_path: '/memories/n.md', new_path: '/memories/o.md' },
    'Moved',
    ['/memories/o.md', 'note\n'],
  ],
  ['bash', { command: 'echo hi' }, 'Exit code 0.\nhi'],
  ['bash', { restart: true }, 'starts anew'],
  ['bash', { command: 'exit 3', timeout_ms: 5000 }, 'Exit code 3.'],
  ['read', { file_path: '/a.ts' }, '     1\tone'],
  ['read', { file_path: '/a.ts', view_range: [2, 2] }, '     2\ttwo\n[lines 2–2 of 3'],
  ['write', { file_path: '/w.txt', content: 'w' }, 'Created', ['/w.txt', 'w']],
  ['edit', { file_path: '/a.ts', old_string: 'one', new_string: '1' }, 'Updated', ['/a.ts', '1\ntwo\nthree\n']],
  [
    'edit',
    { file_path: '/a.ts', old_string: 'e', new_string: 'E', replace_all: true },
    '3 replacements',
    ['/a.ts', 'onE\ntwo\nthrEE\n'],
  ],
  ['glob', { pattern: '**/*.ts' }, '/a.ts\n/src/deep/b.ts'],
  ['grep', { pattern: 'TO.O', path: '/src' }, '/src/deep/b.ts:1:TODO'],
]

const wrong: readonly (readonly [string, unknown, string, object])[] = [
  [editor, {}, '`command`', { tool: editor, arguments: { command: 'view' } }],
  [editor, { command: 'undo_edit', path: '/a.ts' }, '`command` must be one of', { tool: editor }],
  [editor, { command: 'view' }, '`path`', { tool: editor }],
  [editor, { command: 'view', path: '/a.ts', view_range: [0, 2] }, '`view_range`', { tool: editor }],
  [editor, { command: 'view', path: '/a.ts', view_range: [1] }, '`view_range` must be a list', { tool: editor }],
  [
    editor,
    { command: 'insert', path: '/a.ts', insert_line: 9, insert_text: 'x' },
    '`insert_line` must be from 0 to 3',
    { tool: editor },
  ],
  [editor, { command: 'insert', path: '/a.ts', insert_line: 0 }, '`insert_text`', { tool: editor }],
  [
    editor,
    { command: 'str_replace', path: '/a.ts', old_str: 'zzz', new_str: 'x' },
    '`old_str` was not found',
    { tool: editor },
  ],
  [editor, { command: 'create', path: '/a.ts', content: 'x' }, '`content` is not an argument', { tool: editor }],
  ['memory', { command: 'create', path: '/memories/n.md', file_text: 'x' }, 'exists already', { tool: 'memory' }],
  ['memory', { command: 'view', path: '/a.ts' }, 'outside `/memories`', { tool: 'memory' }],
  ['memory', { command: 'view', path: '/memories/../a.ts' }, 'outside `/memories`', { tool: 'memory' }],
  ['memory', { command: 'delete', path: '/memories' }, 'neither deleted nor renamed', { tool: 'memory' }],
  [
    'memory',
    { command: 'rename', old_path: '/memories/n.md', new_path: '/x.md' },
    'outside `/memories`',
    { tool: 'memory' },
  ],
  ['bash', {}, '`command`', { tool: 'bash' }],
  ['read', { path: '/a.ts' }, 'the nearest is `file_path`', { tool: 'read', arguments: { file_path: '/a.ts' } }],
  ['read', { file_path: '/none.ts' }, '`/none.ts`', { tool: 'glob' }],
  [
    'edit',
    { file_path: '/a.ts', old_string: 'e', new_string: 'x' },
    '3 times',
    { tool: 'edit', arguments: { replace_all: true } },
  ],
  ['glob', {}, '`pattern`', { tool: 'glob' }],
]

describe('anthropic', () => {
  it.each(right.map(([tool, input, words, file = []]) => ({ tool, input, words, file })))(
    '$tool $input',
    async ({ tool, input, words, file }) => {
      const { workspace, toolset } = await open()
      expect((await done(toolset, tool, input)).text).toContain(words)
      const [path, content] = file
      if (path !== undefined) expect(await workspace.readText(path)).toBe(content)
    },
  )

  it.each(wrong)('answers to %s %j', async (tool, input, words, next) => {
    const { workspace, toolset } = await open()
    const answer = await refused(toolset, tool, input)
    expect(answer.text).toContain(words)
    expect(answer.next).toMatchObject(next)
    expect(await workspace.readText('/a.ts')).toBe(given['/a.ts'])
    expect(toolset.journal()).toEqual([])
  })

  it.each(['memory', editor])('%s is enough to follow its own answers', async (tool) => {
    const lines = 'x\n'.repeat(3_000)
    const mounts = [{ at: '/workspace', adapter: createMemoryAdapter() }]
    const workspace = await workspaceWith({ '/workspace/memories/a.md': lines }, { mounts })
    const toolset = createTools(workspace, { face: 'anthropic' })
    const below = (path: string): string => (tool === 'memory' ? path : `/workspace${path}`)
    const path = below('/memories/a.md')
    const more = await done(toolset, tool, { command: 'view', path })
    expect(more.next).toEqual({ tool, arguments: { command: 'view', path, view_range: [2_001, 4_000] } })
    for (const [input, next] of [
      [{ command: 'str_replace', path, old_str: 'z', new_str: 'y' }, path],
      [{ command: 'str_replace', path, old_str: 'x', new_str: 'y' }, path],
      [{ command: 'insert', path, insert_line: 9_999, insert_text: 'y' }, path],
      [{ command: 'view', path: below('/memories/none.md') }, tool === 'memory' ? '/memories' : '/workspace/memories'],
    ] as const) {
      const answer = await refused(toolset, tool, input)
      expect(answer.next).toEqual({ tool, arguments: { command: 'view', path: next } })
      expect(answer.text).not.toMatch(/`(?:read|edit|list|replace|all|old|new|old_string|replace_all)`/u)
    }
  })

  it('shows an unused memory as empty, and makes files that others cannot read', async () => {
    const workspace = await workspaceWith()
    const toolset = createTools(workspace, { face: 'anthropic' })
    expect((await done(toolset, 'memory', { command: 'view', path: '/memories' })).text).toContain('(nothing here)')
    await done(toolset, 'memory', { command: 'create', path: '/memories/x.md', file_text: 'x' })
    expect(await workspace.stat('memories/x.md')).toMatchObject({ mode: 0o600 })
  })
})

it.each(['read', editor])(
  '[FS4] reads a PDF by `view_range` with %s, and needs no program for that',
  async (tool) => {
    const pdf = textPdf(Array.from({ length: 30 }, (_, index) => `line ${index + 1}`))
    const toolset = createTools(await workspaceWith({ '/a.pdf': pdf }), { face: 'anthropic' })
    const call = (range?: readonly number[]) => ({
      ...(tool === 'read' ? { file_path: '/a.pdf' } : { command: 'view', path: '/a.pdf' }),
      ...(range && { view_range: range }),
    })
    const first = await done(toolset, tool, call())
    expect(first.text).toContain('[pages 1–20 of 30; next: pages 21-30')
    expect(first.next).toEqual({ tool, arguments: call([21, 30]) })
    expect((await done(toolset, tool, first.next?.arguments ?? {})).text).toContain('line 30')
    expect((await done(toolset, tool, call([2, 3]))).text).toContain('[pages 2–3 of 30')
    expect((await done(toolset, tool, call([1, 2000]))).text).toContain('[pages 1–20 of 30')
  },
  30_000,
)

it('names arguments and paths as the tool that was called has them', async () => {
  const workspace = await workspaceWith({ '/memories/a.md': 'one\ntwo\n', '/memories/sub/b.md': '' })
  const toolset = createTools(workspace, { face: 'anthropic' })
  const missed = { command: 'str_replace', path: '/memories/a.md', old_str: 'one\nTWO', new_str: 'x' }
  expect((await refused(toolset, 'memory', missed)).text).toContain('line 2 is `two`, and `old_str` has `TWO`')
  const { text } = await done(toolset, 'memory', { command: 'view', path: '/memories' })
  expect(text.split('\n')).toEqual([
    '/memories/',
    '  /memories/a.md (8 bytes)',
    '  /memories/sub/',
    '  /memories/sub/b.md (0 bytes)',
  ])
})
