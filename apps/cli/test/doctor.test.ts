/** @module-tag all */
import { chmod, mkdtemp, realpath, rmdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

import { createScratchAdapter } from '@ws/adapter-local'
import { paths } from '@ws/core'
import { component, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { onTerminal } from './terminal.ts'
import { createProject, giveToOwner, ws } from './ws.ts'

async function configured(rules: readonly object[], files: Readonly<Record<string, string>> = {}) {
  const project = await createProject({
    'p/a.txt': 'a',
    ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`p/${path}`, text])),
  })
  const file = join(project.path, 'ws.config.json')
  await writeFile(file, JSON.stringify({ mounts: [{ at: '/workspace', root: 'p' }], rules }))
  await giveToOwner(project)
  return { options: ['--config', file], [Symbol.asyncDispose]: () => project[Symbol.asyncDispose]() }
}

/** The output on a terminal of 80 columns. */
async function shown(args: readonly string[]): Promise<string> {
  const { ended, text } = onTerminal(args.join(' '), { cols: 80, rows: 24 })
  await ended
  return text().replaceAll('\r\n', '\n')
}

const policies: [string, readonly object[], Readonly<Record<string, string>>][] = [
  ['no rules', [], {}],
  ['an output', [{ rule: 'withinOutput', path: '/workspace/out' }], {}],
  ['a denied file', [{ rule: 'deny', path: '/workspace/.env' }], { '.env': 'S=1' }],
  ['a denied file that is missing', [{ rule: 'deny', path: '/workspace/.env' }], {}],
  ['a read-only directory', [{ rule: 'readOnly', path: '/workspace/d' }], { 'd/x': '' }],
  ['a read-only directory that is missing', [{ rule: 'readOnly', path: '/workspace/.git/hooks' }], {}],
  ['names that are denied', [{ rule: 'protectSecrets' }, { rule: 'protectHooks' }], { '.env': 'S=1' }],
  [
    'all of them',
    [
      { rule: 'withinOutput', path: '/workspace/out' },
      { rule: 'deny', path: '/workspace/.env' },
      { rule: 'readOnly', path: '/workspace/.git/hooks' },
    ],
    {},
  ],
]

