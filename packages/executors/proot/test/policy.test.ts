/** @module-tag all */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstat, readdir, readFile, rename, symlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'

import type { BindPlan } from '@ws/core/executor'
import { component, describeWith, itWith, makeDirectory, rounds } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { asRoot, Bench, put, request, virtual } from './support.ts'

const needed = [component('proot'), component('perl'), component('bash')]
const readOnlyMount = (path: string): BindPlan['restrictions'][number] => ({
  rule: `mount:${path}`,
  path: virtual(path),
  field: 'readOnlyMounts',
})

for (const options of [{}, { pidNamespace: 'off', landlock: 'off' }] as const) {
  const tags = 'landlock' in options ? ['deep'] : []
  describeWith(needed, `denied parts ${JSON.stringify(options)}`, { tags }, () => {
    it('are listed by their parents, and neither read, listed nor changed', async () => {
      await using bench = await Bench.create('/', options)
      await put(join(bench.workspace, 'private/key'), 'secret')
      await put(join(bench.workspace, 'private/deep/key'), 'secret')
      await put(join(bench.workspace, 'file.env'), 'secret')
      const bindPlan = bench.plan([
        { kind: 'mask', at: '/private', access: 'none' },
        { kind: 'mask', at: '/file.env', type: 'file', access: 'none' },
      ])
      expect(await bench.output('ls -A /', {}, bindPlan)).toBe('file.env\nprivate')
      const tries = [
        'cat /private/key /private/deep/key /file.env',
        'ls /private',
        'cd private && cat key',
        'echo x > /private/key',
        'echo x > /private/new',
        'echo x >> /file.env',
        'grep -r secret /',
        'cat /private/../private/key',
        'ln /file.env /copy && cat /copy',
        'cp -r /private /copied; cat /copied/key',
        'rm -rf /private/key',
      ]
      for (const command of tries) {
        const result = await bench.run(`${command}; true`, {}, bindPlan)
        expect(result.stdout, command).not.toContain('secret')
        expect(result.stderr, command).not.toBe('')
      }
      expect(await readFile(join(bench.workspace, 'private/key'), 'utf8')).toBe('secret')
      expect(await readFile(join(bench.workspace, 'file.env'), 'utf8')).toBe('secret')
      expect((await readdir(join(bench.workspace, 'private'))).sort()).toEqual(['deep', 'key'])
    })

    it('[RU9] stay denied where the host saves them anew, by any way of saving', async () => {
      await using bench = await Bench.create('/', options)
      const file = await put(join(bench.workspace, '.env'), 'secret')
      const bindPlan = bench.plan([{ kind: 'mask', at: '/.env', type: 'file', access: 'none' }])
      const command = 'echo started; until [ -e go ]; do :; done; cat .env; mv .env x; echo evil > .env'
      const running = await bench.executor.spawn(request(command), bindPlan)
      await running.stdout[Symbol.asyncIterator]().next()
      await rename(await put(`${file}.new`, 'secret too'), file)
      await rename(file, `${file}~`)
      await put(file, 'secret again')
      await put(join(bench.workspace, 'go'))
      const { stdout, violations } = await running.wait()
      expect({ stdout, violations }).toEqual({ stdout: 'started\n', violations: undefined })
      expect(await readFile(file, 'utf8')).toBe('secret again')
    })

    it('stay denied at every alias, also when the command tries to open them', async () => {
      await using bench = await Bench.create('/', options)
      await put(join(bench.workspace, 'private/key'), 'secret')
      await put(join(bench.workspace, 'open'), 'open')
      const bindPlan = bench.plan([{ kind: 'mask', at: '/private', access: 'none' }], {
        aliases: [virtual('/workspace')],
      })
      expect(await bench.output('cat /workspace/open; ls -A /; cd /workspace && ls -A .', {}, bindPlan)).toBe(
        'openopen\nprivate\nopen\nprivate',
      )
      const tries =
        'chmod 755 /private /workspace/private; cat /workspace/private/key /private/key; ls /workspace/private/key'
      const result = await bench.run(tries, {}, bindPlan)
      expect(result.stdout).not.toContain('secret')
      expect(result.exitCode).not.toBe(0)
      if (asRoot) expect(result.stderr).toContain('changing permissions')
      expect(
        await bench.output('/workspace/usr/bin/id -un && cat /workspace/etc/debian_version >/dev/null', {}, bindPlan),
      ).toBe('user')
    })

    it('can hold a part that is allowed: passed through, not listed', async () => {
      await using bench = await Bench.create('/', options)
      await put(join(bench.workspace, 'private/key'), 'secret')
      const source = await makeDirectory(join(bench.workspace, 'private/deep/shared'))
      const bindPlan = bench.plan([
        { kind: 'closed', at: '/private', access: 'none' },
        { kind: 'subtree', at: '/private/deep/shared', source },
      ])
      await bench.output('echo in > /private/deep/shared/file; cd /private/deep/shared && cat file', {}, bindPlan)
      expect(await readdir(source)).toEqual(['file'])
      for (const command of ['cat /private/key', 'ls /private', 'touch /private/x', 'ls /private/deep']) {
        const result = await bench.run(command, {}, bindPlan)
        expect(result.exitCode, command).not.toBe(0)
        expect(result.stdout, command).toBe('')
      }
    })

    it('[RP18] that do not exist leave nothing on disk, and stay denied when they are made', async () => {
      await using bench = await Bench.create('/', options)
      const bindPlan = bench.plan([{ kind: 'mask', at: '/later', access: 'none' }])
      const result = await bench.run('mkdir -p /later; echo x > /later/file; ls -A /', {}, bindPlan)
      expect(result.stderr).toContain('ermission denied')
      expect(await readdir(bench.workspace)).toEqual([])
    })
  })
}

