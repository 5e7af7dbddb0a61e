import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createScratchDirectory } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { open } from './support.ts'

it('[EX1] cat shows what the real one shows, for every byte', async () => {
  await using scratch = await createScratchDirectory()
  const files = {
    bytes: Uint8Array.from({ length: 256 }, (_, index) => index),
    lines: 'a\tb\r\n\n  c\r',
    open: 'no end',
    empty: '',
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(scratch.path, name), content)
  const names = Object.keys(files)
  const options = ['', '-n', '-A', '-E', '-T', '-v', '-e', '-t', '-nA', '-vE', '-nT']
  await using workspace = await open({
    files: Object.fromEntries(Object.entries(files).map(([name, content]) => [`/${name}`, content])),
  })
  for (const option of options) {
    const args = [...(option === '' ? [] : [option]), ...names, 'missing']
    const real = spawnSync('cat', args, { cwd: scratch.path, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' } })
    const { stdout, stderr, exitCode } = await workspace.exec(['cat', ...args])
    expect({ option, stdout, stderr, exitCode }).toEqual({
      option,
      stdout: real.stdout.toString(),
      stderr: real.stderr.toString(),
      exitCode: real.status,
    })
  }
})
