import { execFileSync } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { type CommandResult, rules, type Workspace } from '@ws/core'
import { asOwner, component, describeWith } from '@ws/test-fixtures'
import { beforeEach, expect, it } from 'vitest'

import { useRuleSite } from './support/rule-site.ts'
import { needed, places, tagsIn } from './support/workbench.ts'

const identity = '-c user.name=n -c user.email=e -c protocol.file.allow=always'

const runs = 'touch $top/ran/$way #'
/** Ways to make the git of the user, outside, run a program. Each begins in a directory `repo` with a repository. */
const attacks: Readonly<Record<string, string>> = {
  'a configuration': `git config core.fsmonitor "${runs}"`,
  'a hook': 'rm -f .git/hooks/post-commit; script > .git/hooks/post-commit; chmod 755 .git/hooks/post-commit',
  'another common directory': 'evil .git; echo ../../$way > .git/commondir',
  'a common directory by rename': 'evil .git; echo ../../$way > x; mv -fT x .git/commondir',
  'a common directory in the place of a removed one':
    'evil .git; rm -rf .git/commondir; echo ../../$way > .git/commondir',
  'a configuration of the worktree': `git config -f .git/config.worktree core.fsmonitor "${runs}"`,
  'a file of a worktree': 'evil .git; cd ../tree; echo gitdir: ../$way > .git',
  'a file of a worktree by rename': 'evil .git; cd ../tree; mv -T .git x; echo gitdir: ../$way > .git',
  'a directory for a file of a worktree': 'evil .git; cd ../tree; rm -f .git; mv -T ../$way .git',
  'the common directory of a worktree': 'evil .git; echo ../../../../$way > .git/worktrees/tree/commondir',
  'a configuration of a worktree': `git config -f .git/worktrees/tree/config.worktree core.fsmonitor "${runs}"`,
  'a remote': 'push; mkdir -p .git/remotes; echo "URL: ../$way" > .git/remotes/origin',
  'a branch': 'push; mkdir -p .git/branches; echo "../$way" > .git/branches/origin',
  'a submodule': 'evil .git/modules/sub; echo ../../../../$way > .git/modules/sub/commondir',
  'a file of a submodule': 'evil .git/modules/sub; cd sub; echo gitdir: ../../$way > .git',
  'a repository of another name': `cd ../look; git config -f config core.fsmonitor "${runs}"`,
  'the common directory of one of another name': `evil ../look; git config -f ../$way/config remote.origin.uploadpack "${runs}"; echo ../$way > ../look/commondir`,
  'another repository': 'evil .git; mv -T .git x; mv -T ../$way .git',
  'a repository beside the moved one': 'evil .git; mv ../repo ../away; mkdir ../repo; mv -T ../$way ../repo/.git',
}
const means = `
evil() { cp -r $1 $here/$way; git config -f $here/$way/config --unset core.worktree; git config -f $here/$way/config core.fsmonitor "${runs}"; }
script() { printf '#!/bin/sh\ntouch %s/ran/%s\n' $top $way; }
push() { git init -q --bare $here/$way; mkdir -p $here/$way/hooks; script > $here/$way/hooks/pre-receive; chmod 755 $here/$way/hooks/pre-receive; }
`

/** A directory, and the git command that its user runs there. */
const usersWork = [
  ...['repo', 'tree', 'repo/sub', 'look'].map((place) => [place, 'status', '--short']),
  ['look', 'fetch', '-q', 'origin'],
  ['repo', 'commit', '-q', '--allow-empty', '-m', 'user'],
  ['repo', 'push', '-q', 'origin', 'HEAD:refs/heads/pushed'],
]

