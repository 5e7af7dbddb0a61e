import { isWorkspaceError } from '@ws/core'
import { component, createScratchDirectory, describeWith, itWith, ordinaryOwner } from '@ws/test-fixtures'
import { closeSync, constants, openSync, renameSync, symlinkSync } from 'node:fs'
import { chmod, chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probeLandlock } from '../../src/confine/landlock/probe.ts'
import type { LandlockRule } from '../../src/confine/types.ts'
import { confineArgv, type ConfineOptions } from '../../src/confine/loader/confine.ts'
import { sandboxProgram } from '../../src/confine/seccomp/programs.ts'
import { startProcess } from '../../src/run/start.ts'
import type { DescriptorSource } from '../../src/run/types.ts'

const isRoot = process.getuid?.() === 0
const env = { PATH: '/usr/bin:/bin' }
const owner = ordinaryOwner()
const system: LandlockRule[] = ['/usr', '/bin', '/lib', '/lib64', '/etc/ld.so.cache'].map((source) => ({
  source,
  access: ['read', 'execute'],
  optional: true,
}))
const devices: LandlockRule = { source: '/dev/null', access: ['read', 'write'] }

const sh = (script: string, options: Partial<ConfineOptions> = {}) =>
  startProcess(confineArgv({ argv: ['/bin/sh', '-c', script], env, owner, ...options })).wait()

const notRun = expect.toSatisfy((error: unknown) => isWorkspaceError(error, 'ENOEXEC'))

