import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { type AccessEvent, type Rule, rules } from '@ws/core'
import type { Executor } from '@ws/core/executor'
import { component, describeWith, itWith, deep } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { createBubblewrapExecutor } from '../src/index.ts'
import { useRuleSite } from './support/rule-site.ts'
import { formOf, type Mode, modes, namesBelow, needed, tagsIn } from './support/workbench.ts'

const hooks: Rule = {
  kind: 'pattern',
  name: 'hooks',
  access: 'read-only',
  patterns: ['.git/{hooks,config}', '.vscode'],
  skip: ['node_modules'],
  reason: 'decides what other programs run later, and is read-only',
  remedy: 'ask the user to change it',
}

/** Makes a package for pip, which needs neither a network nor setuptools for it. */
const wheel = `
import zipfile
info = 'greet-1.0.dist-info'
with zipfile.ZipFile('greet-1.0-py3-none-any.whl', 'w') as z:
    z.writestr('greet.py', 'def hello(): print("hello")\\n')
    z.writestr(f'{info}/METADATA', 'Metadata-Version: 2.1\\nName: greet\\nVersion: 1.0\\n')
    z.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    z.writestr(f'{info}/RECORD', f'greet.py,,\\n{info}/METADATA,,\\n{info}/WHEEL,,\\n{info}/RECORD,,\\n')
`

