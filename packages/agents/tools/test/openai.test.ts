import { rules } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { createTools } from '@ws/tools'
import { describe, expect, it } from 'vitest'

import { done, refused } from './support/calls.ts'
import { workspaceWith } from './support/stores.ts'

const given: Readonly<Record<string, string>> = {
  '/a.ts': 'one\ntwo\nthree\n',
  '/crlf.txt': 'a\r\nb\r\nc',
  '/twice.py': 'def f():\n  x = 1\n  return x\ndef g():\n  x = 1\n  return x\n',
  '/empty': '',
}

async function open() {
  const workspace = await workspaceWith(given, { executors: [createVirtualExecutor()] })
  return { workspace, toolset: createTools(workspace, { face: 'openai' }) }
}

const patch = (...lines: readonly string[]): { input: string } => ({
  input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'),
})
const update = (path: string, ...lines: readonly string[]): object => ({
  type: 'update_file',
  path,
  diff: lines.join('\n'),
})

const right: readonly (readonly [string, object, Readonly<Record<string, string | undefined>>])[] = [
  ['a hunk with context', update('/a.ts', '@@', ' one', '-two', '+2', ' three'), { '/a.ts': 'one\n2\nthree\n' }],
  ['no `@@`', update('/a.ts', '-two', '+2'), { '/a.ts': 'one\n2\nthree\n' }],
  ['`$&` as data', update('/a.ts', '-two', '+$& $1'), { '/a.ts': 'one\n$& $1\nthree\n' }],
  ['an insertion below an anchor', update('/a.ts', '@@ two', '+2.5'), { '/a.ts': 'one\ntwo\n2.5\nthree\n' }],
  ['an addition at the end', update('/a.ts', '+four', '*** End of File'), { '/a.ts': 'one\ntwo\nthree\nfour\n' }],
  ['a line at the end', update('/a.ts', ' three', '+four', '*** End of File'), { '/a.ts': 'one\ntwo\nthree\nfour\n' }],
  ['several hunks', update('/a.ts', '@@', '-one', '+1', '@@', '-three', '+3'), { '/a.ts': '1\ntwo\n3\n' }],
  ['a deletion of all lines', update('/a.ts', '-one', '-two', '-three'), { '/a.ts': '' }],
  [
    'CRLF without a last newline',
    update('/crlf.txt', ' a', '-b', '+x', '+y', ' c'),
    { '/crlf.txt': 'a\r\nx\r\ny\r\nc' },
  ],
  ['a new last line without a newline', update('/crlf.txt', '-c', '+d'), { '/crlf.txt': 'a\r\nb\r\nd' }],
  [
    'an anchor for one of two places',
    update('/twice.py', '@@ def g():', '-  x = 1', '+  x = 2'),
    { '/twice.py': 'def f():\n  x = 1\n  return x\ndef g():\n  x = 2\n  return x\n' },
  ],
  [
    'an anchor that the hunk repeats',
    update('/twice.py', '@@ def g():', ' def g():', '-  x = 1'),
    { '/twice.py': 'def f():\n  x = 1\n  return x\ndef g():\n  return x\n' },
  ],
  [
    'another indentation at one place',
    update('/twice.py', '-    return x', '-  def g():', '+    return y', '+  def g():'),
    { '/twice.py': 'def f():\n  x = 1\n  return y\ndef g():\n  x = 1\n  return x\n' },
  ],
  [
    'a hunk of a unified diff',
    update('/a.ts', '@@ -9,2 +9,2 @@', ' one', '-two', '+2'),
    { '/a.ts': 'one\n2\nthree\n' },
  ],
  ['an empty file', update('/empty', '+x'), { '/empty': 'x\n' }],
  ['a new file', { type: 'create_file', path: '/new/x.txt', diff: '+x\n+y' }, { '/new/x.txt': 'x\ny\n' }],
  ['a deleted file', { type: 'delete_file', path: '/a.ts' }, { '/a.ts': undefined }],
  [
    'a moved file',
    { type: 'update_file', path: '/a.ts', diff: '-two\n+2', moveTo: '/b.ts' },
    { '/a.ts': undefined, '/b.ts': 'one\n2\nthree\n' },
  ],
  [
    'the hosted form',
    { operation: { type: 'update_file', path: 'a.ts', diff: '-two\n+2' } },
    { '/a.ts': 'one\n2\nthree\n' },
  ],
  [
    'an envelope',
    patch('*** Update File: a.ts', '@@', '-two', '+2', '*** Add File: n.txt', '+n', '*** Delete File: empty'),
    { '/a.ts': 'one\n2\nthree\n', '/n.txt': 'n\n', '/empty': undefined },
  ],
  [
    'a move with context alone',
    { type: 'update_file', path: '/a.ts', diff: '@@\n one\n two', moveTo: '/b.ts' },
    { '/a.ts': undefined, '/b.ts': 'one\ntwo\nthree\n' },
  ],
  [
    'an envelope that moves',
    patch('*** Update File: a.ts', '*** Move to: c.ts', '@@', ' one', '-two'),
    { '/a.ts': undefined, '/c.ts': 'one\nthree\n' },
  ],
  ...(
    [
      ['a here-document', (text: string) => `apply_patch <<'EOF'\n${text}\nEOF\n`],
      ['a fence', (text: string) => `\`\`\`diff\n${text}\n\`\`\``],
      ['a sentence before and after', (text: string) => `Here is the patch:\n\n${text}\n\nDone.`],
      ['stars behind its marks', (text: string) => text.replaceAll(/^\*\*\* .*$/gmu, '$& ***')],
      ['CRLF', (text: string) => text.replaceAll('\n', '\r\n')],
    ] as const
  ).map(([what, form]) => {
    const { input } = patch('*** Update File: a.ts', '@@', '-two', '+2', '*** Add File: n.txt', '+n')
    return [`an envelope in ${what}`, { input: form(input) }, { '/a.ts': 'one\n2\nthree\n', '/n.txt': 'n\n' }] as const
  }),
  [
    'one file twice, from below',
    patch('*** Update File: a.ts', '-three', '+3', '*** Update File: /a.ts', '-one', '+1'),
    { '/a.ts': '1\ntwo\n3\n' },
  ],
  [
    'a file that becomes a directory',
    patch('*** Add File: a.ts/x.txt', '+x', '*** Delete File: a.ts'),
    { '/a.ts/x.txt': 'x\n' },
  ],
  [
    'a unified diff of git',
    {
      input: [
        'Here:',
        '```diff',
        'diff --git a/a.ts b/a.ts',
        'index 1..2 100644',
        '--- a/a.ts',
        '+++ b/a.ts',
        '@@ -1,3 +1,3 @@',
        ' one',
        '-two',
        '+2',
        ' three',
        'diff --git a/n.txt b/n.txt',
        'new file mode 100644',
        '--- /dev/null',
        '+++ b/n.txt',
        '@@ -0,0 +1 @@',
        '+n',
        'diff --git a/empty b/empty',
        'deleted file mode 100644',
        '--- a/twice.py',
        '+++ /dev/null',
        '@@ -1 +0,0 @@',
        '-x',
        '```',
      ].join('\n'),
    },
    { '/a.ts': 'one\n2\nthree\n', '/n.txt': 'n\n', '/twice.py': undefined },
  ],
  [
    'a unified diff with times, and a removed line that looks like a head',
    { input: '--- a.ts\t2026-01-01\n+++ a.ts\t2026-01-02\n@@ -1 +1,2 @@\n-one\n+-- one\n+++ 1\n' },
    { '/a.ts': '-- one\n++ 1\ntwo\nthree\n' },
  ],
  ['a path with `workspace`', patch('*** Update File: /workspace/a.ts', '-two', '+2'), { '/a.ts': 'one\n2\nthree\n' }],
]