describeWith(component('perl'), 'the loader', () => {
  it('runs the command with its arguments, environment, status and signal, byte for byte', async () => {
    const words = ['a b', '', "'", '$HOME', '\n', '-e', 'é']
    const argv = ['/bin/sh', '-c', 'printf "%s|" "$@"; env; kill -USR2 $$', 'sh', ...words]
    const result = await startProcess(confineArgv({ argv, env: { X: 'a=b\nc', PERL5OPT: '-Mnothing' }, owner })).wait()
    expect(result).toMatchObject({ exitCode: null, signal: 'SIGUSR2' })
    expect(result.stdout.text).toContain(`${words.join('|')}|`)
    expect(result.stdout.text).toContain('X=a=b\nc\n')
  })

  it('[RP16] runs without the command’s environment: PERL5OPT, PERL5LIB and LD_PRELOAD do not reach it', async () => {
    await using scratch = await createScratchDirectory()
    await writeFile(`${scratch.path}/Evil.pm`, `open(F, '>', '${scratch.path}/ran'); 1`)
    const hostile = { ...env, PERL5OPT: '-MEvil', PERL5LIB: scratch.path }
    expect(await sh('exit 0', { env: hostile })).toMatchObject({ exitCode: 0 })
    expect(await readdir(scratch.path)).toEqual(['Evil.pm'])
  })

  it('closes every descriptor but the named ones', async () => {
    const extraFds = new Map([[7, Buffer.from('seven')]])
    for (const supervise of [false, true]) {
      const { stdout } = await sh('cat <&7; for f in /proc/$$/fd/*; do echo " ${f##*/}"; done', { extraFds, supervise })
      const numbers = stdout.text.replace('seven', '').trim().split(/\s+/).map(Number)
      // Shells keep a descriptor of their own at 10 or above, and the directory that they list.
      expect(stdout.text.startsWith('seven')).toBe(true)
      expect(numbers.filter((fd) => fd < 10 && fd !== 3)).toEqual([0, 1, 2, 7])
      expect(numbers.length).toBeLessThanOrEqual(5)
    }
  })

  it('closes them on a kernel without close_range too', async () => {
    const confined = confineArgv({
      argv: ['/bin/sh', '-c', 'for f in /proc/$$/fd/*; do echo "${f##*/}"; done'],
      env,
      owner,
    })
    const orders = Number(confined.argv.at(-1))
    const text = Buffer.from(confined.extraFds.get(orders) as Uint8Array).toString('latin1')
    const withoutCall = text.replace('n.close_range\u0003\0\0\u0000436', 'n.close_range\u0003\0\0\u0000999')
    expect(withoutCall).not.toBe(text)
    const extraFds = new Map<number, DescriptorSource>([
      ...confined.extraFds,
      [orders, Buffer.from(withoutCall, 'latin1')],
      [orders + 1, Buffer.from('leaked')],
    ])
    const { stdout } = await startProcess({ ...confined, extraFds }).wait()
    const numbers = stdout.text.trim().split('\n').map(Number)
    expect(numbers).toContain(1)
    expect(numbers).not.toContain(orders + 1)
  })

  it('leaves no signal blocked or ignored, and sets no-new-privs', async () => {
    for (const supervise of [false, true]) {
      const { stdout } = await startProcess(
        confineArgv({ argv: ['/bin/cat', '/proc/self/status'], env, owner, supervise }),
      ).wait()
      expect(stdout.text).toMatch(/SigBlk:\t0{16}\nSigIgn:\t0{16}/)
      expect(stdout.text).toMatch(/NoNewPrivs:\t1/)
    }
  })

  it('a missing or unrunnable program is ENOEXEC, also under supervision', async () => {
    for (const supervise of [false, true]) {
      const start = (program: string) => startProcess(confineArgv({ argv: [program], owner, supervise })).wait()
      await expect(start('/usr/bin/nonexistent')).rejects.toThrow('ENOEXEC: exec: the program is missing')
      await expect(start('/etc/passwd')).rejects.toThrow('EACCES')
    }
  })

  it('a wrong argument is EINVAL', () => {
    const argv = ['/bin/true']
    const wrong: ConfineOptions[] = [
      { argv: [] },
      { argv: ['true'] },
      { argv, env: { '': '' } },
      { argv, seccomp: new Uint8Array(7) },
      { argv, seccomp: new Uint8Array() },
      { argv, landlock: { rules: [{ source: 'usr', access: ['read'] }] } },
      { argv, owner: { uid: -1, gid: 0 } },
      { argv, limits: { openFiles: 1.5 } },
    ]
    for (const options of wrong)
      expect(() => confineArgv(options)).toThrow(expect.toSatisfy((error) => isWorkspaceError(error, 'EINVAL')))
  })

  it('fails closed: a filter that the kernel refuses means that nothing runs', async () => {
    await using scratch = await createScratchDirectory()
    const seccomp = new Uint8Array(8).fill(0xff)
    for (const supervise of [false, true]) {
      const run = sh(`touch ${scratch.path}/ran`, { seccomp, supervise })
      await expect(run).rejects.toThrow('confinement failed at the step `seccomp` (EINVAL)')
      await expect(run).rejects.toEqual(notRun)
    }
    expect(await readdir(scratch.path)).toEqual([])
  })

  it('fails closed: a loader that cannot even read its orders means ENOEXEC, not an exit status of the command', async () => {
    const confined = confineArgv({ argv: ['/bin/true'], env, owner })
    const broken = startProcess({ ...confined, argv: [...confined.argv.slice(0, -1), '250'] })
    await expect(broken.wait()).rejects.toThrow('its loader ended before')
  })

  it.runIf(isRoot)('drops uid, gid and groups of the command', async () => {
    for (const supervise of [false, true])
      expect((await sh('id -u; id -g; id -G', { supervise })).stdout.text).toBe('1000\n1000\n1000\n')
  })

  it.skipIf(isRoot)('an owner that this process may not become is a failure', async () => {
    await expect(sh('true', { owner: { uid: 0, gid: 0 } })).rejects.toThrow('`owner`')
  })

  it.skipIf(!isRoot)('[RP17] leaves root no capability, so that root reads its own files alone', async () => {
    await using scratch = await createScratchDirectory()
    await chmod(scratch.path, 0o755)
    for (const [name, uid] of [
      ['own', 0],
      ['other', 4242],
    ] as const) {
      await writeFile(`${scratch.path}/${name}`, `${name}\n`, { mode: 0o600 })
      await chown(`${scratch.path}/${name}`, uid, uid)
    }
    const script = `id -u; grep -h ^Cap /proc/self/status; cat ${scratch.path}/own ${scratch.path}/other`
    const { stdout, stderr } = await sh(script, { owner: undefined, dropCapabilities: true })
    const [uid, ...lines] = stdout.text.trim().split('\n')
    expect(uid).toBe('0')
    expect(lines).toContain('own')
    expect(lines).not.toContain('other')
    expect(stderr.text).toContain('Permission denied')
    for (const kind of ['CapEff', 'CapPrm', 'CapAmb']) expect(lines).toContain(`${kind}:\t0000000000000000`)
  })

  it('sets limits, and lets no core file be left', async () => {
    await using scratch = await createScratchDirectory()
    const limits = { openFiles: 64, fileBytes: 1024 * 10 }
    const { stdout } = await startProcess({
      ...confineArgv({
        argv: ['/bin/bash', '-c', 'ulimit -n; ulimit -c; head -c 20000 /dev/zero >big; kill -SEGV $$'],
        env,
        owner,
        limits,
      }),
      cwd: scratch.path,
    }).wait()
    expect(stdout.text).toBe('64\n0\n')
    expect((await readFile(`${scratch.path}/big`)).length).toBe(10_240)
    expect(await readdir(scratch.path)).toEqual(['big'])
  })
})

