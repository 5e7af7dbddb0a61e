import { readdir, readFile } from 'node:fs/promises'
import { component, describeWith, itWith } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it } from 'vitest'

import { outerProcesses } from './support/processes.ts'
import { isBelow, modes, namesBelow, needed, Workbench, tagsIn } from './support/workbench.ts'

for (const mode of modes) {
  describeWith(needed[mode], `what a command sees (${mode})`, { tags: tagsIn(mode) }, () => {
    let bench: Workbench
    beforeEach(async () => {
      bench = await Workbench.create(mode)
      await bench.file(bench.host('a.txt'), 'content\n')
      await bench.file(bench.host('.hidden/b'), 'dot\n')
    })
    afterEach(() => bench[Symbol.asyncDispose]())

    it('[PC8] starts in the root, with PWD saying so', async () => {
      const { stdout } = await bench.run('pwd; /bin/pwd; echo "$PWD"; ls -A . | sort')
      expect(stdout.split('\n')).toEqual([bench.root, bench.root, bench.root, '.hidden', 'a.txt', ''])
    })

    it("shows at / the workspace's entries alone, or the system's names and the mounts", async () => {
      const { stdout } = await bench.run('ls -A /')
      const names = stdout.trimEnd().split('\n')
      if (!isBelow(mode)) expect(names).toEqual(['a.txt', '.hidden'].sort((a, b) => a.localeCompare(b)).sort())
      else expect(names).toEqual(expect.arrayContaining(['bin', 'dev', 'etc', 'proc', 'tmp', 'usr', 'workspace']))
      expect(names.filter((name) => /^(?:home|root|work|var|opt|srv|\.ws|\.tmp)$/.test(name))).toEqual([])
    })

    it('[PC5] [PC7] reads and writes the very files of the workspace', async () => {
      const file = bench.at('/new.txt')
      const { exitCode, stdout } = await bench.run(`cat ${bench.at('/a.txt')}; echo written > ${file}; cat ${file}`)
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'content\nwritten\n' })
      expect(await readFile(bench.host('new.txt'), 'utf8')).toBe('written\n')
    })

    it('[RP18] leaves nothing in the workspace, neither names of the system nor temporary files', async () => {
      await bench.run('ls /usr /bin /etc /proc /dev > /dev/null; mktemp > /dev/null; (sleep 100 &) ; exit 3')
      expect(await namesBelow(bench.host())).toEqual(['.hidden', '.hidden/b', 'a.txt'])
      expect((await readdir(bench.scratch.path)).sort()).toEqual(['outside', 'tmp', 'workspace'])
    })

    it('[RP20] has a /tmp of its own, which is not the one of the host', async () => {
      await bench.run('echo mine > /tmp/file')
      expect(await namesBelow(`${bench.scratch.path}/tmp`)).toEqual(['file'])
      const { stdout } = await bench.run('ls -A /tmp; cat /tmp/file')
      expect(stdout).toBe('file\nmine\n')
    })

    it('[RP9] [RP16] has a clean environment: HOME at the root, USER=user, nothing of this process', async () => {
      process.env['WS_TEST_SECRET'] = 'do-not-tell'
      try {
        const { stdout } = await bench.run('env; for e in /proc/[0-9]*/environ; do tr "\\0" "\\n" < $e; done', {
          env: { GIVEN: 'by the caller', 'odd.name': 'kept', LD_LIBRARY_PATH: '/nowhere' },
        })
        expect(stdout).toMatch(new RegExp(`^HOME=${bench.root}$`, 'm'))
        expect(stdout).toMatch(/^USER=user$/m)
        expect(stdout).toMatch(/^GIVEN=by the caller$/m)
        expect(stdout).toMatch(/^odd\.name=kept$/m)
        expect(stdout).toMatch(/^LD_LIBRARY_PATH=\/nowhere$/m)
        expect(stdout).not.toContain('do-not-tell')
        const names = new Set(stdout.split('\n').map((line) => line.split('=')[0]))
        const known = [
          ...['HOME', 'USER', 'LOGNAME', 'PATH', 'PWD', 'SHELL', 'LANG', 'TERM', 'SHLVL', '_', 'OLDPWD', 'GIVEN'],
          ...['odd.name', 'LD_LIBRARY_PATH', 'LC_ALL', 'LC_CTYPE', 'LANGUAGE', 'COLORTERM', 'NO_COLOR', 'TZ', ''],
          'PROOT_DONT_POLLUTE_ROOTFS',
        ]
        expect([...names].filter((name) => !known.includes(name ?? ''))).toEqual([])
        const own = await bench.run('env')
        expect(own.stdout).not.toContain('PROOT')
      } finally {
        delete process.env['WS_TEST_SECRET']
      }
    })

    it('[RP16] tells nothing in command lines and environments that every user of the host can or root could read', async () => {
      const running = await bench.spawn('echo ready; sleep 100', { env: { TOKEN: 'for-the-command-only' } })
      for await (const chunk of running.stdout) if (Buffer.from(chunk).includes('ready')) break
      const outer = outerProcesses('echo ready', mode)
      expect(outer).toHaveLength(1)
      for (const { pid, arguments: line } of outer) {
        expect(await readFile(`/proc/${pid}/environ`, 'utf8')).toBe('')
        expect(line).not.toMatch(/for-the-command-only/)
        expect(line).not.toContain(bench.scratch.path)
      }
      running.kill('SIGKILL')
      await running.wait()
    })

    it('inherits what the option `env` names, and no more', async () => {
      process.env['WS_TEST_ALLOWED'] = 'yes'
      await using allowing = await Workbench.create(mode, { env: ['WS_TEST_ALLOWED'] })
      const { stdout } = await allowing.run('echo $WS_TEST_ALLOWED')
      delete process.env['WS_TEST_ALLOWED']
      expect(stdout).toBe('yes\n')
    })

    it('runs as the owner, under the name `user`, without groups, capabilities or the right to gain any', async () => {
      const { stdout } = await bench.run(
        'id -u; id -un; id -G; grep -E "^(Groups|CapEff|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status',
      )
      const { uid, gid } = bench.scratch.owner
      expect(stdout.replace(/[ \t]+/g, ' ')).toBe(
        [
          `${uid}\nuser\n${gid}`,
          'Groups: ',
          'CapEff: 0000000000000000',
          'CapBnd: 0000000000000000',
          'NoNewPrivs: 1',
          'Seccomp: 2\n',
        ].join('\n'),
      )
    })

    it('[RP16] hands on no open file but the three standard streams: an inherited number is /dev/null', async () => {
      const { stdout } = await bench.run('for f in /proc/self/fd/*; do readlink $f; done', { shell: 'sh' })
      const rest = stdout.split('\n').filter((target) => target !== '' && target !== '/dev/null')
      expect(rest.filter((target) => !target.startsWith('pipe:') && !target.startsWith('/proc/'))).toEqual([])
      expect(rest.filter((target) => target.startsWith('pipe:'))).toHaveLength(2)
    })

    it('has no file of the system that could be written, and no secret of /etc', async () => {
      const targets = ['/usr/bin/x', '/etc/x', '/proc/sys/kernel/hostname', '/dev/x', '/bin/x']
      const { stdout } = await bench.run(
        `${targets.map((path) => `(echo x > ${path}) 2>/dev/null && echo ${path}`).join('; ')}; ls -A /etc/shadow /etc/ssh /etc/sudoers 2>/dev/null; true`,
      )
      expect(stdout).toBe('')
    })

    it('[PC12] shows nothing outside: neither the host path of the workspace nor its neighbours', async () => {
      await bench.file(bench.outside('secret'), 'outside secret')
      const { stdout } = await bench.run(
        `ls -d /mnt ${bench.host()} ${bench.outside()} ${bench.outside('secret')} /root /home /var /work 2>/dev/null; cat ${bench.outside('secret')} 2>/dev/null; true`,
      )
      expect(stdout).toBe('')
    })

    it('puts the programs of the workspace first on PATH, in login shells too [X5]', async () => {
      await bench.file(bench.host('node_modules/.bin/own-tool'), '#!/bin/sh\necho own\n', 0o755)
      await bench.file(bench.host('.venv/bin/other-tool'), '#!/bin/sh\necho other\n', 0o755)
      for (const login of [true, false]) {
        const { stdout } = await bench.run('own-tool; other-tool', { login })
        expect(stdout).toBe('own\nother\n')
      }
    })

    for (const program of ['python3', 'node', 'git', 'zsh', 'bash', 'perl'] as const) {
      itWith(component(program), `runs ${program}`, async () => {
        const { exitCode, stdout, stderr } = await bench.run(`${program} --version`, { login: true })
        expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
        expect(stdout).toMatch(/\d+\.\d+/)
      })
    }

    it('finds interpreters by their usual paths', async () => {
      await bench.file(bench.host('script'), '#!/usr/bin/env sh\necho "$0 ran"\n', 0o755)
      const { stdout } = await bench.run('./script; cat /etc/passwd | head -1; date +%Z')
      expect(stdout).toMatch(/^\.\/script ran\nuser:x:/)
    })
  })
}

for (const mode of modes) {
  // the root form lays an alias out in another way than a tree below a directory: both are tried in `npm test`
  const tags = mode === 'below' ? [] : tagsIn(mode)
  describeWith(needed[mode], `an alias of the root (${mode})`, { tags }, () => {
    it('repeats the whole view below an alias', async () => {
      await using bench = await Workbench.create(mode)
      await bench.file(bench.host('a.txt'), 'content\n')
      await bench.file(bench.host('.hidden/b'), 'dot\n')
      await bench.file(bench.host('masked'), 'no')
      const { stdout, stderr } = await bench.run(
        `cd /again${bench.root === '/' ? '' : bench.root} && ls -A | sort; cat a.txt; cat masked; /again/bin/sh -c "echo shell"; echo t > /again/tmp/t; cat /tmp/t; ls -A /`,
        { aliases: ['/again'], parts: [{ kind: 'mask', at: '/masked', type: 'file' }] },
      )
      expect(stdout).toContain('.hidden\na.txt\nmasked\ncontent\nshell\nt\n')
      expect(stderr).toMatch(/masked: Permission denied/)
      if (!isBelow(mode)) expect(stdout).not.toContain('again')
    })
  })
}