const wrong: readonly (readonly [string, unknown, string, string])[] = [
  ['nothing', {}, '`input`', 'shell'],
  ['no path', { type: 'update_file', diff: '+x' }, '`path`', 'shell'],
  ['an unknown type', { type: 'patch_file', path: '/a.ts' }, '`type` must be one of', 'shell'],
  ['a patch without a beginning', { input: 'Update File: a.ts' }, '`*** Begin Patch`', 'shell'],
  ['a patch without an end', { input: '*** Begin Patch\n*** Delete File: a.ts' }, '`*** End Patch`', 'shell'],
  [
    'two patches',
    { input: `${patch('*** Delete File: a.ts').input}\n${patch('*** Delete File: empty').input}` },
    'more than one',
    'shell',
  ],
  [
    'a unified diff with a rename',
    { input: 'rename from a.ts\n--- a/a.ts\n+++ b/b.ts\n@@ -1 +1 @@\n-one\n+1' },
    '`rename from a.ts`',
    'shell',
  ],
  [
    'a unified diff of two names',
    { input: '--- a/a.ts\n+++ b/b.ts\n@@ -1 +1 @@\n-one\n+1' },
    'two names differ',
    'shell',
  ],
  [
    'a unified diff that changes the last line end',
    { input: '--- a/a.ts\n+++ b/a.ts\n@@ -3 +3 @@\n-three\n+three\n\\ No newline at end of file' },
    'the end of the last line',
    'shell',
  ],
  ['a created and updated file', patch('*** Add File: n', '+x', '*** Update File: n', '-x', '+y'), '`/n`', 'shell'],
  ['a patch of no file', patch(), 'names no file', 'shell'],
  ['lines that are not there', update('/a.ts', '-zwei', '+2'), 'were not found', 'shell'],
  ['lines that are there twice', update('/twice.py', '-  x = 1', '+  x = 2'), 'found 2 times (lines 2, 5)', 'shell'],
  ['an anchor that is not there', update('/twice.py', '@@ def h():', '-  x = 1'), 'behind `@@`', 'shell'],
  ['another indentation at two places', update('/twice.py', '-x = 1', '+x = 2'), '2 times (lines 2, 5)', 'shell'],
  ['an anchor without lines', update('/twice.py', '-  return x', '@@ def g():'), 'no lines below it', 'shell'],
  ['additions without a place', update('/a.ts', '+x'), 'nothing says where', 'shell'],
  ['a line without a mark', update('/a.ts', 'two'), 'must begin with', 'shell'],
  ['a new file that is there', { type: 'create_file', path: '/a.ts', diff: '+x' }, 'exists already', 'shell'],
  ['a missing file', update('/none.ts', '-x'), '`/none.ts`', 'shell'],
  ['a path outside', update('../a.ts', '-one'), 'climbs above the root', 'shell'],
  ['a misspelt argument', { patch: 'x' }, '`patch` is not an argument', 'shell'],
  [
    'a second file that fails',
    patch('*** Update File: a.ts', '-two', '+2', '*** Update File: crlf.txt', '-zz'),
    'were not found',
    'shell',
  ],
]

