import { createWorkspace, rules, type Workspace } from '@ws/core'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { describe, expect, it } from 'vitest'

import { expectDenied, expectFile, expectTree, file, link } from '../src/index.ts'
import { workspaceTest } from '../src/vitest.ts'

const test = workspaceTest({
  files: {
    'a.md': 'one\ntwo\n',
    d: { 'b.bin': new Uint8Array([1, 2, 255]), l: link('../a.md') },
    secrets: { key: 'k' },
  },
  rules: [rules.deny('/secrets'), rules.readOnly('/d')],
})

/** The words of a failure. */
const words = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'it passed',
    (error: Error) => error.message,
  )

describe('toHaveFile', () => {
  test('passes for the content, a pattern, or any file', async ({ workspace }) => {
    await expect(workspace).toHaveFile('/a.md')
    await expect(workspace).toHaveFile('/a.md', 'one\ntwo\n')
    await expect(workspace).toHaveFile('/a.md', /^two$/mu)
    await expect(workspace).toHaveFile('/d/b.bin', new Uint8Array([1, 2, 255]))
    await expect(workspace).not.toHaveFile('/a.md', 'other')
    await expect(workspace).not.toHaveFile('/none.md')
    await expect(workspace).not.toHaveFile('/d')
  })

  test('says which line differs, or what is there instead', async ({ workspace }) => {
    expect(await words(expect(workspace).toHaveFile('/a.md', 'one\nzwei\n'))).toBe(
      '"/a.md" differs from line 2 on:\n    expected: "zwei"\n    received: "two"',
    )
    expect(await words(expectFile(workspace, '/a.md', 'one\ntwo'))).toBe(
      '"/a.md" differs from line 3 on:\n    expected: the end of the file\n    received: the end of the file, after a line break',
    )
    expect(await words(expectFile(workspace, '/a.md', /three/u))).toContain('"/a.md" does not match /three/u')
    expect(await words(expectFile(workspace, '/d/b.bin', new Uint8Array([1, 3])))).toBe(
      '"/d/b.bin" differs from byte 1 on:\n    expected: 2 bytes\n    received: 3 bytes',
    )
    expect(await words(expectFile(workspace, '/b.md'))).toMatch(
      /^"\/b\.md" is not there; the files are:\n {4}"\/a\.md"/u,
    )
    expect(await words(expectFile(workspace, '/d'))).toBe('"/d" is a directory, expected a file')
    expect(await words(expect(workspace).not.toHaveFile('/a.md'))).toBe('"/a.md" is there, and should not be')
    expect(await words(expectFile(workspace, '/a.md', 7 as never))).toContain('`content` must be a string')
  })

  test('lets an error through that is not about the file', async ({ workspace }) => {
    const failing = expectFile(workspace, '/secrets/key', 'k')
    await expect(failing).rejects.toMatchObject({ code: 'EACCES', stack: expect.stringContaining('matchers.test.ts') })
  })
})

describe('toHaveTree', () => {
  test('compares all files, those of a directory, and details that are named', async ({ site: { store } }) => {
    const secrets = { key: 'k' }
    const d = { 'b.bin': new Uint8Array([1, 2, 255]), l: link('../a.md') }
    await expect(store).toHaveTree({ 'a.md': file('one\ntwo\n', { mode: 0o644 }), d, secrets })
    await expect(store).toHaveTree(d, { in: '/d' })
    await expectTree(store, secrets, { in: '/secrets' })
    await expect(store).not.toHaveTree({})
  })

  test('names each difference', async ({ site: { store } }) => {
    const tree = { 'a.md': 'one\n', d: { l: link('../b.md'), x: 'x' }, secrets: { key: file('k', { mode: 0o600 }) } }
    const failure = await words(expect(store).toHaveTree(tree))
    expect(failure).toMatch(/^the tree differs:\n {2}~ "\/a\.md" differs from line 2 on:\n/u)
    expect(failure).toContain('  - "/d/x" is missing\n')
    expect(failure).toContain('  + "/d/b.bin" is there, and was not expected\n')
    expect(failure).toContain('  ~ "/d/l" leads elsewhere:\n      expected: "../b.md"\n      received: "../a.md"\n')
    expect(failure).toMatch(
      /differs in its details:\n {6}expected: mode 0o600\n {6}received: mode 0o644, modifiedAt \d+$/u,
    )
    expect(await words(expectTree(store, { key: 'k' }, { in: '/d' }))).toMatch(/^the tree in "\/d" differs:/u)
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, '']))
    expect(await words(expectTree(store, many, { in: '/secrets' }))).toMatch(/\n {2}… and 11 more$/u)
  })

  it('escapes names that act on a terminal', async () => {
    const adapter = createMemoryAdapter({ files: { '/\u001b[31m': 'x' } })
    expect(await words(expectTree(adapter, {}))).not.toContain('\u001b')
  })
})