describeWith([component('perl'), component('landlock')], 'under Landlock', () => {
  it('the probe restricts a real process', async () => {
    const probe = await probeLandlock()
    expect(probe).toMatchObject({ available: true })
    expect(probe.abi).toBeGreaterThanOrEqual(1)
  })

  it('[RP17] reads and writes inside, and is refused outside', async () => {
    await using scratch = await createScratchDirectory()
    await writeFile(`${scratch.path}/secret`, 'secret')
    for (const [name, mode] of [
      ['in', 0o777],
      ['ro', 0o777],
    ] as const) {
      await mkdir(`${scratch.path}/${name}`)
      await chmod(`${scratch.path}/${name}`, mode)
    }
    await writeFile(`${scratch.path}/ro/f`, 'readable')
    await chmod(`${scratch.path}/ro/f`, 0o666)
    const rules: LandlockRule[] = [
      ...system,
      devices,
      { source: `${scratch.path}/in`, access: ['read', 'write', 'execute'] },
      { source: `${scratch.path}/ro`, access: ['read'] },
    ]
    const run = (script: string) =>
      startProcess({
        ...confineArgv({ argv: ['/bin/sh', '-c', script], env, owner, landlock: { rules } }),
        cwd: scratch.path,
      }).wait()
    expect(await run('echo x >in/a && mkdir in/d && mv in/a in/d/b && cat in/d/b ro/f && rm -r in/d')).toMatchObject({
      exitCode: 0,
    })
    for (const script of [
      'cat secret',
      'cat /etc/passwd',
      'ls /',
      'ls .',
      'echo x >ro/f',
      'echo x >new',
      'rm ro/f',
      'mv ro/f in/f',
      'ln ro/f in/f',
      'cat ro/../secret',
    ])
      expect((await run(script)).stderr.text, script).toMatch(/denied|cross-device/i)
    expect(await readFile(`${scratch.path}/ro/f`, 'utf8')).toBe('readable')
  })

  it('a rule by descriptor holds what was opened, whatever its name leads to later', async () => {
    await using scratch = await createScratchDirectory()
    const at = (name: string) => `${scratch.path}/${name}`
    for (const name of ['real', 'other']) {
      await mkdir(at(name))
      await writeFile(`${at(name)}/f`, name)
    }
    const fd = openSync(at('real'), constants.O_RDONLY | constants.O_DIRECTORY)
    try {
      renameSync(at('real'), at('moved'))
      symlinkSync(at('other'), at('real'))
      const landlock = { rules: [...system, { source: { fd }, access: ['read'] as const }] }
      const { stdout, stderr } = await sh(`cat ${at('moved')}/f ${at('real')}/f ${at('other')}/f`, { landlock })
      expect(stdout.text).toBe('real')
      expect(stderr.text.match(/denied/g)).toHaveLength(2)
    } finally {
      closeSync(fd)
    }
  })

  it('a rule for a missing path means that nothing runs, unless it is optional', async () => {
    const missing: LandlockRule = { source: '/nonexistent\n,x', access: ['read'] }
    await expect(sh('true', { landlock: { rules: [...system, missing] } })).rejects.toThrow('`landlock-open` (ENOENT)')
    expect(await sh('true', { landlock: { rules: [...system, { ...missing, optional: true }] } })).toMatchObject({
      exitCode: 0,
    })
    await expect(sh('true', { landlock: { rules: system, minimumAbi: 1_000 } })).rejects.toThrow('landlock-abi')
  })

  it('names with commas, newlines and spaces are paths like any other', async () => {
    await using scratch = await createScratchDirectory()
    const odd = `${scratch.path}/a, b\n'"$(x)é`
    await mkdir(odd)
    await writeFile(`${odd}/f`, 'odd')
    const argv = ['/bin/cat', `${odd}/f`]
    const confined = confineArgv({
      argv,
      env,
      owner,
      landlock: { rules: [...system, { source: odd, access: ['read'] }] },
    })
    expect((await startProcess(confined).wait()).stdout.text).toBe('odd')
  })

  it('denyTcp refuses connections, and signals to processes outside are refused where the kernel can', async () => {
    const { abi, scopes } = await probeLandlock()
    if (abi >= 4) {
      const connect = `use Socket; socket(my $s, PF_INET, SOCK_STREAM, 0); connect($s, pack_sockaddr_in(1, inet_aton("127.0.0.1"))); print $! + 0`
      const run = (denyTcp: boolean) =>
        startProcess(
          confineArgv({
            argv: ['/usr/bin/perl', '-e', connect],
            env,
            owner,
            landlock: { rules: [...system, devices], denyTcp },
          }),
        ).wait()
      expect((await run(true)).stdout.text).toBe('13')
      expect((await run(false)).stdout.text).toBe('111')
    }
    if (!scopes) return
    await using victim = startProcess({ argv: ['/bin/sleep', '60'], ...(isRoot ? owner : {}) })
    const { exitCode } = await sh(`kill -9 ${victim.pid}`, { landlock: { rules: system } })
    expect(exitCode).not.toBe(0)
  })
})

