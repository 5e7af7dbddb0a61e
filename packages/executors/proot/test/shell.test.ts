import { join } from 'node:path'

import { component, describeWith } from '@ws/test-fixtures'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'

import { Bench, put } from './support.ts'

describeWith([component('proot'), component('bash'), component('zsh')], 'the shell', () => {
  let bench: Bench
  let shellBefore: string | undefined
  beforeAll(async () => {
    bench = await Bench.create('/')
    await put(join(bench.workspace, 'evil-bash'), '#!/bin/sh\necho evil')
  })
  afterAll(() => bench[Symbol.asyncDispose]())
  beforeEach(() => {
    shellBefore = process.env['SHELL']
  })
  afterEach(() => {
    if (shellBefore === undefined) delete process.env['SHELL']
    else process.env['SHELL'] = shellBefore
  })
  const name = 'echo "${ZSH_VERSION:+zsh}${BASH_VERSION:+bash}"'

  it('[LS2] is $SHELL when that is a shell of the system', async () => {
    process.env['SHELL'] = '/bin/bash'
    expect(await bench.output(name, { shell: undefined })).toBe('bash')
    process.env['SHELL'] = '/usr/bin/zsh'
    expect(await bench.output(name, { shell: undefined })).toBe('zsh')
  })

  it('[LS3] is the first of the usual ones when $SHELL is blank, no shell, or not inside the view', async () => {
    for (const value of ['', ' ', '/usr/sbin/nologin', '/nowhere/bash', join(bench.workspace, 'evil-bash')]) {
      process.env['SHELL'] = value
      expect(await bench.output(name, { shell: undefined }), value).toBe('zsh')
    }
  })

  it('[LS4] gets the command as an argument of its own, after -lc', async () => {
    const shown = await bench.output(`tr '\\0' '|' < /proc/$$/cmdline; shopt -q login_shell && echo login`, {
      login: true,
      shell: 'bash',
    })
    expect(shown).toMatch(/^\/bin\/bash\|-lc\|tr .*\|login$/s)
  })

  it('[LS7] and login can be chosen; what is missing is told', async () => {
    expect(await bench.output(name, { shell: 'bash' })).toBe('bash')
    expect(await bench.output(name, { shell: '/usr/bin/zsh' })).toBe('zsh')
    expect(await bench.output('shopt -q login_shell || echo plain', { shell: 'bash', login: false })).toBe('plain')
    await expect(bench.run('true', { shell: '/usr/bin/ksh93' })).rejects.toMatchObject({
      code: expect.stringMatching(/EINVAL|ENOEXEC/),
    })
    await expect(bench.run('true', { shell: 'relative/sh' })).rejects.toMatchObject({ code: 'EINVAL' })
  })

  it('[LS14] reads the start-up files of the workspace’s root', async () => {
    await put(join(bench.workspace, '.bash_profile'), 'export FROM_PROFILE=yes\nPATH=$PATH:/own/tools\n')
    expect(await bench.output('echo $FROM_PROFILE ${PATH##*:}', { shell: 'bash', login: true })).toBe('yes /own/tools')
  })
})