describe('toBeDenied', () => {
  test('passes for a rule, a mount and the border', async ({ workspace }) => {
    await expect(workspace.readText('/secrets/key')).toBeDenied()
    await expect(() => workspace.write('/d/x', '')).toBeDenied({ rule: 'readOnly(/d)', path: '/d/x' })
    await expect(workspace.readText('/../etc/passwd')).toBeDenied()
    await expect(workspace.readText('/a.md')).not.toBeDenied()
    await expect(workspace.readText('/none')).not.toBeDenied()
  })

  test('says what happened instead', async ({ workspace }) => {
    expect(await words(expectDenied(workspace.readText('/a.md')))).toBe('it was not denied, and gave "one\\ntwo\\n"')
    expect(await words(expectDenied(workspace.readText('/none')))).toMatch(
      /^it failed, and was not denied:\n {4}ENOENT/u,
    )
    const other = await words(expect(workspace.readText('/secrets/key')).toBeDenied({ rule: 'readOnly(/d)' }))
    expect(other).toMatch(/^it was denied by another rule or at another path:\n.*deny\(\/secrets\)/u)
    const onlyRule = expectDenied(workspace.readText('/secrets/key'), { rule: 'readOnly(/d)' })
    await expect(onlyRule).rejects.toMatchObject({
      expected: [{ rule: 'readOnly(/d)' }],
      actual: [{ rule: 'deny(/secrets)' }],
    })
    await expect(onlyRule).rejects.not.toHaveProperty('expected.0.path')
    expect(await words(expect(workspace.readText('/secrets/key')).not.toBeDenied())).toContain('should not be')
    expect(await words(expectDenied(workspace.readText('/a.md'), { rul: 'x' } as never))).toContain('`rul`')
  })

  it('takes a command that failed at a rule, and not one that failed by itself', async () => {
    const result = { exitCode: 1, output: 'denied', hints: [{ rule: 'deny(/x)', path: '/x', access: 'none' }] }
    await expectDenied(Promise.resolve(result), { rule: 'deny(/x)' })
    expect(await words(expectDenied(Promise.resolve({ ...result, hints: [] })))).toBe(
      'it was not denied, and gave exit code 1, output "denied"',
    )
    expect(await words(expectDenied(Promise.resolve({ ...result, exitCode: 0 })))).toContain('exit code 0')
  })
})

describe('workspaceTest', { shuffle: false }, () => {
  const seen = new Set<Workspace>()

  test.for([1, 2])('gives each test a workspace of its own (%i)', async (_, { workspace, site }) => {
    expect(seen).not.toContain(workspace)
    seen.add(workspace)
    expect(site.workspace).toBe(workspace)
    await workspace.write('/left.md', '')
    await expect(workspace).toHaveFile('/left.md')
  })

  it('has closed each of them', async () => {
    expect(seen.size).toBe(2)
    for (const workspace of seen) await expect(workspace.readText('/a.md')).rejects.toMatchObject({ code: 'ECLOSED' })
  })

  it('leaves workspaces of other makers alone: the matchers take each', async () => {
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter: () => createMemoryAdapter() }] })
    await expect(workspace).toHaveTree({})
    await workspace.close()
  })
})