for (const executor of ['bubblewrap', 'proot', 'sanitize', 'virtual'] as const) {
  const needed = executor === 'virtual' ? [] : executor === 'sanitize' ? ['perl' as const] : [executor]
  describeWith(needed.map(component), `ws doctor with ${executor}`, () => {
    for (const [name, rules, files] of policies) {
      // the words for a rule are the same for each executor: one that runs and one that may be refused are enough
      const tags =
        executor === 'bubblewrap' || name === 'no rules' || name.endsWith('file that is missing') ? [] : ['deep']
      it(`[RU6] says what exec does under ${name}`, { tags }, async () => {
        await using site = await configured(rules, files)
        const options = [...site.options, '--executor', executor]
        const doctor = await ws([...options, 'doctor'])
        const exec = await ws([...options, 'exec', '--no-login', '--', 'echo ran'])
        const refused = exec.code === 125
        expect(exec.stdout).toBe(refused ? '' : 'ran\n')
        expect(doctor, exec.stderr).toMatchObject({ code: refused ? 1 : 0, stderr: '' })
        expect(doctor.stdout).toContain(refused ? 'Commands would be refused.' : `Commands would run with ${executor}.`)
        const [, rule] = /\(rule `([^`]+)`\)/u.exec(exec.stderr) ?? []
        if (refused) expect(doctor.stdout).toContain(`${rule}: `)
      })
    }
  })
}

describeWith(component('bubblewrap'), 'ws doctor in a project with `bin`', () => {
  for (const at of ['/workspace', '/'])
    it(`[RU6] says what exec does, mounted at ${at}`, async () => {
      await using project = await createProject({
        'p/bin/x': '',
        'ws.config.json': JSON.stringify({ mounts: [{ at, root: 'p' }] }),
      })
      const options = ['--config', join(project.path, 'ws.config.json'), '--executor', 'bubblewrap']
      const [doctor, exec] = [await ws([...options, 'doctor']), await ws([...options, 'exec', '--', 'echo ran'])]
      expect(exec).toMatchObject(at === '/' ? { code: 125 } : { code: 0, stdout: 'ran\n' })
      expect(doctor.code).toBe(at === '/' ? 1 : 0)
      expect(doctor.stdout).toContain(at === '/' ? 'commands would be refused.' : 'Commands would run with bubblewrap.')
    })
})

it('[RU6, RU10] --matches lists what rules by pattern match now', async () => {
  await using site = await configured(
    [{ rule: 'protectSecrets' }, { rule: 'denyGlob', glob: '*.key', name: 'no-keys' }],
    { '.env': 'S=1', '.env.example': '', 'd/e/a.key': '', 'd/note.md': '', 'node_modules/x/.env': '' },
  )
  const options = [...site.options, '--executor', 'virtual']
  const { code, stdout } = await ws([...options, 'doctor', '--matches'])
  expect(code).toBe(0)
  const [list = ''] = stdout.split('\n\n')
  expect(list.split('\n').map((line) => line.trim().split(/ {2,}/u))).toEqual([
    ['matched now', 'rule'],
    ['/workspace/.env', 'protectSecrets'],
    ['/workspace/d/e/a.key', 'no-keys'],
  ])
  const { rules } = JSON.parse((await ws([...options, '--json', 'doctor'])).stdout) as { rules: { matches: object[] } }
  expect(rules.matches).toEqual([
    { rule: 'protectSecrets', path: '/workspace/.env' },
    { rule: 'no-keys', path: '/workspace/d/e/a.key' },
  ])
  expect(await ws(['doctor', '--matches'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--config FILE') })
})

it('[RU6] says that commands would be refused where the workspace cannot be opened', async () => {
  await using project = await createProject({})
  const missing = ['--root', join(project.path, 'missing')]
  const { code, stdout } = await ws([...missing, 'doctor'])
  expect(code).toBe(1)
  expect(stdout).toMatch(/Commands would be refused\.\nENOWORKSPACE: /u)
  expect((await ws([...missing, 'exec', '--', 'true'])).code).toBe(125)
})

it('[HO6] names a temporary directory that could not be removed, with what to do', async () => {
  const scratch = await createScratchAdapter()
  const [system, pid] = basename(String(scratch.hostPath?.(paths.mountRoot)))
    .split('-')
    .slice(2)
  await scratch.close()
  const left = await mkdtemp(join(await realpath('/tmp'), `ws-scratch-${system}-${pid}-ended-`))
  try {
    await chmod(left, 0o500)
    const { stdout } = await ws(['--executor', 'virtual', 'doctor'])
    expect(stdout).toContain(`rm -rf ${left}\n`)
    const { leftovers } = JSON.parse((await ws(['--executor', 'virtual', '--json', 'doctor'])).stdout) as {
      leftovers: string[]
    }
    expect(leftovers).toContain(left)
  } finally {
    await rmdir(left)
  }
  expect((await ws(['--executor', 'virtual', 'doctor'])).stdout).not.toContain(left)
})

it('[RU6] has one line for each executor and a verdict on its first screen, within 80 columns', async () => {
  const text = await shown(['doctor'])
  const lines = text.trimEnd().split('\n')
  for (const name of ['bubblewrap', 'proot', 'sanitize']) {
    expect(
      lines.filter((line) => line.startsWith(`${name} `)),
      text,
    ).toHaveLength(1)
  }
  expect(text).toMatch(/^(?:Commands would run with|No executor here will do)/mu)
  expect(text).toContain('ws doctor -v')
  expect(lines.length).toBeLessThanOrEqual(24)
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
  expect(text).not.toContain('fileMetadata')
})

it('[RU6] has every boundary and limit with -v, within 80 columns', async () => {
  const text = await shown(['--executor bubblewrap', 'doctor', '-v'])
  for (const field of ['fileContent', 'fileMetadata', 'deniedSubtrees', 'apiRules', 'memoryBytes', 'scratchBytes'])
    expect(text).toMatch(new RegExp(`^${field} `, 'mu'))
  const [tables = ''] = text.split('Tools of this machine')
  const wide = tables.split('\n').filter((line) => line.length > 80 && !/^ {2}do /u.test(line))
  expect(wide).toEqual([])
})

describeWith([component('proot'), component('perl')], 'ws doctor where each system call is stopped', () => {
  it('[RU6] hints at it on the first screen, and says what it costs and the way out with -v', async () => {
    const { stdout } = await ws(['--executor', 'proot', '--json', 'doctor'])
    const { executors } = JSON.parse(stdout) as { executors: { details: { stoppedCalls: string } }[] }
    const slow = executors.map(({ details }) => details.stoppedCalls)
    expect(slow).toEqual(slow[0] === 'all' ? ['all', 'all'] : ['some', 'some'])
    const first = await ws(['--executor', 'proot', 'doctor'])
    const verbose = await ws(['--executor', 'proot', 'doctor', '-v'])
    expect(/; slow with many files/u.test(first.stdout)).toBe(slow[0] === 'all')
    const all =
      /slow\s+every system call is stopped: file-heavy commands take 10 to 100 times as long; use\s+bubblewrap/u
    expect(all.test(verbose.stdout.replaceAll(/\s+/gu, ' '))).toBe(slow[0] === 'all')
  })
})