for (const mode of places) {
  describeWith(
    [...needed[mode], component('git')],
    `repositories under protectHooks (${mode})`,
    { tags: tagsIn(mode), timeout: 120_000 },
    () => {
      const site = useRuleSite(mode)
      const git = (directory: string, ...args: readonly string[]) =>
        outside('git', ['-C', join(site.root, directory), ...identity.split(' '), ...args])
      /** Runs as the user of the workspace, whose git takes the repository for its own. */
      const outside = (program: string, args: readonly string[]) => {
        const env = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }
        return execFileSync(program, args, {
          ...asOwner(site.owner),
          env,
          cwd: site.root,
          stdio: 'pipe',
          encoding: 'utf8',
        })
      }

      beforeEach(() => {
        outside('sh', [
          '-c',
          `set -e; alias git="git ${identity}"
           git init -q -b main repo; git init -q -b main other; git init -q -b main plain
           for one in other plain; do (cd $one; echo x > f; git add f; git commit -qm first); done
           cd repo; echo one > f; git add f; git commit -qm one; git submodule --quiet add ../other sub
           git commit -qm sub; git branch topic; git worktree add -q ../tree topic
           git clone -q --bare . ../look; git -C ../look config core.bare false; git -C ../look config core.worktree ../look-tree; mkdir ../look-tree`,
        ])
      })

      // Alone, each shows what it would do, which is the same in each form; all at once are quick.
      for (const alone of mode === 'warm-direct' ? [false, true] : [false])
        it(
          `[RU10] keep every way to run a program closed to commands, ${alone ? 'each alone' : 'all at once'}, and leave nothing behind`,
          {
            tags: alone || mode !== 'warm-direct' ? ['deep'] : [],
          },
          async () => await attack(alone),
        )

      async function attack(alone: boolean): Promise<void> {
        const before = await readdir(join(site.root, 'repo/.git'))
        const workspace = await site.open(rules.protectHooks())
        if (alone) outside('sh', ['-c', 'mkdir .kept; cp -a [a-z]* .kept'])
        const opened: string[] = []
        const ways = Object.entries(attacks).map(([name, line], way) => ({
          name,
          line: `(way=way-${way}; cd repo; ${line})`,
        }))
        for (const group of alone ? ways.map((one) => [one]) : [ways]) {
          outside('mkdir', ['ran'])
          const lines = group.map(({ line }) => line).join('\n')
          await workspace.exec(`{ top=${site.root} here=${site.at('')}\n${means}\n${lines}\n} 2>/dev/null; true`)
          for (const [place = '', ...args] of usersWork) {
            try {
              git(place, ...args)
            } catch {
              // no remote is there, or git refuses what the command left
            }
          }
          for (const mark of await readdir(join(site.root, 'ran')))
            opened.push(ways[Number(mark.slice(4))]?.name ?? mark)
          if (alone) outside('sh', ['-c', 'rm -rf [a-z]*; cp -a .kept/. .'])
        }
        expect(opened).toEqual([])
        expect((await readdir(join(site.root, 'repo/.git'))).filter((name) => !before.includes(name))).toEqual([])
        expect(git('repo', 'fsck')).toBe('')
      }

      it('[RU10] report a repository that a command makes, under any name', {
        tags: mode === 'warm-direct' ? [] : ['deep'],
      }, async () => {
        const workspace = await site.open(rules.protectHooks())
        const made = await workspace.exec(
          `cp -r plain/.git copy; mkdir -p link/.git-dir; cp plain/.git/HEAD link/.git-dir; echo ../../plain/.git > link/.git-dir/commondir
           mkdir file; echo gitdir: ../copy > file/.git; ln -s ../copy file2; mkdir file3; ln -s ../copy file3/.git`,
        )
        const paths = made.violations?.map(({ path }) => path)
        for (const path of ['/copy/config', '/copy/hooks', '/link/.git-dir/commondir', '/file/.git', '/file3/.git'])
          expect(paths).toContain(site.at(path))
      })

      it('[RU10] work with git as people use it, under both sets of names', { tags: ['deep'] }, async () => {
        const workspace = await site.open(rules.protectHooks(), rules.protectSecrets())
        const works = async (command: string) =>
          expectDone(workspace, `git() { command git ${identity} "$@"; }\n${command}`)
        await works(
          'cd repo && git status --short && git branch more && git switch -q more && echo two > f && git commit -qam two',
        )
        await works('cd repo && git worktree list && git worktree add -q ../second && git -C ../second status --short')
        await works('git -C second commit -q --allow-empty -m second && git -C second log --oneline')
        await works(
          'cd repo && git submodule status && git -C sub status --short && git -C sub commit -q --allow-empty -m sub && git -C sub log --oneline',
        )
        await works(
          'cd repo && echo three > f && git stash -q && git stash pop -q && git checkout -q f && git switch -q main',
        )
        await works('cd repo && echo g > g && git add g && git commit -qm g && git rebase -q more && git log --oneline')
        await works('git clone -q plain fresh && git -C fresh log --oneline && git -C fresh status --short')
        await works(
          'cd repo && git gc -q && git fsck && git tag t && git merge -q more && git cherry-pick --allow-empty HEAD~1 >&2; true',
        )
        for (const refused of ['cd repo && git remote add o x', 'cd repo && git submodule update']) {
          const { exitCode, hints } = await workspace.exec(`git() { command git ${identity} "$@"; }\n${refused}`)
          expect({ refused, failed: exitCode !== 0, rule: hints?.[0]?.rule }).toEqual({
            refused,
            failed: true,
            rule: 'protectHooks',
          })
        }
        git('repo', 'fsck')
      })
    },
  )
}

async function expectDone(workspace: Workspace, command: string): Promise<CommandResult> {
  const result = await workspace.exec(command)
  const { exitCode, stderr } = result
  expect({ command, exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({ command, exitCode: 0, stderr: '' })
  return result
}
