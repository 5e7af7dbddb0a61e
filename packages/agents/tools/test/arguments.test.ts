import { longestTurn } from '@ws/test-fixtures'
import { createTools } from '@ws/tools'
import { describe, expect, it } from 'vitest'

import { done, refused } from './support/calls.ts'
import { workspaceWith } from './support/stores.ts'

const given = { '/a.txt': 'one\ntwo\n', '/b/c.ts': 'needle\n' }

async function open(face: 'file_system' | 'split' | 'claude-code' = 'file_system') {
  const workspace = await workspaceWith(given)
  return { workspace, toolset: createTools(workspace, { face, downloads: { hosts: 'public' } }) }
}

describe('[FS1] arguments of file_system', () => {
  it('has one flat schema', async () => {
    const { toolset } = await open()
    const [tool] = toolset.tools
    expect(tool?.inputSchema).toMatchObject({ type: 'object', required: ['operation'], additionalProperties: false })
    for (const word of ['oneOf', 'anyOf', 'allOf']) expect(tool?.inputSchema).not.toHaveProperty(word)
    expect(tool?.inputSchema.properties['operation']?.['enum']).toEqual([
      ...[
        'read',
        'read_chunked',
        'inspect',
        'write',
        'replace',
        'search',
        'find',
        'download',
        'copy',
        'rename',
        'move',
      ],
      ...['delete', 'list'],
    ])
  })

  const wrong: readonly (readonly [string, unknown, string, object])[] = [
    ['nothing', undefined, 'operation', {}],
    ['a text that is not JSON', 'read the file', 'must be an object', {}],
    ['a list', [1], 'must be an object', {}],
    ['a number', 3, 'must be an object', {}],
    ['no operation', { path: '/a.txt' }, '`operation`', { path: '/a.txt' }],
    [
      'an unknown operation',
      { operation: 'xyzzy', path: '/a.txt' },
      '`operation` must be one of',
      { operation: 'read' },
    ],
    ['a misspelt operation', { operation: 'raed', path: '/a.txt' }, 'the nearest is `read`', { operation: 'read' }],
    [
      'the name of another tool',
      { operation: 'grep', pattern: 'x' },
      'the nearest is `search`',
      { operation: 'search', pattern: 'x' },
    ],
    ['an operation in capitals', { operation: 'READ', path: '/a.txt' }, 'the nearest is `read`', { path: '/a.txt' }],
    ['an operation that is a number', { operation: 1 }, '`operation` must be one of', {}],
    ['no path', { operation: 'read' }, '`path`', { operation: 'list' }],
    ['null for the path', { operation: 'read', path: null }, '`path`', { operation: 'list' }],
    ['an empty path', { operation: 'read', path: '' }, '`path` must be text that is not empty', {}],
    ['a number for the path', { operation: 'read', path: 7 }, '`path` must be text', {}],
    ['a misspelt argument', { operation: 'read', pth: '/a.txt' }, 'the nearest is `path`', { path: '/a.txt' }],
    [
      'an argument of another tool',
      { operation: 'read', file_path: '/a.txt' },
      'the nearest is `path`',
      { path: '/a.txt' },
    ],
    [
      'an argument of another operation',
      { operation: 'read', path: '/a.txt', pattern: 'x' },
      '`pattern` is not an argument',
      { path: '/a.txt' },
    ],
    [
      'a superfluous argument',
      { operation: 'read', path: '/a.txt', zzzzzz: 1 },
      '`zzzzzz` is not an argument',
      { path: '/a.txt' },
    ],
    [
      'a text for a number',
      { operation: 'read', path: '/a.txt', limit: 'many' },
      '`limit` must be a whole number from 1',
      { path: '/a.txt' },
    ],
    ['a fraction', { operation: 'read', path: '/a.txt', limit: 1.5 }, '`limit` must be a whole number', {}],
    [
      'a negative offset',
      { operation: 'read', path: '/a.txt', offset: -1 },
      '`offset` must be a whole number from 0',
      {},
    ],
    ['line 0', { operation: 'read', path: '/a.txt', start_line: 0 }, '`start_line` must be a whole number from 1', {}],
    [
      'both ways to count',
      { operation: 'read', path: '/a.txt', offset: 0, start_line: 1 },
      '`offset` and `start_line`',
      { start_line: 1 },
    ],
    ['no content', { operation: 'write', path: '/new.txt' }, '`content`', { path: '/new.txt' }],
    [
      'a number as content',
      { operation: 'write', path: '/new.txt', content: 5 },
      '`content` must be text, an object or a list',
      {},
    ],
    [
      'contradicting conditions',
      { operation: 'write', path: '/a.txt', content: 'x', create_only: true, if_version: 'v' },
      '`create_only`',
      {},
    ],
    [
      'a file that must not be there',
      { operation: 'write', path: '/a.txt', content: 'x', create_only: true },
      'exists already',
      {},
    ],
    [
      'an old version',
      { operation: 'write', path: '/a.txt', content: 'x', if_version: 'm0' },
      '/a.txt',
      { operation: 'inspect' },
    ],
    ['no `new`', { operation: 'replace', path: '/a.txt', old: 'one' }, '`new`', { path: '/a.txt' }],
    ['no `old`', { operation: 'replace', path: '/a.txt', new: 'one' }, '`old`', { path: '/a.txt' }],
    [
      '`edits` and `old`',
      { operation: 'replace', path: '/a.txt', old: 'one', edits: [{ old: 'one', new: 'x' }] },
      '`edits`',
      {},
    ],
    ['an empty list of edits', { operation: 'replace', path: '/a.txt', edits: [] }, '`edits` must be a list', {}],
    ['an edit without `new`', { operation: 'replace', path: '/a.txt', edits: [{ old: 'one' }] }, 'edits.0.new', {}],
    ['the same text twice', { operation: 'replace', path: '/a.txt', old: 'one', new: 'one' }, 'are the same', {}],
    ['no pattern', { operation: 'search', path: '/' }, '`pattern`', { operation: 'search' }],
    [
      'a pattern that is not RE2',
      { operation: 'search', pattern: '(' },
      '(',
      { operation: 'search', pattern: '(', literal: true },
    ],
    [
      'an unknown mode',
      { operation: 'search', pattern: 'x', mode: 'all' },
      '`mode` must be one of `content`, `files`, `count`',
      { pattern: 'x' },
    ],
    ['a broken glob', { operation: 'find', glob: '[' }, '[', {}],
    ['a missing file', { operation: 'read', path: '/src/c.ts' }, '`/src/c.ts`', { operation: 'list', path: '/' }],
    [
      'a misspelt file',
      { operation: 'read', path: '/b/d.ts' },
      'the nearest is `/b/c.ts`'.replace('the', 'The'),
      { operation: 'read', path: '/b/c.ts' },
    ],
    ['a directory', { operation: 'read', path: '/b' }, '`/b`', { operation: 'list', path: '/b' }],
    [
      'a file as a directory',
      { operation: 'list', path: '/a.txt' },
      'is a file',
      { operation: 'read', path: '/a.txt' },
    ],
    ['a path outside', { operation: 'delete', path: '../a.txt' }, 'climbs above the root', {}],
    ['a path with NUL', { operation: 'read', path: '/a\0b' }, 'NUL', {}],
    ['no destination', { operation: 'copy', from: '/a.txt' }, '`to`', { from: '/a.txt' }],
    ['overlap above the half', { operation: 'read_chunked', path: '/a.txt', size: 100, overlap: 51 }, '`overlap`', {}],
  ]
  it.each(wrong)('answers to %s, and changes nothing', async (_, input, words, next) => {
    const { workspace, toolset } = await open()
    const answer = await refused(toolset, 'file_system', input)
    expect(answer.text).toContain(words)
    expect(answer.next?.arguments).toMatchObject(next)
    expect(toolset.journal()).toEqual([])
    expect(await workspace.readText('/a.txt')).toBe(given['/a.txt'])
    expect((await Array.fromAsync(workspace.list('/', { recursive: true }))).length).toBe(3)
  })

  const lenient: readonly (readonly [string, unknown, string])[] = [
    ['JSON text', JSON.stringify({ operation: 'read', path: '/a.txt' }), 'one'],
    [
      'null for absent arguments',
      { operation: 'read', path: '/a.txt', offset: null, limit: null, pattern: null, zz: null },
      'one',
    ],
    ['numbers as text', { operation: 'read', path: '/a.txt', offset: '1', limit: ' 5 ' }, '     2\ttwo'],
    ['booleans as text', { operation: 'search', pattern: 'NEEDLE', ignore_case: 'true' }, '/b/c.ts:1:needle'],
    ['lists as JSON text', { operation: 'replace', path: '/a.txt', edits: '[{"old":"one","new":"1"}]' }, 'Updated'],
    ['a path without a slash', { operation: 'read', path: 'b/c.ts' }, 'needle'],
  ]
  it.each(lenient)('takes %s', async (_, input, words) => {
    const { toolset } = await open()
    const answer = await toolset.run('file_system', input)
    expect(answer.isError, answer.text).toBe(false)
    expect(answer.text).toContain(words)
  })

  it('shows a next call that works as it stands', async () => {
    const { toolset } = await open()
    const { next } = await refused(toolset, 'file_system', { operation: 'raed', path: '/a.txt' })
    const answer = await toolset.run(next?.tool ?? '', next?.arguments)
    expect(answer.text).toContain('one')
  })

  it('names the tools for an unknown one', async () => {
    const { toolset } = await open()
    const answer = await refused(toolset, 'filesystem', { operation: 'read', path: '/a.txt' })
    expect(answer.text).toContain('`file_system`, `execute`')
  })
})