describeWith([...needed, component('landlock')], 'a read-only mount under Landlock', () => {
  const attacks = [
    'echo evil > /skills/tool',
    'echo evil >> /skills/tool',
    'truncate -s 0 /skills/tool',
    'rm -f /skills/tool',
    'rm -rf /skills/deep',
    'mv /skills/tool /stolen',
    'mv /skills/tool /skills/other',
    'cp /bin/true /skills/tool',
    'ln -f /new /skills/tool',
    'ln -s /new /skills/link',
    'mkdir /skills/dir',
    'mv /new /skills/new',
    'rmdir /skills',
    'mv /skills /away',
    'dd if=/dev/zero of=/skills/tool bs=1 count=1 conv=notrunc',
    'sed -i s/good/evil/ /skills/tool',
    'touch /skills/fresh',
    'cd /skills/deep && echo evil > ../tool',
    'python3 -c "import os; os.truncate(\\"/skills/tool\\", 0)"',
    'python3 -c "import os, mmap; f = os.open(\\"/skills/tool\\", os.O_RDWR)"',
  ]

  it('[RP17] keeps its content and names against any command', async () => {
    await using bench = await Bench.create('/')
    const skills = await makeDirectory(bench.outside('skills'))
    await put(join(skills, 'tool'), '#!/bin/sh\necho good')
    await put(join(skills, 'deep/file'), 'good')
    await put(join(bench.workspace, 'new'), 'new')
    await makeDirectory(join(bench.workspace, 'skills'))
    const bindPlan = bench.plan([{ at: '/skills', source: skills, access: 'read-only' }], {
      restrictions: [readOnlyMount('/skills')],
    })
    expect(bench.executor.guarantees.readOnlyMounts).toBe('kernel')
    expect(await bench.output('ls /skills; cat /skills/tool; sh /skills/tool', {}, bindPlan)).toBe(
      'deep\ntool\n#!/bin/sh\necho goodgood',
    )
    for (const command of attacks) {
      const result = await bench.run(command, {}, bindPlan)
      expect(result.exitCode, command).not.toBe(0)
      expect(result.stderr, command).toMatch(/ermission denied|Read-only|cross-device|busy|Directory not empty/)
    }
    expect(await readFile(join(skills, 'tool'), 'utf8')).toBe('#!/bin/sh\necho good')
    expect((await readdir(skills)).sort()).toEqual(['deep', 'tool'])
    // A copy of its own belongs to the command.
    await bench.output('cp /skills/tool /mine && echo more >> /mine', {}, bindPlan)
    // A hard link would give a second name: Landlock looks at the rights of both directories.
    const linked = await bench.run('ln /skills/tool /linked && echo evil >> /linked', {}, bindPlan)
    expect(linked.exitCode).not.toBe(0)
    expect(await readFile(join(skills, 'tool'), 'utf8')).toBe('#!/bin/sh\necho good')
  })

  itWith(
    component('bash'),
    'does not keep modes and times of files of the command’s own uid, as the README says',
    async () => {
      await using bench = await Bench.create('/')
      const skills = await makeDirectory(bench.outside('skills'))
      const own = await put(join(skills, 'own'), 'good')
      await makeDirectory(join(bench.workspace, 'skills'))
      const bindPlan = bench.plan([{ at: '/skills', source: skills, access: 'read-only' }])
      await utimes(own, 1, 1)
      await bench.run('chmod 600 /skills/own; touch -d 2001-01-01 /skills/own', {}, bindPlan)
      expect((await lstat(own)).mode & 0o777).toBe(0o600)
      expect((await lstat(own)).mtimeMs).not.toBe(1000)
      if (!asRoot) return
      const { chmod, writeFile } = await import('node:fs/promises')
      const foreign = join(skills, 'foreign')
      await writeFile(foreign, 'good')
      await chmod(foreign, 0o644)
      const result = await bench.run('chmod 666 /skills/foreign; touch -d 2001-01-01 /skills/foreign', {}, bindPlan)
      expect(result.stderr.match(/not permitted|ermission denied/g)?.length).toBe(2)
      expect((await lstat(foreign)).mode & 0o777).toBe(0o644)
    },
  )

  it('[RP17] is refused when a writable root lies around it, by any path', async () => {
    await using bench = await Bench.create('/')
    const inner = await makeDirectory(join(bench.workspace, 'skills'))
    const bindPlan = bench.plan([{ at: '/skills', source: inner, access: 'read-only' }], {
      restrictions: [readOnlyMount('/skills')],
    })
    await expect(bench.run('true', {}, bindPlan)).rejects.toMatchObject({
      code: 'EUNENFORCEABLE',
      path: '/skills',
      rule: 'mount:/skills',
    })
    // Acknowledged: the plan does not ask for it any more.
    await bench.output('true', {}, { ...bindPlan, restrictions: [] })
  })
})

