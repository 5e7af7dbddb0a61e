import { expect, it } from 'vitest'

import { openSite } from './support.ts'

it.each([true, false])('[LS13] keeps the state of a shell for the next command, with input: %s', async (hasInput) => {
  const { workspace, root } = await openSite({ hasInput })
  const first = await workspace.exec('mkdir d; cd d; x=1; f() { echo "f$x"; }', { shellState: '' })
  expect(first).toMatchObject({ stdout: '', shellState: { directory: `${root}/d` } })
  const { directory: cwd = '', data: shellState } = first.shellState ?? {}
  const second = await workspace.exec('pwd; f; exit 3', { cwd, shellState })
  expect(second).toMatchObject({ stdout: `${root}/d\nf1\n`, exitCode: 3, shellState: { directory: `${root}/d` } })
  // longer than one argument
  const { shellState: long } = await workspace.exec('x=$(printf %150000s)', { shellState })
  const third = await workspace.exec('echo ${#x}; exec true', { shellState: long?.data })
  expect(third.stdout).toBe('150000\n')
  expect(third.shellState).toBeUndefined()
})