describe('split', () => {
  it('[FS1] has one tool for each operation, with annotations of the table', async () => {
    const { toolset } = await open('split')
    const hints = Object.fromEntries(toolset.tools.map(({ name, annotations }) => [name, annotations]))
    expect(Object.keys(hints).length).toBe(14)
    expect(hints['read']).toMatchObject({ readOnlyHint: true, destructiveHint: false, openWorldHint: false })
    expect(hints['delete']).toMatchObject({ readOnlyHint: false, destructiveHint: true })
    expect(hints['download']).toMatchObject({ openWorldHint: true })
    expect(hints['write']).toMatchObject({ idempotentHint: true })
  })

  it('[FS6] writes verbatim', async () => {
    const { workspace, toolset } = await open('split')
    await done(toolset, 'write', { path: '/a.ts', content: '```ts\nx\n```' })
    expect(await workspace.readText('/a.ts')).toBe('```ts\nx\n```')
    await refused(toolset, 'write', { path: '/a.json', content: { a: 1 } })
  })
})

it('refuses 200,000 arguments at the first that is unknown, in little time', async () => {
  const { toolset } = await open('split')
  const many = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`a${index}`, index]))
  const { user } = process.cpuUsage()
  const answer = await toolset.run('read', many)
  expect(answer.isError).toBe(true)
  expect(answer.text).toContain('`a0`')
  // about 1,000 where all of them are copied and compared
  expect((process.cpuUsage().user - user) / 1000).toBeLessThan(300)
})

it.each(['\n', '/', './'])('[RU8] refuses 5 million of %j as a path without holding the event loop', async (part) => {
  const { toolset } = await open('split')
  const read = toolset.tools.find(({ name }) => name === 'read')
  const path = part.repeat(5_000_000)
  path.charCodeAt(1) // made in one piece
  const { result, longest } = await longestTurn(async () => read?.run({ path }))
  expect(result).toMatchObject({ isError: true })
  expect(longest).toBeLessThan(20)
})

it('[FS13] `workspace` in front does not count for the length of a path', async () => {
  const { toolset } = await open('split')
  const longest = `${'a/'.repeat(2046)}aa` // 4,095 bytes with the slash in front
  expect((await toolset.run('read', { path: `/workspace/${longest}` })).text).toContain('does not exist')
  expect((await toolset.run('read', { path: `/workspace/${longest}a` })).text).toContain('4096 bytes long')
})