for (const mode of modes) {
  describeWith(needed[mode], `rules by pattern in commands (${mode})`, { tags: tagsIn(mode) }, () => {
    const site = useRuleSite(mode)
    const { at, put, open, openWith } = site

    it('[RU4] mask every match that is there, at any depth and in any case, and leave the rest', async () => {
      for (const path of ['a.pem', 'x/B.PEM', 'x/y/.pem', 'x/keys.pem/inner/file']) await put(path)
      await put('x/y/other', 'fine\n')
      const workspace = await open(rules.denyGlob('*.pem'))
      const { stdout } = await workspace.exec('find . -type f -exec cat {} + ; mv x z; cat z/B.PEM; cat x/y/other')
      expect(stdout).toBe('fine\nfine\n')
      expect((await workspace.exec('echo x > a.pem')).exitCode).not.toBe(0)
      expect(await workspace.explain({ operation: 'exec', path: '.' })).toMatchObject({ effect: 'allow' })
    })

    it('[RU4] look below no directory that the rule skips, and leave alone what it excepts', async () => {
      for (const path of ['node_modules/a/.env', '.env.example', '.env', 'sub/.env.local']) await put(path)
      const secrets = { ...hooks, name: 'env', access: 'none', patterns: ['.env*'], except: ['.env.example'] } as const
      const workspace = await open(secrets)
      const { stdout } = await workspace.exec('cat .env.example node_modules/a/.env; cat .env sub/.env.local')
      expect(stdout).toBe('hush\nhush\n')
    })

    it('[RU4] hold inside what other rules allow, and are held by those inside what they protect', async () => {
      await put('out/.vscode/tasks.json')
      await put('out/.vscode/.env')
      await put('in/.env')
      await put('.vscode/x')
      const workspace = await open(rules.withinOutput(at('/out')), hooks, rules.denyGlob('.env'))
      const { stdout, exitCode } = await workspace.exec(
        'cat out/.vscode/tasks.json .vscode/x; cat in/.env out/.vscode/.env; echo x > out/.vscode/tasks.json; echo x > out/.vscode/new',
      )
      expect({ stdout, exitCode }).toEqual({ stdout: 'hush\nhush\n', exitCode: 1 })
      expect((await workspace.exec('echo x > out/y && mv out/y out/z')).exitCode).toBe(0)
    })

    it('[RU4] leave links and other special entries of such names alone: no command can keep the next from running', async () => {
      const workspace = await open(rules.denyGlob('*.pem'))
      await symlink('/tmp', join(site.root, 'l.pem'))
      expect((await workspace.exec('mkfifo f.pem; ln -s x g.pem')).exitCode).toBe(0)
      expect((await workspace.exec('true')).exitCode).toBe(0)
    })

    it('[RU10] report in result and audit what a command made of such names', async () => {
      await put('.env')
      const workspace = await open(rules.denyGlob('.env'), hooks)
      const events: AccessEvent[] = []
      workspace.on('access', (event) => events.push(event))
      const { violations } = await workspace.exec('mkdir -p sub/.vscode && echo x > sub/.env; echo y > fine')
      const made = [
        { rule: 'denyGlob(.env)', path: at('/sub/.env'), kind: 'created' },
        { rule: 'hooks', path: at('/sub/.vscode'), kind: 'created' },
      ]
      expect(violations?.toSorted((one, other) => (String(one.path) < String(other.path) ? -1 : 1))).toEqual(made)
      expect(events.find(({ door }) => door === 'exec')?.violations).toHaveLength(2)
      const next = await workspace.exec('cat sub/.env')
      expect({ stdout: next.stdout, violations: next.violations }).toEqual({ stdout: '', violations: undefined })
    })

    it('[RU9, RU10] report what a session made, in its end and in the audit', async () => {
      await put('.env')
      const workspace = await open(rules.denyGlob('.env'))
      const events: AccessEvent[] = []
      workspace.on('access', (event) => events.push(event))
      const session = await workspace.openSession({ command: 'mkdir sub; echo x > sub/.env', login: false })
      const violations = [{ rule: 'denyGlob(.env)', path: at('/sub/.env'), kind: 'created' }]
      expect(await session.wait()).toMatchObject({ exitCode: 0, violations })
      expect(events.at(-1)).toMatchObject({ operation: 'closeSession', outcome: 'allowed', violations })
    })

    it('[RU10] reserve the hooks of a repository that has none, and of none that a command makes', async () => {
      await put('.git/HEAD', 'ref: refs/heads/main\n')
      await put('.git/config', '[core]\n')
      const workspace = await open(hooks)
      const attack = await workspace.exec('mkdir -p .git/hooks && echo x > .git/hooks/pre-commit')
      expect(attack.exitCode).not.toBe(0)
      expect(await namesBelow(site.root)).toEqual(['.git', '.git/HEAD', '.git/config'])
    })

    it('[RU10] say which rule a failed command ran into', { timeout: 20_000 }, async () => {
      const workspace = await open(hooks)
      const git = 'git -c user.name=n -c user.email=e'
      expect((await workspace.exec(`git init -q && echo x > f && git add -A && ${git} commit -qm m`)).exitCode).toBe(0)
      const remote = await workspace.exec('git remote add origin https://example.org/x.git')
      expect(remote.exitCode).not.toBe(0)
      expect(remote.hints).toEqual([
        {
          rule: 'hooks',
          path: at('/.git/config'),
          access: 'read-only',
          reason: 'decides what other programs run later, and is read-only',
          remedy: 'ask the user to change it',
        },
      ])
      expect((await workspace.exec(`echo y > f && git add -A && ${git} commit -qm n`)).exitCode).toBe(0)
      expect((await workspace.exec('git clone -q . copy && git -C copy log --oneline | wc -l')).stdout).toBe('2\n')
      expect((await workspace.exec('git init -q new && cd copy && git status --porcelain')).exitCode).toBe(0)
      expect((await workspace.exec('false')).hints).toBeUndefined()
    })

    itWith(
      [component('git'), component('npm'), component('python3'), component('python3-venv')],
      '[RU10] let ordinary work go on under both rule sets',
      async () => {
        await put('.env', 'TOKEN=hush\n')
        await put('local/package.json', '{"name":"local","version":"1.0.0","bin":{"local-tool":"tool.js"}}')
        await put('local/tool.js', '#!/usr/bin/env node\nconsole.log("tool ran")\n')
        const workspace = await open(rules.protectHooks(), rules.protectSecrets())
        const works = async (command: string) => {
          const { exitCode, stdout, stderr } = await workspace.exec(command)
          expect({ command, exitCode, stderr: exitCode === 0 ? '' : stderr }).toEqual({
            command,
            exitCode: 0,
            stderr: '',
          })
          return stdout
        }
        const git = 'git -c user.name=n -c user.email=e'
        await works('git init -q . && echo .env > .gitignore')
        await works(`git add -A && ${git} commit -qm first`)
        await works('git clone -q . copy && git -C copy log')
        await works(`cd copy && echo x > new && git add -A && ${git} commit -qm second && git switch -qc branch`)
        await works('mkdir project && cd project && npm init -y && npm install --offline --no-audit ../local')
        expect(await works('cd project && node node_modules/.bin/local-tool')).toBe('tool ran\n')
        await works('python3 -m venv --without-pip .venv && .venv/bin/python -c "print(1)"')
        // pip takes many seconds
        if (deep) {
          await put('wheel.py', wheel)
          await works('python3 wheel.py && python3 -m venv .pip')
          const pip = '.pip/bin/pip install -q --no-index --no-deps --disable-pip-version-check'
          await works(`${pip} greet-1.0-py3-none-any.whl && ${pip} --target vendor greet-1.0-py3-none-any.whl`)
          expect(await works('.pip/bin/python -c "import greet; greet.hello()"')).toBe('hello\n')
          expect(await works('PYTHONPATH=vendor python3 -c "import greet; greet.hello()"')).toBe('hello\n')
        }
        for (const refused of [
          'cat .env',
          'git remote add o x',
          'git config core.hooksPath x',
          'echo x > .git/hooks/pre-commit',
        ])
          expect({ refused, exitCode: (await workspace.exec(refused)).exitCode }).not.toEqual({ refused, exitCode: 0 })
        const remote = await workspace.exec('git -C copy remote add o x')
        expect(remote.hints).toMatchObject([{ rule: 'protectHooks', path: at('/copy/.git/config') }])
      },
      { tags: 'all', timeout: 120_000 },
    )

    it('[RU4] hold for what was changed since the last command', { timeout: 60_000 }, async () => {
      for (const path of ['d/plain', 'd/sub/plain', 'e/plain']) await put(path)
      const workspace = await open(rules.denyGlob('.env*'), hooks)
      const host = (path: string) => join(site.root, path)
      const changes: Record<string, () => void> = {
        create: () => writeFileSync(host('d/.env'), 'hush\n'),
        'create in a new directory': () => {
          mkdirSync(host('d/new'))
          writeFileSync(host('d/new/.env'), 'hush\n')
        },
        rename: () => renameSync(host('d/plain'), host('d/sub/.env.local')),
        'hard link': () => linkSync(host('e/plain'), host('e/.env')),
        'replace a file by a directory': () => {
          rmSync(host('e/.env'))
          mkdirSync(host('e/.env'))
          writeFileSync(host('e/.env/x'), 'hush\n')
        },
        'replace a directory': () => {
          renameSync(host('d'), host('f'))
          renameSync(host('e'), host('d'))
        },
        'delete and make again': () => {
          rmSync(host('d'), { recursive: true })
          mkdirSync(host('d'))
          writeFileSync(host('d/.env'), 'hush\n')
        },
      }
      const read = "find . -path '*/.env*' -type f -exec cat {} +"
      for (const [kind, change] of Object.entries(changes)) {
        // Names in directories are remembered once their last change is a while ago.
        await delay(30)
        expect({ kind, stdout: (await workspace.exec(`${read}; echo`)).stdout }).toEqual({ kind, stdout: '\n' })
        change()
        expect({ kind, stdout: (await workspace.exec(`${read}; echo`)).stdout }).toEqual({ kind, stdout: '\n' })
      }
    })

    it('[RU4] cover what is at its path or refuse, where others change it before it is covered', {
      timeout: 60_000,
    }, async () => {
      const host = (path: string) => join(site.root, path)
      const changes: Record<string, () => void> = {
        'replace the file': () => {
          writeFileSync(host('d/new'), 'hush\n')
          renameSync(host('d/new'), host('d/.env'))
        },
        'replace the file by a directory': () => {
          rmSync(host('d/.env'))
          mkdirSync(host('d/.env'))
          writeFileSync(host('d/.env/x'), 'hush\n')
        },
        'replace the file by a link': () => {
          renameSync(host('d/.env'), host('d/plain'))
          symlinkSync('plain', host('d/.env'))
        },
        'rename its directory': () => renameSync(host('d'), host('other')),
        'replace its directory': () => {
          renameSync(host('d'), host('other'))
          mkdirSync(host('d'))
          writeFileSync(host('d/.env'), 'hush\n')
        },
        'replace its directory by a link': () => {
          renameSync(host('d'), host('other'))
          symlinkSync('other', host('d'))
        },
      }
      for (const [kind, change] of Object.entries(changes)) {
        rmSync(host('other'), { recursive: true, force: true })
        rmSync(host('d'), { recursive: true, force: true })
        await put('d/.env')
        const workspace = await openWith(changingBefore(mode, change), rules.denyGlob('.env'))
        const outcome = await workspace.exec('cat d/.env d/.env/*; true').then(
          ({ stdout }) => stdout,
          (error: unknown) => (error as { code?: string }).code,
        )
        expect({ kind, outcome }).toEqual({ kind, outcome: expect.stringMatching(/^(?:|EBUSY)$/) })
      }
    })

    it('[RU4] cover more than bubblewrap could mount, and refuse what is too much', { timeout: 60_000 }, async () => {
      const workspace = await openWith(createBubblewrapExecutor(formOf(mode)), rules.denyGlob('*.pem'))
      for (let i = 0; i < 260; i++) await put(`many/${i % 10}/${i}.pem`)
      // A cold start that fails is tried again, warm where that is: so there is one that can only be cold.
      const cold = await openWith(createBubblewrapExecutor({ ...formOf(mode), warm: false }), rules.denyGlob('*.pem'))
      for (const one of [cold, workspace, workspace]) {
        const command =
          'cat many/*/*; echo x > many/3/3.pem; mv many/4 many/x; rm -f many/5/5.pem; ls many/*/*.pem | wc -l'
        expect((await one.exec(command)).stdout).toBe('260\n')
      }
      expect(readFileSync(join(site.root, 'many/3/3.pem'), 'utf8')).toBe('hush\n')
      await put('many/0/plain')
      for (let i = 0; i < 1001; i++) writeFileSync(join(site.root, `many/0/${i}.pem`), '')
      await expect(workspace.exec('true')).rejects.toMatchObject({
        code: 'EUNENFORCEABLE',
        rule: 'denyGlob(*.pem)',
        remedy: expect.stringContaining(`rules.deny('${at('/many')}')`),
      })
    })
  })
}

/** Changes something when it has been found out what is to be covered, and before it is. */
function changingBefore(mode: Mode, change: () => void): Executor {
  const inner = createBubblewrapExecutor(formOf(mode))
  return {
    ...inner,
    async attach(target) {
      const attached = await inner.attach(target)
      return {
        ...attached,
        spawn(request, plan) {
          change()
          return attached.spawn(request, plan)
        },
      }
    },
  }
}
