/** @module-tag all */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { component, describeWith, makeDirectory } from '@ws/test-fixtures'
import { afterAll, beforeAll, expect, it } from 'vitest'

import { asRoot, Bench, owner, put, virtual } from './support.ts'

const needed = [component('proot'), component('perl'), component('bash')]
const all = [
  { root: '/', options: {} },
  { root: '/workspace', options: { pidNamespace: 'off' } },
  { root: '/', options: { pidNamespace: 'off', landlock: 'off' } },
  { root: '/workspace', options: {} },
  { root: '/', options: { pidNamespace: 'off' } },
  { root: '/workspace', options: { pidNamespace: 'off', landlock: 'off' } },
] as const
/** The usual one in `npm test`; the others in the deep tier. */
const configurations = all.map((one, index) => ({ ...one, tags: index === 0 ? [] : ['deep'] }))

for (const { root, options, tags } of configurations) {
  describeWith(needed, `a command in the view at ${root} ${JSON.stringify(options)}`, { tags }, () => {
    let bench: Bench
    const at = (path: string) => (root === '/' ? path : root + path)
    beforeAll(async () => {
      bench = await Bench.create(root, options)
      await put(join(bench.workspace, 'hello.txt'), 'hello')
      await put(join(bench.workspace, '.dot/inner.js'), 'console.log("from node", __filename)')
    })
    afterAll(() => bench[Symbol.asyncDispose]())

    it('[RP4][RP9] starts in the root, which is HOME, as USER=user of the owner’s uid', async () => {
      const shown = await bench.output('echo "$HOME|$PWD|$USER|$(pwd -P)|$(id -u)|$(id -un)"')
      expect(shown).toBe(`${root}|${root}|user|${root}|${owner.uid}|user`)
    })

    it('[PC5][RP18] lists exactly the workspace’s entries, and leaves none on disk', async () => {
      const before = await readdir(bench.workspace)
      expect((await bench.output(`ls -A ${root}`)).split('\n').sort()).toEqual([...before].sort())
      await bench.run('kill -9 $$')
      expect(await readdir(bench.workspace)).toEqual(before)
      expect(before.sort()).toEqual(['.dot', 'hello.txt'])
    })

    it('[PC7] reads and writes the files of the workspace', async () => {
      await bench.output(`cd ${at('/.dot')} && cat ../hello.txt > copy && printf more >> ${at('/.dot/copy')}`)
      expect(await readFile(join(bench.workspace, '.dot/copy'), 'utf8')).toBe('hellomore')
      expect((await stat(join(bench.workspace, '.dot/copy'))).uid).toBe(owner.uid)
    })

    it('shows the metadata of the workspace’s file, not that of the host’s file of the same name', async () => {
      const { ino, size } = await stat(join(bench.workspace, 'hello.txt'))
      expect(await bench.output(`stat -c '%i %s' ${at('/hello.txt')}`)).toBe(`${ino} ${size}`)
      expect(await bench.output(`ls -l ${at('/hello.txt')}`)).toContain(` ${size} `)
      const missing = await bench.run(`stat ${bench.workspace}/hello.txt`)
      expect(missing.stderr).toContain('No such file or directory')
    })

    it('[PC12][PC19][RP6] does not show what is outside, by any way up', async () => {
      await put(bench.outside('secret/file'), 'secret')
      for (const path of [
        '/mnt/r2',
        '/root',
        '/home',
        `${bench.outside('secret')}`,
        '../secret',
        '../../../../secret',
      ]) {
        const result = await bench.run(`ls -A ${path}`)
        expect(result.stderr, path).toContain('No such file or directory')
      }
      expect(await bench.output('cd ../../.. && ls -A')).toBe(await bench.output('ls -A /'))
    })

    it('[RP16] has a clean environment, and nothing of it can be found in that of the tracer', async () => {
      process.env['WS_TEST_SECRET'] = 'parent-secret'
      try {
        const shown = await bench.output(
          'env; cat /proc/*/environ /proc/self/environ 2>/dev/null | tr "\\0" "\\n"; true',
          {
            env: { GIVEN: 'yes' },
          },
        )
        expect(shown).toContain('GIVEN=yes')
        expect(shown).not.toContain('parent-secret')
        expect(await bench.output('env | grep -c PROOT || true')).toBe('0')
      } finally {
        delete process.env['WS_TEST_SECRET']
      }
    })

    it('[RP20] has /tmp and /dev/shm of its own', async () => {
      const scratch = await makeDirectory(bench.outside('scratch'))
      const bindPlan = bench.plan([{ kind: 'scratch', at: '/tmp', source: scratch }])
      expect(await bench.output('echo a > /tmp/a; echo b > /dev/shm/b; ls /tmp /dev/shm', {}, bindPlan)).toBe(
        '/dev/shm:\nb\n\n/tmp:\na',
      )
      expect(await readdir(scratch)).toEqual(['a'])
      expect(await bench.output('ls -A /dev/shm')).toBe('')
    })

    it('cannot write to the system or, above a mount, to the root', async () => {
      for (const path of ['/usr/x', '/etc/passwd', '/bin/x', ...(root === '/' ? [] : ['/x'])]) {
        const result = await bench.run(`echo x > ${path}`)
        expect(result.exitCode, path).not.toBe(0)
        // Without Landlock the uid alone protects them: it differs only where this runs as root.
        if (asRoot) expect(result.stderr, path).toMatch(/Permission denied|Read-only file system/)
      }
      expect(await bench.output('id -u')).toBe(String(owner.uid))
    })

    it('hands no descriptor of this process or of its own to the command', async () => {
      expect(await bench.output(`perl -e 'for (3..255) { print "$_ " if open(my $f, "<&$_") }'`)).toBe('')
    })

    it('refuses a directory that commands cannot enter', async () => {
      await expect(bench.run('true', { cwd: virtual(at('/nowhere')) })).rejects.toMatchObject({ code: 'ENOEXEC' })
    })

    it('carries an over-long command', async () => {
      const long = `echo start; : ${'x'.repeat(300_000)}; cat; echo end`
      expect(await bench.output(long, { stdin: 'input\n' })).toBe('start\ninput\nend')
    })
  })

  const programs = ['python3', 'node', 'git', 'zsh'] as const
  describeWith(
    [...needed, ...programs.map(component)],
    `programs in the view at ${root} ${JSON.stringify(options)}`,
    { tags },
    () => {
      it('[LS9] python, node, git, bash and zsh work on the workspace', async () => {
        await using bench = await Bench.create(root, options)
        await put(
          join(bench.workspace, 'x.js'),
          'console.log(__filename, require("fs").statSync(__filename).size > 10)',
        )
        await put(
          join(bench.workspace, 'x.py'),
          'import os; print(os.path.abspath(__file__), os.path.getsize(__file__) > 10)',
        )
        const prefix = root === '/' ? '' : root
        expect(await bench.output(`node ${prefix}/x.js; python3 ${prefix}/x.py`)).toBe(
          `${prefix}/x.js true\n${prefix}/x.py True`,
        )
        // Without Landlock and PID namespace there is no /proc to ask.
        if (!('landlock' in options)) expect(await bench.output('node -p process.execPath')).toBe('/usr/bin/node')
        const git =
          'git init -q . && git -c user.name=a -c user.email=a@b add -A && git -c user.name=a -c user.email=a@b commit -qm one'
        expect(await bench.output(`${git} && git log --format=%s && git status --short`)).toBe('one')
        expect(await bench.output('print -r -- $ZSH_NAME', { shell: 'zsh' })).toBe('zsh')
        expect(await bench.output('echo $((6 * 7)) | cat -; [[ a == a ]] && echo bash')).toBe('42\nbash')
        expect(await bench.output('python3 -c "import multiprocessing as m; m.Lock(); print(1)"')).toBe('1')
      })
    },
  )
}
