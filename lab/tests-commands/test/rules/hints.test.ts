import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { doors, openSite } from '../doors/site.ts'

/** Each tries to change `a.txt`, or to make it, where only `out` may be written. */
const simple = [
  'echo x > new.txt',
  'echo x >> a.txt',
  'touch new.txt',
  'mkdir made',
  'cp a.txt copy.txt',
  'mv a.txt moved.txt',
  'rm -f a.txt',
  'echo x | tee a.txt',
  'ln -s a.txt link',
] as const
const programs = [
  ...simple,
  'sed -i s/a/b/ a.txt',
  `python3 -c 'open("new.txt", "w")'`,
  `perl -e 'open(my $f, ">", "new.txt") or die "cannot open new.txt: $!\\n"'`,
  `node -e 'require("fs").writeFileSync("new.txt", "x")'`,
  'cd sub && echo x > new.txt',
  'git init -q made',
]
const named = /^(?:.*\/)?(?:a|new|copy|moved)\.txt$|made|link|sub|sed\w+/u

describe('hints of the interpreter', () => {
  const open = (more: object) =>
    createWorkspace({
      mounts: [
        { at: '/workspace', adapter: createMemoryAdapter({ files: { '/a.txt': 'a', '/out/b': '', '/k': 'x' } }) },
      ],
      executors: [createVirtualExecutor()],
      ...more,
    })

  it.each(simple)('name the rule of an area: %s', async (line) => {
    await using workspace = await open({ rules: [rules.withinOutput('/workspace/out')] })
    const { exitCode, hints } = await workspace.exec(line)
    expect(exitCode).not.toBe(0)
    expect(hints?.[0]).toMatchObject({
      rule: 'withinOutput(/workspace/out)',
      path: expect.stringMatching(named),
      access: 'read-only',
      reason: 'is outside the output root `/workspace/out`',
      remedy: 'write below `/workspace/out`',
    })
  })

  it('name a read-only mount, and the rule of a command that succeeds', async () => {
    const skills = { at: '/skills', adapter: createMemoryAdapter({ files: { '/s': '' } }), access: 'read-only' }
    const mounts = [{ at: '/workspace', adapter: createMemoryAdapter({ files: { '/k': 'x' } }) }, skills]
    await using workspace = await open({ mounts, rules: [rules.deny('/workspace/k')] })
    expect((await workspace.exec('echo x > /skills/s')).hints).toMatchObject([
      { rule: 'mount:/skills', path: '/skills/s' },
    ])
    const denied = await workspace.exec('cat k; true')
    expect(denied).toMatchObject({
      exitCode: 0,
      hints: [{ rule: 'deny(/workspace/k)', path: '/workspace/k', access: 'none' }],
    })
  })

  it.each([
    'echo k is here >&2',
    'cat out/none; cat none: Permission',
    'echo "cannot open q.txt: Permission denied" >&2',
    'echo "Read-only file system" >&2; false',
    `echo "''''''''': Permission denied: ''" >&2; false`,
    'echo "/usr/x: Permission denied /etc/shadow: Permission denied" >&2; false',
  ])('are none where no rule is why: %s', async (line) => {
    await using workspace = await open({ rules: [rules.deny('/workspace/k')] })
    expect((await workspace.exec(line)).hints ?? []).toEqual([])
  })

  it('say which mount git misses', async () => {
    await using workspace = await open({})
    const line = 'echo "fatal: not a git repository: /home/me/.git/worktrees/w" >&2; exit 128'
    const { hints = [] } = await workspace.exec(line)
    expect(hints).toMatchObject([
      { rule: 'mounts', path: '/workspace', remedy: expect.stringMatching(/--with-worktree/u) },
    ])
    expect(JSON.stringify(hints)).not.toContain('/home/me')
    const plain = 'echo "fatal: not a git repository (or any of the parent directories): .git" >&2; exit 128'
    expect((await workspace.exec(plain)).hints).toBe(undefined)
  })

  it('take little time for long errors', async () => {
    await using workspace = await open({ rules: [rules.withinOutput('/workspace/out')] })
    const started = process.cpuUsage()
    const { hints = [] } = await workspace.exec(`yes "a 'b: c'd: Permission denied" | head -c 900000 >&2; false`)
    expect(hints.length).toBeLessThanOrEqual(100)
    expect(process.cpuUsage(started).user).toBeLessThan(10_000_000)
  })
})

for (const door of doors.filter(({ kernel }) => kernel)) {
  const tools = [...door.components, 'python3', 'node', 'git', 'perl'] as const
  describeWith([...new Set(tools)].map(component), `hints in ${door.name}`, { tags: 'all' }, () => {
    it.each(programs)('name the rule of an area: %s', async (line) => {
      await using site = await openSite({
        root: door.root,
        executor: door.create(),
        files: { 'a.txt': 'a\n', 'out/b': '', 'sub/c': '' },
        rules: (at) => [rules.withinOutput(at('out'))],
      })
      const { exitCode, stderr, hints } = await site.attempt(line)
      expect({ exitCode: exitCode === 0, stderr, hints: hints?.map(({ rule }) => rule) }).toMatchObject({
        exitCode: false,
        hints: expect.arrayContaining([`withinOutput(${site.at('out')})`]),
      })
      expect(hints?.some(({ path }) => named.test(path))).toBe(true)
    })
  })
}