describeWith(needed, 'a read-only mount without Landlock', () => {
  it('[RP17] is refused, and the guarantee says that it is not held', async () => {
    await using bench = await Bench.create('/', { landlock: 'off' })
    expect(bench.executor.guarantees.readOnlyMounts).toBe('none')
    const skills = await makeDirectory(bench.outside('skills'))
    await makeDirectory(join(bench.workspace, 'skills'))
    const bindPlan = bench.plan([{ at: '/skills', source: skills, access: 'read-only' }], {
      restrictions: [readOnlyMount('/skills')],
    })
    await expect(bench.run('true', {}, bindPlan)).rejects.toMatchObject({ code: 'EUNENFORCEABLE' })
  })
})

describeWith(needed, 'binds', () => {
  it('are refused when a source or a destination runs through a link', async () => {
    await using bench = await Bench.create('/')
    const real = await makeDirectory(bench.outside('real/dir'))
    await symlink(bench.outside('real'), bench.outside('link'))
    await makeDirectory(join(bench.workspace, 'mnt'))
    await symlink(bench.outside('real'), join(bench.workspace, 'out'))
    const cases = [
      bench.plan([{ at: '/mnt', source: bench.outside('link') }]),
      bench.plan([{ at: '/mnt', source: bench.outside('link/dir') }]),
      bench.plan([{ at: '/out', source: real }]),
      bench.plan([{ at: '/out/dir', source: real }]),
      bench.plan([{ kind: 'mask', at: '/out/dir', access: 'none' }]),
      bench.plan([{ at: '/missing', source: real }]),
    ]
    for (const bindPlan of cases) await expect(bench.run('true', {}, bindPlan)).rejects.toMatchObject({ code: 'EBUSY' })
    expect(await readdir(bench.workspace)).toEqual(['mnt', 'out'])
    expect(await readdir(real)).toEqual([])
  })

  it('take names with colons, quotes, spaces, exclamation marks and newlines', async () => {
    await using bench = await Bench.create('/')
    for (const name of ['a:b', 'c!', "d'e f", 'g\nh', '$HOME', '-r', 'ünï']) {
      const source = await makeDirectory(bench.outside(`source ${name}`))
      await put(join(source, 'file'), name)
      await makeDirectory(join(bench.workspace, name))
      const bindPlan = bench.plan([{ at: `/${name}`, source }])
      expect(await bench.output('cat "$NAME/file"', { env: { NAME: `/${name}` } }, bindPlan), name).toBe(name)
    }
  })

  itWith(component('landlock'), 'never show what a source is exchanged for while a command starts', async () => {
    await using bench = await Bench.create('/')
    const secret = await makeDirectory(bench.outside('secret'))
    await put(join(secret, 'file'), 'secret')
    const source = await makeDirectory(bench.outside('source'))
    await put(join(source, 'file'), 'shown')
    await makeDirectory(join(bench.workspace, 'mnt'))
    await symlink(secret, bench.outside('link'))
    const exchange = `
      import ctypes, sys
      libc = ctypes.CDLL(None)
      a, b = (path.encode() for path in sys.argv[1:3])
      print('up', flush=True)
      while True: libc.renameat2(-100, a, -100, b, 2)`.replaceAll('\n      ', '\n')
    const racer = spawn('python3', ['-c', exchange, source, bench.outside('link')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const seen = { shown: 0, refused: 0, denied: 0 }
    try {
      await once(racer.stdout, 'data')
      for (const _ of rounds({ quick: 8, seconds: 5 })) {
        const bindPlan = bench.plan([{ at: '/mnt', source }])
        const result = await bench.run('cat /mnt/file; echo x >> /mnt/file', {}, bindPlan).catch((error: unknown) => {
          expect(error).toMatchObject({ code: 'EBUSY' })
          return undefined
        })
        expect(result?.stdout ?? '').not.toContain('secret')
        if (result === undefined) seen.refused++
        else if (result.stdout.startsWith('shown')) seen.shown++
        else seen.denied++
      }
    } finally {
      racer.kill('SIGKILL')
      await once(racer, 'exit')
    }
    expect(await readFile(join(secret, 'file'), 'utf8')).toBe('secret')
    expect(seen.refused + seen.denied).toBeGreaterThan(0)
    // With the exchange over, everything works again.
    if ((await lstat(source)).isSymbolicLink()) await rename(bench.outside('link'), source).catch(() => undefined)
  })
})
