import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { createProject, ws } from './ws.ts'

it('tree shows a directory with everything below, and counts it', async () => {
  await using project = await createProject({ 'a/b/c.txt': '', 'a/d': '', '.e': '' })
  const options = ['--root', project.path, 'tree']
  const whole = '/workspace\n├── .e\n└── a\n    ├── b\n    │   └── c.txt\n    └── d\n\n2 directories, 3 files\n'
  expect(await ws(options)).toMatchObject({ code: 0, stdout: whole, stderr: '' })
  const part = 'a\n├── b\n└── d\n\n1 directory, 1 file\n'
  expect(await ws([...options, '-L', '1', 'a'])).toMatchObject({ code: 0, stdout: part })
  const json = (await ws(['--json', ...options])).stdout.trim().split('\n')
  const paths = json.map((line) => (JSON.parse(line) as { path: string }).path)
  expect(paths).toEqual(['.e', 'a', 'a/b', 'a/b/c.txt', 'a/d'].map((path) => `/workspace/${path}`))
  for (const [args, code, message] of [
    [['-L', '0'], 2, /whole number from 1/u],
    [['nowhere'], 1, /ENOENT/u],
    [['a/d'], 1, /ENOTDIR/u],
  ] as const) {
    const ended = await ws([...options, ...args])
    expect(ended).toMatchObject({ code, stdout: '' })
    expect(ended.stderr).toMatch(message)
  }
})

it('[PC21] glob prints the paths that match, names with odd characters included', async () => {
  await using project = await createProject({ 'a.ts': '', 'src/b.ts': '', 'src/a|b\n.ts': '', '.h/c.ts': '' })
  const options = ['--root', project.path, 'glob']
  expect((await ws([...options, '-0', '*.ts'])).stdout.split('\0').sort()).toEqual(
    ['', ...['.h/c.ts', 'a.ts', 'src/a|b\n.ts', 'src/b.ts'].map((path) => `/workspace/${path}`)].sort(),
  )
  expect((await ws([...options, '--no-hidden', '*.ts', '!src/**'])).stdout).toBe('/workspace/a.ts\n')
  expect((await ws([...options, '--in', 'src', 'b.ts'])).stdout).toBe('/workspace/src/b.ts\n')
  expect(await ws([...options, 'nothing'])).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect((await ws([...options, '--in', 'nowhere', '*'])).stderr).toContain('ENOENT')
})

it('edit replaces a text that is there once, or with --all each, and says what is wrong in its own words', async () => {
  await using project = await createProject({ 'a.txt': 'one two two\n' })
  const options = ['--root', project.path, 'edit']
  expect(await ws([...options, 'a.txt', 'one', ''])).toMatchObject({ code: 0, stdout: '', stderr: '' })
  const several = await ws([...options, 'a.txt', 'two', '2'])
  expect(several.code).toBe(1)
  expect(several.stderr).toMatch(/`<old>`.*`--all`/u)
  expect((await ws(['--json', ...options, '--all', 'a.txt', 'two', '2'])).stdout).toContain('"replacements":2')
  expect(await readFile(join(project.path, 'a.txt'), 'utf8')).toBe(' 2 2\n')
  expect((await ws([...options, 'a.txt', 'gone', 'x'])).stderr).toMatch(/does not hold `<old>`/u)
  expect((await ws([...options, '--if-version', 'other', 'a.txt', '2 2', 'x'])).stderr).toContain('ECONFLICT')
})
