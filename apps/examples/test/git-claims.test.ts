/** @module-tag all */
import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, rules, type CommandResult } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

/** Runs git lines under `protectHooks`, in a repository with one commit by the author that the workspace names. */
async function inRepository(...lines: readonly string[]): Promise<CommandResult[]> {
  await using scratch = await createScratchDirectory()
  await using workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createLocalAdapter({ root: scratch.path, owner: scratch.owner }) }],
    executors: [createBubblewrapExecutor()],
    rules: [rules.protectHooks()],
    commands: { gitIdentity: { name: 'Agent', email: 'agent@example.org' } },
  })
  const results: CommandResult[] = []
  const first =
    'git init -q -b main repo && git init -q --bare far.git && cd repo && git commit -q --allow-empty -m one'
  for (const line of [first, ...lines.map((one) => `cd repo && ${one}`)]) results.push(await workspace.exec(line))
  return results
}

describeWith([component('bubblewrap'), component('git')], 'what the pages say of git', { timeout: 60_000 }, () => {
  it('`gitIdentity` names author and committer of a real commit', async () => {
    const [made, shown] = await inRepository('git log --format="%an <%ae>, %cn <%ce>"')
    expect(made).toMatchObject({ exitCode: 0, stderr: '' })
    expect(shown?.stdout).toBe('Agent <agent@example.org>, Agent <agent@example.org>\n')
  })

  it('`git worktree remove` removes the files, fails as busy, and leaves `.git` and its git directory', async () => {
    const [, , removed, left] = await inRepository(
      'git worktree add -q ../tree',
      'git worktree remove ../tree',
      'ls -A ../tree .git/worktrees',
    )
    expect(removed).toMatchObject({ exitCode: 255, stderr: expect.stringContaining('Device or resource busy') })
    expect(left?.stdout).toBe('../tree:\n.git\n\n.git/worktrees:\ntree\n')
  })

  it('`git push -u` pushes, and says busy where it would enter the upstream', async () => {
    const [, pushed, far] = await inRepository(
      'git push -u ../far.git main',
      'git -C ../far.git branch; cat .git/config',
    )
    expect(pushed).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Device or resource busy') })
    expect(far?.stdout).toMatch(/^ {2}main\n/)
    expect(far?.stdout).not.toContain('[branch')
  })

  it('a setting of git is refused as busy, and a tracking branch is made without its upstream', async () => {
    const [, set, tracked] = await inRepository('git config a.b c', 'git branch -t topic main')
    expect(set).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('Device or resource busy') })
    expect(tracked).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Device or resource busy') })
  })
})
