import { createVirtualExecutor } from '@ws/executor-virtual'
import { createTools } from '@ws/tools'
import { describe, expect, it } from 'vitest'

import { done, refused } from './support/calls.ts'
import { workspaceWith } from './support/stores.ts'

const given: Readonly<Record<string, string>> = {
  '/a.ts': 'const a = 1\nconst b = 2\n',
  '/src/b.ts': 'export const b = 1\n// TODO: more\n',
  '/src/c.py': 'def c():\n  pass  # TODO\n',
}

async function open() {
  const workspace = await workspaceWith(given, { executors: [createVirtualExecutor()] })
  return { workspace, toolset: createTools(workspace, { face: 'split', downloads: false }) }
}

type Call = readonly [string, Readonly<Record<string, unknown>>, string | RegExp]

const right: readonly Call[] = [
  ['read', { path: '/a.ts' }, 'const a = 1'],
  ['read', { path: 'a.ts' }, 'const a = 1'],
  ['read', { path: '/workspace/a.ts' }, 'const a = 1'],
  ['read', { path: '/a.ts', offset: 1, limit: 1 }, /^ +2\tconst b = 2/u],
  ['read', { path: '/a.ts', start_line: 2 }, /^ +2\tconst b = 2/u],
  ['read', { path: '/a.ts', offset: '1', limit: null }, /^ +2\tconst b = 2/u],
  ['read_chunked', { path: '/a.ts', offset_bytes: 6, size: 16 }, 'a = 1'],
  ['inspect', { path: '/a.ts' }, 'const a = 1'],
  ['inspect', { path: '/src/c.py', lines: 1 }, 'def c():'],
  ['write', { path: '/new/x.txt', content: 'x' }, 'Created `/new/x.txt`'],
  ['write', { path: '/a.ts', content: 'y' }, 'Updated `/a.ts`'],
  ['write', { path: '/f.json', content: '```json\n{}\n```' }, 'Created `/f.json`'],
  ['write', { path: '/once.txt', content: '', create_only: true }, 'Created `/once.txt`'],
  ['replace', { path: '/a.ts', old: 'a = 1', new: 'a = 2' }, '1 replacement at line 1'],
  ['replace', { path: '/a.ts', old: 'const', new: 'let', all: true }, '2 replacements at lines 1, 2'],
  [
    'replace',
    {
      path: '/a.ts',
      edits: [
        { old: 'a = 1', new: 'a = 3' },
        { old: 'b = 2', new: 'b = 4' },
      ],
    },
    '2 replacements',
  ],
  ['replace', { path: '/made.txt', old: '', new: 'x' }, 'Created `/made.txt`'],
  ['search', { pattern: 'TODO' }, '/src/b.ts'],
  ['search', { pattern: 'todo', ignore_case: true, glob: '*.py' }, '/src/c.py'],
  ['search', { pattern: 'TODO', mode: 'count' }, '/src/b.ts'],
  ['search', { pattern: 'c()', literal: true, path: '/src' }, '/src/c.py'],
  ['find', { glob: '*.py' }, '/src/c.py'],
  ['find', { glob: '**/*.ts', path: '/src' }, '/src/b.ts'],
  ['copy', { from: '/a.ts', to: '/b/a.ts' }, 'Copied `/a.ts` to `/b/a.ts`'],
  ['move', { from: '/a.ts', to: '/old/a.ts' }, 'Moved `/a.ts` to `/old/a.ts`'],
  ['rename', { from: '/src/b.ts', to: 'd.ts' }, 'Renamed `/src/b.ts` to `/src/d.ts`'],
  ['delete', { path: '/a.ts' }, 'Deleted the file `/a.ts`'],
  ['delete', { path: '/src', recursive: true }, 'Deleted the directory `/src`'],
  ['list', {}, 'a.ts'],
  ['list', { path: '/src', depth: 1 }, 'c.py'],
  ['execute', { command: 'cat /a.ts' }, 'const a = 1'],
]

const wrong: readonly (readonly [string, unknown, string, string])[] = [
  ['read', {}, '`path`', 'list'],
  ['read', { pth: '/a.ts' }, '`pth` is not an argument', 'read'],
  ['read', { path: '/none.ts' }, '`/none.ts`', 'list'],
  ['read', { path: '../a.ts' }, 'climbs above the root', 'list'],
  ['read', { path: '/a.ts', offset: 1, start_line: 2 }, '`offset` and `start_line`', 'read'],
  ['read', { path: '/a.ts', offset: -1 }, '`offset`', 'read'],
  ['read', 'a.ts', 'object', 'list'],
  ['write', { path: '/a.ts' }, '`content`', 'read'],
  ['write', { path: '/a.ts', content: 'x', create_only: true }, 'exists already', 'inspect'],
  ['replace', { path: '/a.ts', old: 'zzz', new: 'y' }, 'was not found', 'read'],
  ['replace', { path: '/a.ts', old: 'const', new: 'let' }, 'found 2 times', 'replace'],
  ['replace', { path: '/a.ts', old: 'a = 1' }, '`new`', 'read'],
  ['replace', { path: '/a.ts', old: 'a', new: 'b', edits: [{ old: 'a', new: 'b' }] }, '`edits`', 'replace'],
  ['replace', { path: '/a.ts', old_string: 'a = 1', new_string: 'b' }, '`old_string`', 'read'],
  ['search', { pattern: '(' }, 'pattern', 'search'],
  ['search', { pattern: 'x', mode: 'all' }, '`mode`', 'search'],
  ['inspect', { path: '/src' }, 'is a directory', 'list'],
  ['find', { pattern: '*.ts' }, '`pattern`', 'find'],
  ['copy', { from: '/a.ts', to: '/src/b.ts' }, 'never overwrites', 'inspect'],
  ['move', { from: '/a.ts', to: '/src' }, 'never overwrites', 'list'],
  ['delete', { path: '/' }, 'is the root', 'list'],
  ['delete', { path: '/src' }, 'not empty', 'list'],
  ['execute', {}, '`command`', 'execute'],
]

describe('split', () => {
  it('has one tool for each operation', async () => {
    const { toolset } = await open()
    expect(toolset.tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining([...new Set([...right, ...wrong].map(([tool]) => tool))]),
    )
    expect(right.length + wrong.length).toBeGreaterThanOrEqual(40)
  })

  it.each(right)('takes %s %j', async (tool, input, words) => {
    const { toolset } = await open()
    expect((await done(toolset, tool, input)).text).toMatch(words)
  })

  it.each(wrong)('refuses %s %j, and changes nothing', async (tool, input, words, next) => {
    const { workspace, toolset } = await open()
    const answer = await refused(toolset, tool, input)
    expect(answer.text).toContain(words)
    expect(answer.next?.tool).toBe(next)
    for (const [path, content] of Object.entries(given)) expect(await workspace.readText(path)).toBe(content)
    expect(toolset.journal()).toEqual([])
  })

  it('writes content as it is, without taking a fence off', async () => {
    const { workspace, toolset } = await open()
    await done(toolset, 'write', { path: '/f.json', content: '```json\n{}\n```' })
    expect(await workspace.readText('/f.json')).toBe('```json\n{}\n```')
  })
})
