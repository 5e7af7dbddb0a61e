/** @module-tag all */
import { readdir } from 'node:fs/promises'
import { isWorkspaceError } from '@ws/core'
import { component, describeWith, itWith, deep } from '@ws/test-fixtures'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'

import { needed, places, Workbench, tagsIn } from './support/workbench.ts'

for (const mode of places) {
  describeWith(needed[mode], `commands (${mode})`, { tags: tagsIn(mode) }, () => {
    let bench: Workbench
    beforeEach(async () => {
      bench = await Workbench.create(mode)
    })
    afterEach(() => bench[Symbol.asyncDispose]())

    it('[LS4] gives the shell the command as one argument of its own', async () => {
      const { stdout } = await bench.run('tr "\\0" "\\n" < /proc/$$/cmdline', { login: true, shell: 'bash' })
      expect(stdout).toBe(
        '/usr/bin/bash\n-lc\ntr "\\0" "\\n" < /proc/$$/cmdline\n'.replace('/usr/bin/bash', stdout.split('\n')[0] ?? ''),
      )
      expect(stdout).toMatch(/^\/(?:usr\/)?bin\/bash\n/)
    })

    it('[LS2] takes $SHELL when it is a shell that is there inside, [LS3] else the first of the usual places', async () => {
      const before = process.env['SHELL']
      const shellOf = async () =>
        (await bench.run('tr "\\0" "\\n" < /proc/$$/cmdline; true', { shell: '' })).stdout.split('\n')[0]
      try {
        process.env['SHELL'] = '/bin/bash'
        expect(await shellOf()).toBe('/bin/bash')
        await bench.file(bench.outside('bash'), '#!/bin/sh\n', 0o755)
        for (const unusable of ['', '  ', '/usr/sbin/nologin', '/bin/false', '/missing/zsh', bench.outside('bash')]) {
          process.env['SHELL'] = unusable
          expect(await shellOf()).toMatch(/^\/(?:usr\/)?bin\/(?:zsh|bash|sh)$/)
        }
      } finally {
        if (before === undefined) delete process.env['SHELL']
        else process.env['SHELL'] = before
      }
    })

    it('[LS7] takes the shell and the login flag of the caller; a blank shell is the default', async () => {
      const parameters = 'tr "\\0" " " < /proc/$$/cmdline; true'
      expect((await bench.run(parameters, { shell: '/bin/sh', login: false })).stdout).toMatch(/^\/bin\/sh -c /)
      expect((await bench.run(parameters, { shell: 'sh', login: true })).stdout).toMatch(/\/sh -lc /)
      expect((await bench.run(parameters, { shell: ' ' })).stdout).toMatch(/^\/\S+ -c /)
      const missing = await bench.run('true', { shell: 'ksh' }).catch((error: unknown) => error)
      if (!component('bash').available || isWorkspaceError(missing))
        expect(isWorkspaceError(missing, 'ENOEXEC')).toBe(true)
      await expect(bench.run('true', { shell: 'bin/sh' })).rejects.toSatisfy((error) =>
        isWorkspaceError(error, 'EINVAL'),
      )
    })

    it('[LS14] reads the login files of the shell and no others, and keeps PATH', async () => {
      await bench.file(bench.host('.bash_profile'), 'echo profile\n')
      await bench.file(bench.host('.bashrc'), 'echo rc\n')
      expect((await bench.run('echo "$PATH"', { shell: 'bash', login: true })).stdout).toMatch(
        /^profile\n\S*\.venv\/bin:/,
      )
      expect((await bench.run('echo run', { shell: 'bash', login: false })).stdout).toBe('run\n')
    })

    itWith(component('zsh'), '[LS14] reads .zshenv, .zprofile and .zlogin in a login zsh, not .zshrc', async () => {
      for (const name of ['zshenv', 'zprofile', 'zlogin', 'zshrc'])
        await bench.file(bench.host(`.${name}`), `echo ${name}\n`)
      const { stdout } = await bench.run('echo "$PATH"', { shell: 'zsh', login: true })
      expect(stdout).toMatch(/^zshenv\nzprofile\nzlogin\n\S*\.venv\/bin:/)
    })

    it('runs an over-long command', async () => {
      for (const length of [200_000, 3_000_000]) {
        const { exitCode, stdout } = await bench.run(`echo ${'x'.repeat(length)} | wc -c; ls /proc/self/fd | wc -l`)
        expect({ exitCode, stdout: stdout.split('\n')[0] }).toEqual({ exitCode: 0, stdout: String(length + 1) })
      }
    })

    it('feeds standard input: text, bytes, a stream, or nothing', async () => {
      async function* chunks() {
        yield Buffer.from('first ')
        yield Buffer.from('second')
      }
      expect((await bench.run('cat', { stdin: 'text' })).stdout).toBe('text')
      expect((await bench.run('wc -c', { stdin: new Uint8Array(300_000) })).stdout.trim()).toBe('300000')
      expect((await bench.run('cat', { stdin: chunks() })).stdout).toBe('first second')
      expect((await bench.run('cat', {})).stdout).toBe('')
      // A command that does not read is not waited for.
      expect((await bench.run('true', { stdin: new Uint8Array(5_000_000) })).exitCode).toBe(0)
    })

    it('keeps the two outputs apart, and head and tail of a long one', async () => {
      const both = await bench.run('echo out; echo err >&2; exit 5')
      expect(both).toMatchObject({ exitCode: 5, signal: null, stdout: 'out\n', stderr: 'err\n', truncated: false })
      const long = await bench.run(
        'echo start; yes | head -c 5000000; echo end; echo start >&2; yes | head -c 5000000 >&2; echo end >&2',
        {
          maxOutputBytes: 1000,
        },
      )
      expect(long).toMatchObject({ stdoutBytes: 5_000_010, stderrBytes: 5_000_010, truncated: true })
      for (const text of [long.stdout, long.stderr]) {
        expect(text.length).toBeLessThan(1200)
        expect(text).toMatch(/^start\n[\s\S]*end\n$/)
      }
    })

    it('streams output while it runs', async () => {
      const { promise: said, resolve } = Promise.withResolvers<void>()
      async function* answer() {
        await said
        yield Buffer.from('three\n')
      }
      const running = await bench.spawn('echo one; echo two >&2; read line; echo "$line"', { stdin: answer() })
      void (async () => {
        for await (const chunk of running.stderr) if (Buffer.from(chunk).includes('two')) resolve()
      })()
      const seen: string[] = []
      for await (const chunk of running.stdout) seen.push(Buffer.from(chunk).toString())
      expect(seen.join('')).toBe('one\nthree\n')
      expect((await running.wait()).stdout).toBe('one\nthree\n')
    })

    it('gives the status that a shell would give', async () => {
      expect(await bench.run('exit 42')).toMatchObject({ exitCode: 42, signal: null })
      expect(await bench.run('kill -SEGV $$')).toMatchObject({ exitCode: 139, stderr: '' })
      expect(await bench.run('no-such-program')).toMatchObject({ exitCode: 127 })
      expect(await bench.run('sleep 60 & exit 3')).toMatchObject({ exitCode: 3 })
    })

    it('answers a working directory that cannot be entered with ENOEXEC, without a host path', async () => {
      await bench.directory(bench.host('denied'))
      for (const [cwd, parts] of [
        [bench.at('/missing'), []],
        [bench.at('/denied'), [{ kind: 'mask', at: '/denied' }]],
      ] as const) {
        const error = await bench.run('true', { cwd, parts }).catch((thrown: unknown) => thrown)
        expect(isWorkspaceError(error, 'ENOEXEC')).toBe(true)
        expect(String(error)).not.toContain(bench.scratch.path)
      }
    })

    it('starts in the directory that was asked for', async () => {
      await bench.file(bench.host('deep/er/file'), 'x')
      expect((await bench.run('pwd; echo "$PWD"; ls', { cwd: bench.at('/deep/er') })).stdout).toBe(
        `${bench.at('/deep/er')}\n${bench.at('/deep/er')}\nfile\n`,
      )
      expect((await bench.run('pwd', { cwd: '/tmp' })).stdout).toBe('/tmp\n')
    })

    it('survives odd names everywhere', async () => {
      const names = ['sp ace', "quo'te", 'new\nline', '-dash', 'ü|:', 'back\\slash', '*', '$(x)']
      for (const name of names) await bench.file(bench.host(`odd/${name}/file`), name)
      const parts = names.map((name) => ({ kind: 'mask', at: `/odd/${name}/file`, type: 'file' }) as const)
      const pins = names.map((name) => ({ kind: 'pin', at: `/odd/${name}` }) as const)
      const { stdout } = await bench.run('cat odd/*/file 2>/dev/null; ls -A odd | wc -l', {
        parts: [{ kind: 'pin', at: '/odd' }, ...pins, ...parts],
      })
      expect(stdout).toBe('9\n')
      for (const name of names) {
        const { exitCode } = await bench.run('test "$(pwd; echo .)" = "$EXPECTED\n."', {
          cwd: bench.at(`/odd/${name}`),
          env: { EXPECTED: bench.at(`/odd/${name}`) },
        })
        expect({ name, exitCode }).toEqual({ name, exitCode: 0 })
      }
      expect(await readdir(bench.host('odd'))).toHaveLength(names.length)
    })

    it('runs many at once', async () => {
      const results = await Promise.all(
        Array.from({ length: 12 }, (_, index) => bench.run(`echo ${index} > f${index}; cat f${index}`)),
      )
      expect(results.map(({ stdout }) => stdout.trim())).toEqual(
        Array.from({ length: 12 }, (_, index) => String(index)),
      )
    })
  })

  describeWith(needed[mode], `real work (${mode})`, { tags: tagsIn(mode) }, () => {
    let bench: Workbench
    beforeAll(async () => {
      bench = await Workbench.create(mode)
    })
    afterAll(() => bench?.[Symbol.asyncDispose]())

    async function works(command: string) {
      const parts = [
        { kind: 'pin', at: '/project' },
        { kind: 'mask', at: '/project/.env', type: 'file' },
      ] as const
      await bench.file(bench.host('project/.env'), 'SECRET')
      const { exitCode, stdout, stderr } = await bench.run(`cd project && ${command}`, { parts, login: true })
      expect({ command, exitCode, stderr }).toEqual({ command, exitCode: 0, stderr: expect.any(String) })
      return stdout + stderr
    }

    itWith(component('git'), 'commits with git', async () => {
      await works(
        'git init -q . && git config user.email a@b.c && git config user.name n && echo .env > .gitignore && echo x > f',
      )
      await works(
        'git add -A && git commit -qm first && git checkout -qb other && mkdir -p a && mv f a/f && git add -A && git commit -qm second',
      )
      expect(await works('git log --oneline | wc -l; git status --short; git fsck')).toMatch(/^2\n/)
    })

    itWith(
      [component('python3'), component('python3-venv')],
      'makes a virtual environment and installs into it',
      async () => {
        await bench.file(
          bench.host('project/hello-1.0.dist-info/METADATA'),
          'Metadata-Version: 2.1\nName: hello\nVersion: 1.0\n',
        )
        await bench.file(
          bench.host('project/hello-1.0.dist-info/WHEEL'),
          'Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
        )
        await bench.file(
          bench.host('project/hello-1.0.dist-info/RECORD'),
          'hello.py,,\nhello-1.0.dist-info/METADATA,,\nhello-1.0.dist-info/WHEEL,,\nhello-1.0.dist-info/RECORD,,\n',
        )
        await bench.file(bench.host('project/hello.py'), 'print("hello from the wheel")\n')
        await works('python3 -m zipfile -c hello-1.0-py3-none-any.whl hello.py hello-1.0.dist-info')
        if (!deep) {
          // pip takes many seconds: it runs in the forms of the deep tier
          await works(
            'python3 -m venv --without-pip .venv && python3 -m zipfile -e hello-1.0-py3-none-any.whl .venv/lib/python3*/site-packages',
          )
          expect(await works('.venv/bin/python -c "import hello"')).toContain('hello from the wheel')
          return
        }
        await works('python3 -m venv .venv && .venv/bin/pip install --quiet --no-index ./hello-1.0-py3-none-any.whl')
        expect(await works('.venv/bin/python -c "import hello"')).toContain('hello from the wheel')
      },
      120_000,
    )

    itWith([component('node'), component('npm')], 'installs a local package with npm', async () => {
      await bench.file(
        bench.host('project/local/package.json'),
        '{"name":"local","version":"1.0.0","bin":{"local-tool":"tool.js"}}',
      )
      await bench.file(bench.host('project/local/tool.js'), '#!/usr/bin/env node\nconsole.log("tool ran")\n', 0o755)
      await bench.file(bench.host('project/package.json'), '{"name":"project","version":"1.0.0"}')
      await works('npm install --offline --no-audit --no-fund --install-links ./local')
      expect(await works('npx --offline local-tool; node_modules/.bin/local-tool')).toMatch(/tool ran\n[\s\S]*tool ran/)
    })
  })
}
