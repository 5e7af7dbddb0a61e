import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { asOwner, component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { resolveSettings } from '../src/config/settings.ts'
import { worktreeOf } from '../src/config/worktree.ts'
import { ws } from './ws.ts'

/** A repository with a worktree beside it, in the form that git gives them. */
async function layout(place = 'repo/.git') {
  const scratch = await createScratchDirectory()
  const at = (...names: string[]) => join(scratch.path, ...names)
  const git = at(place, 'worktrees/w')
  for (const name of ['objects', 'refs', 'logs', 'hooks', 'worktrees/w'])
    await mkdir(at(place, name), { recursive: true })
  await mkdir(at('w'))
  await writeFile(join(git, 'commondir'), '../..\n')
  await writeFile(join(git, 'gitdir'), `${at('w/.git')}\n`)
  await writeFile(at('w/.git'), `gitdir: ${git}\n`)
  const open = async (place = '/workspace', root = at('w')) => worktreeOf(await resolveSettings({ root, at: place }))
  return { at, git, open, repository: at(place), [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose]() }
}

describe('[HO7] the repository of a worktree', () => {
  it('is mounted where git looks for it, and commands change what a commit changes', async () => {
    await using site = await layout()
    const { mounts, rules } = await site.open()
    expect(mounts).toMatchObject([{ at: site.repository, storage: { kind: 'local', root: site.repository } }])
    const [rule, hooks] = rules
    expect(
      rule?.kind === 'subtree' && Object.fromEntries(rule.entries.map(({ path, access }) => [path, access])),
    ).toEqual({
      [site.repository]: 'read-only',
      [site.git]: 'read-write',
      [join(site.repository, 'objects')]: 'read-write',
      [join(site.repository, 'refs')]: 'read-write',
      [join(site.repository, 'logs')]: 'read-write',
    })
    expect(hooks?.name).toBe('protectHooks')
  })

  it('may be bare, and named by a relative path', async () => {
    await using site = await layout('store')
    await writeFile(site.at('w/.git'), 'gitdir: ../store/worktrees/w\n')
    expect((await site.open()).mounts).toMatchObject([{ at: '/store', storage: { root: site.repository } }])
  })

  type Site = Awaited<ReturnType<typeof layout>>
  const says = (text: string) => (site: Site) => writeFile(site.at('w/.git'), text)
  const other = /names no repository that has this worktree/u
  const none = /is not a worktree of git/u
  it.each<[string, (site: Site) => Promise<unknown>, RegExp]>([
    ['a file that leads to /etc', says('gitdir: /etc\n'), other],
    ['a file that leads to /', says('gitdir: /\n'), other],
    ['a file that leads nowhere', says('gitdir: /nowhere/.git/worktrees/w\n'), other],
    ['a file of another form', says('hello\n'), none],
    ['a file with two lines', says('gitdir: /etc\ngitdir: /etc\n'), none],
    ['a file with a NUL', says('gitdir: /etc\0\n'), other],
    ['a file that is too large', says(`gitdir: /${'a'.repeat(9000)}\n`), none],
    ['no file', (site) => rm(site.at('w/.git')), none],
    [
      'a link in its place',
      async (site) => {
        await rename(site.at('w/.git'), site.at('real'))
        await symlink(site.at('real'), site.at('w/.git'))
      },
      none,
    ],
    [
      'a pipe in its place',
      async (site) => {
        await rm(site.at('w/.git'))
        execFileSync('mkfifo', [site.at('w/.git')])
      },
      none,
    ],
    ['a worktree of somebody else', (site) => writeFile(join(site.git, 'gitdir'), '/home/other/.git\n'), other],
    ['a repository that knows no such worktree', (site) => rm(join(site.git, 'gitdir')), other],
    ['another directory for the common part', (site) => writeFile(join(site.git, 'commondir'), '/etc\n'), other],
    ['no common part', (site) => rm(join(site.git, 'commondir')), other],
    [
      'a submodule',
      async (site) => {
        await mkdir(join(site.repository, 'modules/w'), { recursive: true })
        await writeFile(site.at('w/.git'), 'gitdir: ../repo/.git/modules/w\n')
      },
      /is a submodule/u,
    ],
    [
      'objects that are a link',
      async (site) => {
        await rm(join(site.repository, 'objects'), { recursive: true })
        await symlink('/etc', join(site.repository, 'objects'))
      },
      other,
    ],
    [
      'a repository that lies in the workspace',
      async (site) => {
        await rename(site.at('repo'), site.at('w/repo'))
        await writeFile(site.at('w/.git'), 'gitdir: repo/.git/worktrees/w\n')
      },
      /lies in the workspace/u,
    ],
  ])('is refused in one sentence: %s', async (_, change, message) => {
    await using site = await layout()
    await change(site)
    const refusal = await site.open().then(String, (error: Error) => error.message)
    expect(refusal).toMatch(message)
    expect(refusal).toMatch(/^--with-worktree: [^\n]+; [^\n]+$/u)
    expect(refusal.replace(/`[^`]*\/w`/u, '')).not.toContain(site.at())
  })

  it('has no place below `/`', async () => {
    await using site = await layout()
    await expect(site.open('/')).rejects.toThrow(/--at \/workspace/u)
  })
})

const identity = 'git -c user.name=a -c user.email=a@b.test'

describeWith([component('bubblewrap'), component('git')], 'ws exec in a worktree', { tags: 'all' }, () => {
  async function repository() {
    const scratch = await createScratchDirectory()
    const git = (...words: string[]) => {
      const env = { PATH: '/usr/bin:/bin', HOME: scratch.path }
      return execFileSync('git', ['-C', scratch.path, ...words], { ...asOwner(scratch.owner), env, encoding: 'utf8' })
    }
    const named = ['-c', 'user.name=a', '-c', 'user.email=a@b.test']
    git('init', '-q', 'repo')
    git('-C', 'repo', ...named, 'commit', '-q', '--allow-empty', '-m', 'one')
    for (const name of ['one', 'two']) git('-C', 'repo', 'worktree', 'add', '-q', '-b', name, `../${name}`)
    const run = (line: string, ...options: string[]) =>
      ws(['--root', join(scratch.path, 'one'), '--at', '/workspace', 'exec', ...options, '--', line])
    return { path: scratch.path, git, run, [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose]() }
  }

  it('says which mount is missing, and commits with it', async () => {
    await using site = await repository()
    const without = await site.run('git status')
    expect(without.code).toBe(128)
    expect(without.stderr).toMatch(/^ws: .*\/workspace is or holds a worktree .* \(`ws exec --with-worktree`\)/mu)
    const { code, stdout } = await site.run(
      `echo x > f && git add f && ${identity} commit -qm two && git log --format=%s`,
      '--with-worktree',
    )
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'two\none\n' })
    expect(site.git('-C', 'one', 'log', '--format=%s')).toBe('two\none\n')
    expect(site.git('-C', 'two', 'status', '--porcelain')).toBe('')
  })

  it('[HO7] leaves hooks, configuration, other worktrees and its own links to the repository as they are', async () => {
    await using site = await repository()
    const common = join(site.path, 'repo/.git')
    const before = readFileSync(join(common, 'config'), 'utf8')
    const attacks = [
      'git config core.fsmonitor /workspace/evil',
      'git config --worktree core.fsmonitor /workspace/evil',
      'c=$(git rev-parse --git-common-dir); d=$(git rev-parse --git-dir)',
      'echo evil > $c/hooks/pre-commit; mv $c/hooks $c/h; mv $c/config $c/x; echo > $c/packed-refs; mkdir $c/modules',
      'echo "[core] fsmonitor = /workspace/evil" > $d/config.worktree; echo /workspace/evil > $d/commondir',
      'mv $d $d-x; echo x > $c/worktrees/two/HEAD; rm -rf $c/worktrees/two; echo "gitdir: /workspace/evil" > .git; rm -f .git; mv .git g',
    ]
    const { stdout } = await site.run(`${attacks.join('\n')}\necho done`, '--with-worktree')
    expect(stdout).toMatch(/done\n$/u)
    expect(readFileSync(join(common, 'config'), 'utf8')).toBe(before)
    expect(
      [
        'hooks/pre-commit',
        'h',
        'x',
        'packed-refs',
        'modules',
        'worktrees/one-x',
        'worktrees/one/config.worktree',
      ].filter((name) => existsSync(join(common, name))),
    ).toEqual([])
    expect(readFileSync(join(common, 'worktrees/one/commondir'), 'utf8')).toBe('../..\n')
    expect(readFileSync(join(common, 'worktrees/two/HEAD'), 'utf8')).toBe('ref: refs/heads/two\n')
    expect(readFileSync(join(site.path, 'one/.git'), 'utf8')).toBe(`gitdir: ${common}/worktrees/one\n`)
    for (const name of ['repo', 'one', 'two']) site.git('-C', name, 'status')
    site.git('-C', 'repo', 'fsck')
  })

  it('[HO7] follows no file `.git` by itself', async () => {
    await using site = await repository()
    await rm(join(site.path, 'one/.git'))
    await writeFile(join(site.path, 'one/.git'), 'gitdir: /etc\n')
    const { stdout, stderr } = await site.run('git status; ls /etc/shadow')
    expect(stdout).toBe('')
    expect(stderr).toContain('/etc/shadow')
    const asked = await site.run('true', '--with-worktree')
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringMatching(/^ws: --with-worktree: [^\n]+\n$/u) })
  })
})
