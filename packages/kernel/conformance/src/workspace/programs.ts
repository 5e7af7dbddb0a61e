import { paths } from '@ws/core'
import { lstat } from 'node:fs/promises'
import { check, equal } from '../assert.ts'
import type { Site } from '../doors/site.ts'
import type { DoorCase, DoorSuite } from '../doors/suite.ts'

async function openWith(it: DoorCase, program: string): Promise<Site> {
  const site = await it.open()
  const { exitCode } = await site.attempt(`command -v ${program}`)
  return exitCode === 0 ? site : it.skip(`needs ${program}`)
}

const main = `import { statSync, writeFileSync } from 'node:fs'
import { value } from './value.js'
const [, file] = process.argv
writeFileSync(new URL('result.json', import.meta.url), JSON.stringify({ value, file, size: statSync(file).size }))
`

export function programTests({ describe, test }: DoorSuite): void {
  describe('programs', () => {
    test('node runs modules that the file door wrote, and writes back', { kind: 'process' }, async (it) => {
      const site = await openWith(it, 'node')
      await site.workspace.write('js/package.json', '{ "type": "module" }')
      await site.workspace.write('js/value.js', 'export const value = 42\n')
      await site.workspace.write('js/main.js', main)
      await site.run(`node ${site.at('js/main.js')}`)
      const written = JSON.parse(await site.workspace.readText('js/result.json')) as { readonly file?: string }
      // without a view of its own, a program sees its host path
      const file = it.guarantees.fileMetadata === 'none' ? written.file : site.at('js/main.js')
      equal(written, { value: 42, file, size: main.length }, 'what node wrote')
    })

    test('python runs a script that the file door wrote, and knows its path', {}, async (it) => {
      const site = await openWith(it, 'python3')
      await site.workspace.write('script.py', 'import os, sys\nprint(os.path.abspath(sys.argv[0]), os.getcwd())\n')
      equal(await site.run(`python3 ${site.at('script.py')}`), `${site.at('script.py')} ${it.root}\n`, 'what it prints')
    })

    test('git commits what the file door wrote, and the file door reads the commit', {
      kind: 'process',
    }, async (it) => {
      const site = await openWith(it, 'git')
      await site.workspace.write('committed.txt', 'written\n')
      const out = await site.run(
        'git init -q && git add committed.txt && git -c user.name=x -c user.email=x@example.invalid commit -qm x && ' +
          'git status --porcelain committed.txt && git rev-parse HEAD',
      )
      const head = (await site.workspace.readText('.git/HEAD')).replace(/^ref: /u, '').trim()
      equal(out.trim(), (await site.workspace.readText(`.git/${head}`)).trim(), 'the commit')
    })

    test('run as the owner, who owns the files of both doors', { kind: 'process' }, async (it) => {
      const site = await it.open()
      await site.workspace.write('api', '')
      const uid = (await site.run('id -u; : > shell; cat api; echo x >> api')).trim()
      const { path, owner } =
        (await site.store.hostDirectory?.(paths.parseMount('/'))) ?? it.skip('capability hostPath: false')
      check(uid !== '0', 'commands run as root')
      for (const name of ['api', 'shell'])
        equal((await lstat(`${path}/${name}`)).uid, owner?.uid, `the owner of ${name}`)
      if (it.guarantees.fileMetadata !== 'none') return
      equal(uid, String(owner?.uid), 'the user of a command')
    })
  })
}
