import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { createScratchDirectory } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { open } from './support.ts'

const time = new Date('2024-02-03T04:05:06.000Z')
const code = Array.from({ length: 40 }, (_, index) => (index % 8 === 0 ? '\n' : `line ${index}\n`)).join('')
const files: Readonly<Record<string, string>> = {
  'x/f': 'a\n',
  'y/f': 'b\n',
  'x/s/q': '1\n',
  'y/s/q': '2\n',
  'x/same': 'same\n',
  'y/same': 'same\n',
  'x/bin': 'a\0b',
  'y/bin': 'a\0c',
  'x/t/in': '',
  'y/t': 'text\n',
  'x/none': '',
  'y/none/in': '',
  'x/sp ace': 'one\n',
  'y/sp ace': 'two\n',
  'x/only/a': '',
  'y/other': 'o\n',
  code,
  edited: code.replace('line 3\n', 'line three\n').replace('line 20\n', '').replace('line 33\n', 'line 33\nnew\n'),
  open: 'a\nlast',
  closed: 'a\nlast\n',
  empty: '',
  latin: 'caf\u{e9}\n',
}

const lines = [
  'diff x y',
  'diff -r x y',
  'diff -rq x/ y',
  'diff -ru x y',
  'diff x y -u -r',
  'diff --brief --recursive x y',
  'diff x/f y; diff x y/f; diff x/f x/t',
  'diff x/f missing; diff missing gone; diff x missing',
  'diff; diff x; diff x/f y/f x/s',
  'diff x/f x/f; diff x x; diff -u x/f x/f',
  'diff code edited; diff -u code edited; diff -U0 edited code; diff -U 1 code edited; diff --unified=20 code edited',
  'diff open closed; diff -u closed open; diff -u empty code; diff open empty; diff latin open',
  'diff - y/f < x/f; cat x/f | diff x/f -; diff <(echo 1) <(echo 2)',
  'diff -u --label A --label "B c" x/f y/f; diff -u --label=A x/f y/f; cat x/f | diff -u --label A - y/f',
  'diff -q x/f y/f && echo same || echo differ; diff -qr x x && echo same',
  'diff x/dangling y/f; diff x/link y/f',
]

it('[EX1] diff shows what the real one shows', async () => {
  await using scratch = await createScratchDirectory()
  await using workspace = await open({ files: {} })
  for (const [name, content] of Object.entries(files)) {
    const bytes = name === 'latin' ? Buffer.from(content, 'latin1') : content
    const path = join(scratch.path, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, bytes)
    utimesSync(path, time, time)
    await workspace.write(name, bytes)
    await workspace.utimes(name, { modifiedAt: time.getTime() })
  }
  for (const [name, target] of [
    ['x/dangling', 'nowhere'],
    ['x/link', 'f'],
  ] as const) {
    symlinkSync(target, join(scratch.path, name))
    await workspace.createSymlink(name, target)
  }
  const script = lines.map((line) => `echo '## ${line}'\n${line}\necho "= $?"`).join('\n')
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' }
  const real = spawnSync('bash', ['--norc', '-c', script], {
    cwd: scratch.path,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const { stdout, stdoutBytes, stderr } = await workspace.exec(script)
  expect(stdout).toBe(real.stdout.toString())
  expect(stdoutBytes).toBe(real.stdout.length)
  expect(stderr).toBe(real.stderr.toString())
})

it('refuses what GNU could show in another way', async () => {
  await using workspace = await open({
    files: { '/p': 'x\ny\n', '/q': 'y\nx\n', '/n\tt': '1\n', '/nul': `${'a'.repeat(5000)}\0` },
  })
  await workspace.utimes('p', { modifiedAt: 1 })
  for (const line of [
    'diff p q',
    'diff -u p n?t',
    'diff nul p',
    'diff -w p q',
    'TZ=Asia/Tokyo; export TZ; diff -u p nul',
  ]) {
    const { exitCode, stdout, stderr } = await workspace.exec(line)
    expect({ line, exitCode, stdout, stderr }).toEqual({
      line,
      exitCode: 126,
      stdout: '',
      stderr: expect.stringContaining('diff'),
    })
  }
  expect(await workspace.exec('diff -q p q')).toMatchObject({ exitCode: 1, stdout: 'Files p and q differ\n' })
})