describeWith(component('perl'), 'under the seccomp program', () => {
  const perl = (code: string, options: Partial<ConfineOptions> = {}) =>
    startProcess(
      confineArgv({ argv: ['/usr/bin/perl', '-e', code], env, owner, seccomp: sandboxProgram(), ...options }),
    ).wait()
  const numbers =
    process.arch === 'x64'
      ? { unshare: 272, ptrace: 101, clone: 56, socket: 41, fchmodat: 268, mknodat: 259, openat: 257, ioctl: 16 }
      : { unshare: 97, ptrace: 117, clone: 220, socket: 198, fchmodat: 53, mknodat: 33, openat: 56, ioctl: 29 }

  it('real calls meet it after exec', async () => {
    const calls = [
      `${numbers.unshare}, 0x10000000`,
      `${numbers.ptrace}, 0, 0, 0, 0`,
      `${numbers.clone}, 0x10000011, 0, 0, 0, 0`,
      `435, 0, 0`,
      `437, 0, 0, 0, 0`,
      `425, 0, 0`,
      `${numbers.socket}, 40, 1, 0`,
      `${numbers.ioctl}, 0, 0x5412, 0`,
    ]
    const { stdout, stderr } = await perl(calls.map((call) => `$! = 0; syscall(${call}); print $! + 0, " ";`).join(''))
    expect(stderr.text).toBe('')
    expect(stdout.text.trim()).toBe('1 1 1 38 38 38 97 1')
  })

  it('no setuid file and no device can be made, ordinary modes and FIFOs can', async () => {
    await using scratch = await createScratchDirectory()
    const script =
      'touch f; chmod 755 f; chmod u+s f; chmod 2755 f; install -m 4755 f g; mknod d c 1 3; mkfifo p; perl -e \'sysopen(F, "s", 65, 04755) or print STDERR "open denied\n"\''
    const confined = confineArgv({ argv: ['/bin/sh', '-c', script], env, owner, seccomp: sandboxProgram() })
    const { stderr } = await startProcess({ ...confined, cwd: scratch.path }).wait()
    expect(stderr.text.match(/not permitted|open denied/g)?.length).toBeGreaterThanOrEqual(5)
    const find = startProcess({ argv: ['/usr/bin/find', scratch.path, '-perm', '/6000', '-o', '-type', 'c'] })
    expect((await find.wait()).stdout.text).toBe('')
    expect(await readdir(scratch.path)).toContain('p')
  })

  it('ordinary programs go on: threads, pipes, sockets, git', async () => {
    const { stdout, exitCode } = await sh(
      'seq 5 | sort -r | head -1; ls / >/dev/null; git --version >/dev/null 2>&1; node -e 0 2>/dev/null; python3 -c "import threading; t=threading.Thread(target=print,args=(7,)); t.start(); t.join()"',
      {
        seccomp: sandboxProgram(),
      },
    )
    expect([exitCode, stdout.text]).toEqual([0, '5\n7\n'])
  })

  itWith(component('bubblewrap'), 'bubblewrap loads it with --seccomp', async () => {
    const program = sandboxProgram()
    const argv = [
      '/usr/bin/bwrap',
      '--ro-bind',
      '/',
      '/',
      '--dev',
      '/dev',
      '--proc',
      '/proc',
      '--unshare-all',
      '--seccomp',
      '11',
      '--',
      '/usr/bin/perl',
      '-e',
      `syscall(${numbers.unshare}, 0x10000000); print $! + 0`,
    ]
    const { stdout, stderr } = await startProcess({
      argv,
      env,
      extraFds: new Map([[11, program]]),
      ...(isRoot ? owner : {}),
    }).wait()
    expect([stdout.text, stderr.text]).toEqual(['1', ''])
  })
})