describe('apply_patch', () => {
  it.each(right)('takes %s', async (_, input, expected) => {
    const { workspace, toolset } = await open()
    await done(toolset, 'apply_patch', input as Readonly<Record<string, unknown>>)
    for (const [path, content] of Object.entries(expected)) {
      if (content === undefined) expect(await workspace.exists(path)).toBe(false)
      else expect(await workspace.readText(path)).toBe(content)
    }
  })

  it.each(wrong)('refuses %s, and changes nothing', async (_, input, words, tool) => {
    const { workspace, toolset } = await open()
    const answer = await refused(toolset, 'apply_patch', input)
    expect(answer.text).toContain(words)
    expect(answer.next?.tool).toBe(tool)
    for (const [path, content] of Object.entries(given)) expect(await workspace.readText(path)).toBe(content)
    expect(toolset.journal()).toEqual([])
  })

  it('keeps bytes that are not UTF-8', async () => {
    const { workspace, toolset } = await open()
    await workspace.write('/raw', Uint8Array.of(0xff, 10, 97, 10, 0xfe))
    await done(toolset, 'apply_patch', { type: 'update_file', path: '/raw', diff: '-a\n+b' })
    expect([...(await workspace.read('/raw')).bytes]).toEqual([0xff, 10, 98, 10, 0xfe])
    await refused(toolset, 'apply_patch', { type: 'update_file', path: '/raw', diff: '-b\n+ä' })
  })
})

describe('shell', () => {
  it('says what the executor does not have', async () => {
    const { toolset } = await open()
    const description = (name: string) => toolset.tools.find((tool) => tool.name === name)?.description
    expect(description('shell')).toMatch(/The shell has no git, python3, .*no network\.$/u)
    expect(description('apply_patch')).not.toContain('git')
  })

  it('gives the outcome and the outputs of each command', async () => {
    const { toolset } = await open()
    const { text, data } = await done(toolset, 'shell', { commands: ['echo hi', 'cat /none'], timeoutMs: 10_000 })
    const results = JSON.parse(text) as readonly unknown[]
    expect(results).toMatchObject([
      { stdout: 'hi\n', stderr: '', outcome: { type: 'exit', exitCode: 0 } },
      { stdout: '', outcome: { type: 'exit', exitCode: 1 } },
    ])
    expect(data).toEqual({ output: results })
  })

  it('says which rule a failed command ran into, and how to go on', async () => {
    const workspace = await workspaceWith(given, {
      executors: [createVirtualExecutor()],
      rules: [rules.readOnly('/a.ts')],
    })
    const { text } = await done(createTools(workspace, { face: 'openai' }), 'shell', { commands: ['echo x > a.ts'] })
    expect(JSON.parse(text)).toMatchObject([{ stderr: expect.stringMatching(/Note: .*write outside `\/a\.ts`/u) }])
  })

  it('says when a command took too long', async () => {
    const { toolset } = await open()
    const { text } = await done(toolset, 'shell', { commands: ['sleep 60'], timeout_ms: 50 })
    expect(JSON.parse(text)).toMatchObject([{ outcome: { type: 'timeout' } }])
  })

  it.each([[{}], [{ commands: [] }], [{ commands: 'ls' }], [{ command: 'ls' }], [{ commands: ['ls'], timeoutMs: 0 }]])(
    'refuses %j',
    async (input) => {
      const { toolset } = await open()
      expect((await refused(toolset, 'shell', input)).next?.tool).toBe('shell')
    },
  )
})
