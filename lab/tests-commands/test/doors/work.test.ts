import { rules } from '@ws/core'
import { codeOf, component, describeWith, itWith } from '@ws/test-fixtures'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { doors, openSite } from './site.ts'

/** A pure Python package, small enough to be built by hand: pip needs neither a network nor setuptools for a wheel. */
const wheel = `
import zipfile
with zipfile.ZipFile('greet-1.0-py3-none-any.whl', 'w') as z:
    z.writestr('greet.py', 'def hello(): return "hello from pip"\\n')
    z.writestr('greet-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: greet\\nVersion: 1.0\\n')
    z.writestr('greet-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    z.writestr('greet-1.0.dist-info/RECORD', 'greet.py,,\\ngreet-1.0.dist-info/METADATA,,\\ngreet-1.0.dist-info/WHEEL,,\\ngreet-1.0.dist-info/RECORD,,\\n')
`

for (const door of doors) {
  const tools = [...door.components, 'git', 'node', 'python3', 'python3-venv'] as const
  describeWith(
    tools.map(component),
    `legitimate work beside a protected part: ${door.name}`,
    { tags: [...door.tags] },
    () => {
      const open = (files: Readonly<Record<string, string>>) =>
        openSite({
          root: door.root,
          executor: door.create(),
          files: { 'private/key': 'KEY', ...files },
          rules: (at) => [rules.deny(at('private'))],
        })

      it('git init, commit, branch and mv', async () => {
        await using site = await open({ 'src/a.txt': 'a' })
        await site.run(
          [
            `cd ${site.at('')}`,
            'git init -q .',
            'git config user.email a@b.c && git config user.name n',
            'printf "private\\n" > .gitignore',
            'git add -A && git commit -qm first',
            'git checkout -qb topic && git mv src/a.txt src/b.txt && git commit -qam moved',
          ].join(' && '),
        )
        expect((await site.run(`cd ${site.at('')} && git log --format=%s`)).trim().split('\n')).toEqual([
          'moved',
          'first',
        ])
        expect(await site.run(`cd ${site.at('')} && git status --porcelain`)).toBe('')
        expect(await codeOf(site.workspace.readText('.git/HEAD'))).toBe('done')
      })

      itWith(
        component('npm'),
        'npm install of a local package',
        async () => {
          await using site = await open({
            'package.json': '{ "name": "app", "version": "1.0.0", "dependencies": { "dep": "file:./dep" } }',
            'dep/package.json': '{ "name": "dep", "version": "1.0.0", "main": "index.js" }',
            'dep/index.js': 'module.exports = "from dep"',
          })
          await site.run(`cd ${site.at('')} && npm install --offline --no-audit --no-fund --loglevel=error`)
          expect(await site.run(`cd ${site.at('')} && node -p 'require("dep")'`)).toBe('from dep\n')
        },
        { tags: 'all', timeout: 120_000 },
      )

      it('a venv, whose python finds what is put into it', async () => {
        await using site = await open({ 'wheel.py': wheel })
        await site.run(
          `cd ${site.at('')} && python3 wheel.py && python3 -m venv --without-pip .venv && python3 -m zipfile -e greet-1.0-py3-none-any.whl "$(.venv/bin/python -c 'import site; print(site.getsitepackages()[0])')"`,
        )
        expect(await site.run(`${site.at('.venv/bin/python')} -c 'import greet; print(greet.hello())'`)).toBe(
          'hello from pip\n',
        )
      })

      // Two times pip, which takes long where each of its calls is traced: all of it runs in `npm run test:deep`.
      it('pip install of a local wheel into a venv', {
        tags: ['deep'],
        timeout: 300_000,
      }, async () => {
        await using site = await open({ 'wheel.py': wheel })
        await site.run(
          `cd ${site.at('')} && python3 wheel.py && python3 -m venv .venv && .venv/bin/pip install -q --no-index --disable-pip-version-check greet-1.0-py3-none-any.whl`,
        )
        expect(await site.run(`${site.at('.venv/bin/python')} -c 'import greet; print(greet.hello())'`)).toBe(
          'hello from pip\n',
        )
        expect(await readFile(join(site.directory, 'private/key'), 'utf8')).toBe('KEY')
      })
    },
  )
}
