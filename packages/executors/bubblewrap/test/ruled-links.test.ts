import { chmodSync, lchownSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { rules } from '@ws/core'
import { describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { useRuleSite } from './support/rule-site.ts'
import { modes, needed, tagsIn } from './support/workbench.ts'

for (const mode of modes) {
  describeWith(
    needed[mode],
    `rules on names that are links, in commands (${mode})`,
    { tags: mode === 'warm-direct' ? ['all'] : tagsIn(mode) },
    () => {
      const site = useRuleSite(mode)
      const { at, put, directory, open } = site
      const host = (path: string): string => join(site.root, path)
      async function link(path: string, target: string): Promise<void> {
        if (dirname(path) !== '.') await directory(dirname(path))
        symlinkSync(target, host(path))
        if (process.getuid?.() === 0) lchownSync(host(path), site.owner.uid, site.owner.gid)
      }

      it('[RU10] hold for the target by each of its names, and leave the rest', async () => {
        await put('data/vs/tasks.json')
        await put('githooks/pre-commit')
        await put('real.env', 'secret\n')
        await put('key', 'k\n')
        await put('shared/settings.json', '{}\n')
        await put('data/free')
        await link('.vscode', 'data/vs')
        await link('.git/hooks', '../githooks')
        await link('.env', 'sub/chain')
        await link('sub/chain', at('/real.env'))
        await link('fixed', 'key')
        await link('.claude', 'shared')
        await link('new.env.d/.env', '../made')
        const workspace = await open(rules.protectHooks(), rules.protectSecrets(), rules.readOnly(at('/fixed')))
        const attempts = [
          'echo x > .vscode/tasks.json',
          'echo x > .vscode/new',
          'rm .vscode/tasks.json',
          'mv data/vs data/away',
          'echo x > data/vs/tasks.json',
          'echo x > .git/hooks/pre-commit',
          'echo x > githooks/post-merge',
          'cat .env',
          'cat real.env',
          'echo x > fixed',
          'echo x > key',
          'echo x > .claude/settings.json',
          'echo x > new.env.d/.env',
          'mkdir made',
        ]
        const result = await workspace.exec(
          attempts.map((one) => `{ ${one}; } 2>/dev/null && echo '${one}'`).join('\n'),
        )
        expect(result.stdout).toBe('')
        expect(result.violations).toBeUndefined()
        const free = await workspace.exec('cat key .vscode/tasks.json && echo x > data/free && echo y > shared/other')
        expect(free.exitCode).toBe(0)
        expect(await workspace.exists('made')).toBe(false)
        const { hints } = await workspace.exec('echo x > .vscode/tasks.json')
        expect(hints?.map(({ path }) => path)).toContain(at('/.vscode'))
      })

      it('[RU10] compare the link with what it was, and report it', async () => {
        await put('a', 'a\n')
        await put('b', 'b\n')
        await link('.env', 'mid')
        await link('mid', 'a')
        await link('key', 'a')
        const workspace = await open(rules.protectSecrets(), rules.readOnly(at('/key')))
        expect((await workspace.exec('true')).violations).toBeUndefined()
        const turned = await workspace.exec('ln -sfn b mid; rm key')
        expect(turned.violations?.map(({ kind, path, rule }) => ({ kind, path, rule }))).toEqual([
          { kind: 'link', path: at('/key'), rule: `readOnly(${at('/key')})` },
          { kind: 'link', path: at('/.env'), rule: 'protectSecrets' },
        ])
        expect((await workspace.exec('cat b')).stdout).toBe('')
        expect(readlinkSync(host('mid'))).toBe('b')
      })

      it('[RU10] keep no command from running, whatever a command links to', async () => {
        await put('d/x')
        await link('d/link', 'x')
        const workspace = await open(rules.protectSecrets(), rules.protectHooks(), rules.readOnly(at('/d/link')))
        const root = at('/')
        const targets = [
          '.',
          '..',
          root,
          '/tmp',
          '/',
          '/proc/self',
          '/dev/null',
          '/etc/passwd',
          '.env',
          'no/way',
          'd/x/y',
        ]
        for (const target of targets) {
          const made = await workspace.exec(
            `for name in .env .vscode .git d/.env d/link; do ln -sfn ${target} $name; done`,
          )
          expect({ target, exitCode: made.exitCode, stderr: made.stderr }).toEqual({ target, exitCode: 0, stderr: '' })
          const next = await workspace.exec('echo y > /tmp/y && echo x > d/x && cat d/x')
          expect({ target, stdout: next.stdout, stderr: next.stderr }).toEqual({ target, stdout: 'x\n', stderr: '' })
          const isHeld = ['.', '..', root, '/tmp'].includes(target)
          const kinds = new Set(next.violations?.map(({ kind }) => kind))
          if (isHeld) expect(kinds, target).toEqual(new Set(['link']))
          await workspace.exec('rm -rf .env .vscode .git d/.env; ln -sfn x d/link')
        }
        await workspace.exec('mkfifo f; ln -s f .env; mkdir shut; ln -s ../shut/x d/.env; chmod 555 shut')
        expect(await workspace.exec('rm .env f')).toMatchObject({
          exitCode: 0,
          violations: [{ kind: 'link', path: at('/.env') }],
        })
        chmodSync(host('shut'), 0o755)
        expect(readFileSync(host('d/x'), 'utf8')).toBe('x\n')
      })
    },
  )
}
