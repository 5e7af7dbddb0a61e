import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { chmod, readdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'

import { isWorkspaceError, rules } from '@ws/core'
import { createSanitizeExecutor } from '@ws/executor-sanitize'
import { component, describeWith, itWith } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { lacksOf, unreadable } from '../src/lacks.ts'
import { refusedBuiltins, trustedBuiltins } from '../src/programs/builtins.ts'
import { judgedPrograms } from '../src/programs/index.ts'
import { asRoot, openSite, owner, put, secret } from './support.ts'

const trusting = () => createSanitizeExecutor({ trustPrograms: 'all' })

describe('what it says of itself', () => {
  itWith(
    component('landlock'),
    '[PC13] file content and read-only mounts are `kernel` under Landlock, and nothing else is held',
    async () => {
      const { available, guarantees, details } = await createSanitizeExecutor().probe({ owner })
      expect(available).toBe(true)
      const { fileContent, readOnlyMounts, ...rest } = guarantees
      expect([fileContent, readOnlyMounts, ...new Set(Object.values(rest))]).toEqual(['kernel', 'kernel', 'none'])
      expect(details.landlock).toMatch(/^ABI \d+$/)
    },
  )

  it('names for models the programs that it runs, and the forms that it refuses', async () => {
    await using site = await openSite({ executor: createSanitizeExecutor({ trustPrograms: ['make'] }) })
    const lacks = site.workspace.executor?.lacks ?? ''
    expect(lacks).toMatch(/^[^.\n]+\(.*\)[^.\n]+\.$/u)
    for (const form of unreadable) {
      expect(lacks).toContain(`\`${form}\``)
      expect({ form, ...(await site.refusal(form)) }).toMatchObject({ form, code: 'EUNENFORCEABLE' })
    }
    for (const name of [...judgedPrograms, 'make']) expect(lacks.split(/[ ,]+/)).toContain(name)
    expect(lacksOf({ trust: 'all' })).not.toContain('runs only')
  })

  it('[PC13] without Landlock nothing at all', async () => {
    const { available, guarantees } = await createSanitizeExecutor({ landlock: 'off' }).probe({ owner })
    expect(available).toBe(true)
    expect([...new Set(Object.values(guarantees))]).toEqual(['none'])
  })

  it('[PC13] a workspace with rules that it cannot hold refuses commands, until they are acknowledged', async () => {
    await using site = await openSite({
      executor: createSanitizeExecutor(),
      files: { 'a.txt': 'a\n' },
      rules: [rules.readOnly('/a.txt', { name: 'keep' })],
    })
    expect(await site.refusal('cat /a.txt')).toMatchObject({
      code: 'EUNENFORCEABLE',
      message: expect.stringContaining('keep'),
    })
    expect((await site.run('cat /a.txt', { acknowledge: ['keep'] })).stdout).toBe('a\n')
  })

  it('refuses options without a meaning', () => {
    for (const options of [
      { trust: [] },
      { trustPrograms: 'git' },
      { trustPrograms: ['../x'] },
      { trustPrograms: ['a b'] },
      { landlock: 'on' },
      { env: ['A=1'] },
    ]) {
      expect(() => createSanitizeExecutor(options as never)).toThrow(/EINVAL: createSanitizeExecutor/)
    }
  })

  it('never runs as uid 0', async () => {
    const view = { root: '/' as never, owner: { uid: 0, gid: 0 }, files: {} as never }
    await expect(createSanitizeExecutor().attach(view)).rejects.toMatchObject({ code: 'ENOEXECUTOR' })
    await using site = await openSite({ executor: createSanitizeExecutor({ trustPrograms: ['id'] }) })
    expect((await site.run('id -u')).stdout).toBe(`${owner.uid}\n`)
  })
})

describe('the shell', () => {
  it('[X8] is not a login shell and reads no start-up file, even if asked to', async () => {
    const files = Object.fromEntries(
      ['.bash_profile', '.bashrc', '.profile', '.bash_login'].map((name) => [name, 'echo started\n']),
    )
    await using site = await openSite({ executor: createSanitizeExecutor(), files })
    for (const login of [true, false])
      for (const shell of ['bash', 'sh']) expect((await site.run('echo only', { login, shell })).stdout).toBe('only\n')
    expect(
      (await site.run('shopt -q login_shell || echo none', { login: true }).catch(() => ({ stdout: 'refused' })))
        .stdout,
    ).toBe('refused')
  })

  it('refuses shells that read a line in another way', async () => {
    await using site = await openSite({ executor: createSanitizeExecutor() })
    const shells = ['zsh', 'fish'].filter((name) => component(name as 'zsh').available)
    for (const shell of shells)
      expect(await site.refusal('ls', { shell })).toMatchObject({
        code: 'EINVAL',
        message: expect.stringMatching(/bash.*sh.*dash/),
      })
    expect(await site.refusal(`cat $'\\x61.txt'`, { shell: 'sh' })).toMatchObject({ code: 'EUNENFORCEABLE' })
  })

  it('[LS9] pipes, redirections and chains work; 127 only when a program is missing', async () => {
    await using site = await openSite({ executor: createSanitizeExecutor(), files: { 'a.txt': 'x\ny\n' } })
    expect((await site.run('cat /a.txt | tail -n 1 > /b.txt && cat /b.txt || echo no')).stdout).toBe('y\n')
    expect((await site.run('no-such-program')).exitCode).toBe(127)
  })

  it('[LS5] takes arrays, quoted for the shell and mapped', async () => {
    await using site = await openSite({ executor: createSanitizeExecutor(), files: { "it's $x.txt": 'odd\n' } })
    expect((await site.workspace.exec(['cat', "/it's $x.txt"])).stdout).toBe('odd\n')
    expect((await site.workspace.exec({ 'command.0': 'cat', 'command.1': "/it's $x.txt" })).stdout).toBe('odd\n')
  })

  it('has a clean environment; HOME, PWD and TMPDIR can be used and come back as paths of the workspace', async () => {
    const executor = createSanitizeExecutor({ trustPrograms: ['printenv'] })
    await using site = await openSite({ executor, files: { 'docs/a.txt': 'a\n' } })
    process.env['WS_SANITIZE_SECRET'] = 'of the parent'
    try {
      const { stdout } = await site.run('printenv')
      expect(stdout).not.toContain('of the parent')
      expect(stdout).toMatch(/^HOME=\/$/m)
      expect(stdout).toMatch(/^PWD=\/$/m)
      expect(stdout).toMatch(/^TMPDIR=\/tmp$/m)
      expect(stdout).not.toContain(site.outside)
    } finally {
      delete process.env['WS_SANITIZE_SECRET']
    }
    expect((await site.run('cat "$HOME/docs/a.txt"; pwd', { cwd: '/docs', env: { X: '/a' } })).stdout).toBe(
      'a\n/docs\n',
    )
    const env = { X: '/docs/a.txt' }
    expect((await site.run('echo "$X"; cat "$X"', { env })).stdout).toBe('/docs/a.txt\na\n')
    expect(await site.refusal('X=b; cat "$X"', { env })).toMatchObject({
      code: 'EUNENFORCEABLE',
      message: expect.stringContaining('"$X"'),
    })
    for (const line of [`sed -e $X 'w ../x' a.txt`, 'grep -v -e $X -m ../secret.txt', 'cat $X ../secret.txt'])
      expect(await site.refusal(line, { env: { X: '' } })).toMatchObject({ code: 'EUNENFORCEABLE' })
    for (const name of ['BASH_ENV', 'PATH', 'LD_PRELOAD', 'IFS']) {
      expect(await site.refusal('ls', { env: { [name]: 'x' } })).toMatchObject({
        code: 'EINVAL',
        message: expect.stringContaining(name),
      })
    }
  })
})

describe('mounts', () => {
  it('[PC9] each has its own place on this machine, by the longest match', async () => {
    await using site = await openSite({
      executor: createSanitizeExecutor(),
      files: { 'a.txt': 'a\n', 'skills/readme.md': 'beside\n' },
      mount: { at: '/skills/system', files: { 's.md': 'skill\n' } },
    })
    expect((await site.run('cat /skills/system/s.md /skills/readme.md; ls /skills/system')).stdout).toBe(
      'skill\nbeside\ns.md\n',
    )
    expect((await site.run('cd /skills/system && pwd && cat /a.txt && cp s.md /copied.md && cat /nope')).stderr).toBe(
      'cat: /nope: No such file or directory\n',
    )
    expect((await site.run('find /skills/system -type f')).stdout).toBe('/skills/system/s.md\n')
    for (const command of [
      'cat skills/system/s.md',
      'grep -r x /',
      'find /skills -type f',
      'cd /skills/system && cat ../readme.md',
      'rm -r /skills',
      'cat /*/*/*.md',
    ]) {
      expect({ command, ...(await site.refusal(command)) }).toMatchObject({ command, code: 'EUNENFORCEABLE' })
    }
  })

  itWith(
    component('landlock'),
    '[RP17] that are read-only are read, and no program changes their content or names',
    async () => {
      await using site = await openSite({
        executor: createSanitizeExecutor({ trustPrograms: 'all' }),
        files: { 'a.txt': 'a\n' },
        mount: { at: '/skills/system', access: 'read-only', files: { 's.md': 'skill\n' } },
      })
      expect((await site.run('cat /skills/system/s.md > /copied.md; cat /copied.md /a.txt')).stdout).toBe('skill\na\n')
      const place = join(site.outside, 'mounted')
      for (const change of [
        'open(p, "a")',
        'os.unlink(p)',
        'os.rename(p, q)',
        'os.link(p, "h"); open("h", "a")',
        'os.truncate(p, 0)',
      ]) {
        const program = `import os; p = "${place}/s.md"; q = "${site.directory}/q"; ${change}`
        const { exitCode, stderr } = await site.run(`python3 -c '${program}'`)
        expect({ change, exitCode }).toEqual({ change, exitCode: 1 })
        expect(stderr).toMatch(/Permission denied|Invalid cross-device link/)
      }
      expect(await readdir(place)).toEqual(['s.md'])
      expect(await readFile(join(place, 's.md'), 'utf8')).toBe('skill\n')
    },
  )

  it('[PC9] at /workspace paths lose the mount’s place, and what is above is outside', async () => {
    await using site = await openSite({
      executor: createSanitizeExecutor(),
      root: '/workspace',
      files: { 'a.txt': 'a\n', 'lib/b.txt': 'b\n' },
    })
    const { stdout } = await site.run(
      'cat /workspace/a.txt /workspace//lib/../lib/b.txt; echo "$HOME $PWD"; echo /workspace/*.txt; ls "/workspace/lib"',
    )
    expect(stdout).toBe('a\nb\n/workspace /workspace\n/workspace/a.txt\nb.txt\n')
    expect((await site.run('cd lib && cat ../a.txt && cat /workspace/nope')).stderr).toBe(
      'cat: /workspace/nope: No such file or directory\n',
    )
    expect((await site.run('cd lib && pwd; echo hi > /tmp/x; cat /tmp/x')).stdout).toBe('/workspace/lib\nhi\n')
    for (const command of [
      'ls /',
      'cat /home/x',
      'cat /a.txt',
      'cd /',
      'cat /workspace/../x',
      'cd / && ls',
      'echo "${PWD}x"',
      'f=lib; ls "/workspace/$f"',
    ]) {
      expect({ command, ...(await site.refusal(command)) }).toMatchObject({ command, code: 'EUNENFORCEABLE' })
    }
  })

  it('refuses a directory of this machine whose name programs would print in other ways', async () => {
    for (const name of ["it's", 'a b', 'ünï', '$x']) {
      await using site = await openSite({ executor: createSanitizeExecutor(), name })
      const { code, message } = await site.refusal('pwd')
      expect(code).toBe('EUNENFORCEABLE')
      expect(message).not.toContain(site.outside)
    }
    await using site = await openSite({
      executor: createSanitizeExecutor(),
      name: 'a.b-c_d@1+2,3:4',
      files: { 'a.txt': 'a\n' },
    })
    expect((await site.run('cat /a.txt; echo /*; pwd')).stdout).toBe('a\n/a.txt\n/\n')
  })
})

describeWith([component('python3'), component('git')], 'trusted programs', () => {
  it('run by name; their code and messages stay byte for byte', async () => {
    const executor = createSanitizeExecutor({ trustPrograms: ['git', 'python3', '/run.sh'] })
    const files = {
      'a.txt': 'a\n',
      'run.sh': '#!/bin/sh\necho "ran $1"\n',
      'other.sh': '#!/bin/sh\n',
      'show.py': 'import sys\nprint(sys.argv[1], open(sys.argv[1]).read(), end="")\n',
    }
    await using site = await openSite({ executor, files })
    expect((await site.run('python3 /show.py /a.txt')).stdout).toBe('/a.txt a\n')
    expect((await site.run(`python3 -c 'print("/a.txt")'`)).stdout).toBe('/a.txt\n')
    const commit =
      'git init -q /repo && cd /repo && cp /a.txt . && git add . && git -c user.name=a -c user.email=a@b commit -qm "/a.txt: add" && git log --format=%s'
    expect((await site.run(commit)).stdout).toBe('/a.txt: add\n')
    expect((await site.run('/run.sh /a.txt; ./run.sh x')).stdout).toBe('ran /a.txt\nran x\n')
    expect(await site.refusal('./other.sh')).toMatchObject({
      code: 'EUNENFORCEABLE',
      message: expect.stringContaining('trustPrograms'),
    })
    expect(await site.refusal('perl -e 1')).toMatchObject({ code: 'EUNENFORCEABLE' })
  })

  it('[EX1] a refusal names the program, the option and the executors; no remedy is one that does not help', async () => {
    const files = { 's.sh': '#!/bin/sh\necho "script $1"\n', 'docs/t.sh': '#!/bin/sh\ncat "$1"\n', 'a.txt': 'a\n' }
    const some = createSanitizeExecutor({ trustPrograms: ['/s.sh', 'awk'] })
    for (const executor of [trusting(), some]) {
      await using site = await openSite({ executor, files })
      expect((await site.run(`./s.sh x; cd docs && /s.sh y; awk '/a/ { print "awk" }' /a.txt`)).stdout).toBe(
        'script x\nscript y\nawk\n',
      )
      for (const command of ['source s.sh', '. ./s.sh', 'eval ls', 'for i in 1; do ls; done', 'f() { ls; }; f']) {
        const { code, message } = await site.refusal(command)
        expect({ command, code }).toEqual({ command, code: 'EUNENFORCEABLE' })
        expect(message).not.toContain('trustPrograms')
      }
    }
    await using all = await openSite({ executor: trusting(), files })
    expect((await all.run('sh /docs/t.sh /a.txt')).stdout).toBe('a\n')
    await using one = await openSite({ executor: some, files })
    for (const [command, name] of [
      ['sh docs/t.sh', 'sh'],
      ['seq 3 | xargs cat', 'seq'],
      ['kill 1', 'kill'],
    ] as const) {
      const { code, message } = await one.refusal(command)
      expect(code).toBe('EUNENFORCEABLE')
      expect(message).toContain(`name \`${name}\` in \`trustPrograms\`, or take another executor: bubblewrap or proot`)
      expect(message).toMatch(new RegExp(`or virtual, if it has \`${name}\`$`))
    }
    expect((await one.refusal('docs/t.sh')).message).toContain('trustPrograms')
  })

  it('[EX1] no builtin of a shell is taken for a program', async () => {
    await using site = await openSite({ executor: trusting() })
    const builtins = spawnSync('bash', ['-c', 'compgen -b'], { encoding: 'utf8' }).stdout.trim().split('\n')
    const known = new Set([...judgedPrograms, ...trustedBuiltins])
    expect(builtins.length).toBeGreaterThan(50)
    expect(builtins.filter((name) => !known.has(name) && !refusedBuiltins.has(name))).toEqual([])
    for (const name of refusedBuiltins) expect((await site.refusal(`${name} x`)).code).toMatch(/EUNENFORCEABLE|EINVAL/)
  })

  it('[EX1] arguments of a program without a grammar are not judged where all are trusted; others are', async () => {
    await using site = await openSite({ executor: createSanitizeExecutor({ trustPrograms: 'all', landlock: 'off' }) })
    expect((await site.run('dd if=../secret.txt 2>/dev/null')).stdout).toBe(`${secret}\n`)
    expect(await site.refusal('cat ../secret.txt')).toMatchObject({ code: 'EUNENFORCEABLE' })
    if (!component('landlock').available) return
    await using held = await openSite({ executor: trusting() })
    expect(await held.run('dd if=../secret.txt')).toMatchObject({ exitCode: 1, stdout: '' })
  })

  it('[PC9] a path of the workspace inside of an argument is mapped behind `name=`, and refused elsewhere', async () => {
    const files = { 'sub/Makefile': 'all:\n\t@echo made\n', 'show.sh': '#!/bin/sh\necho "$@"\n', 'a.txt': 'a\n' }
    await using site = await openSite({ executor: trusting(), files })
    const glued = [
      '-C/sub',
      '-f/sub/Makefile',
      'CFLAGS=-I/sub',
      'x:/sub',
      '-Wl,/sub',
      '@/sub/Makefile',
      'A=/sub:/a.txt',
    ]
    for (const argument of glued)
      expect({ argument, ...(await site.refusal(`/show.sh ${argument}`)) }).toMatchObject({
        argument,
        code: 'EUNENFORCEABLE',
        message: expect.stringContaining('as two words'),
      })
    expect((await site.run('/show.sh PREFIX=/sub --file=/a.txt http://host/sub -I/usr/include a/b')).stdout).toBe(
      'PREFIX=/sub --file=/a.txt http://host/sub -I/usr/include a/b\n',
    )
    expect((await site.run('/show.sh PREFIX=/sub | cat -')).stdout).toBe('PREFIX=/sub\n')
    expect(await site.refusal('/show.sh PREFIX=/sub | cut -c1-3')).toMatchObject({ code: 'EUNENFORCEABLE' })
  })

  it('[EX1] writes to /dev/stdout and /dev/stderr by redirection', async () => {
    await using site = await openSite({ executor: createSanitizeExecutor() })
    expect(
      await site.run('echo a > /dev/stderr; echo b >> /dev/stdout; ls no 2> /dev/stdout; echo c 1>/dev/stderr'),
    ).toMatchObject({
      exitCode: 0,
      stdout: "b\nls: cannot access 'no': No such file or directory\n",
      stderr: 'a\nc\n',
    })
    expect((await site.run('{ echo in; echo out > /dev/stderr; } > f; cat f')).stdout).toBe('in\n')
    expect(await site.refusal('echo $PWD > /dev/stdout | cut -c1-3')).toMatchObject({ code: 'EUNENFORCEABLE' })
    expect(await site.refusal('echo x &> /dev/stderr')).toMatchObject({ code: 'EUNENFORCEABLE' })
  })
})

describeWith([component('landlock'), component('python3')], 'Landlock', () => {
  it('[PC9] a trusted program that wants out reads, writes, lists and cuts off nothing there', {
    timeout: 30_000,
  }, async () => {
    await using site = await openSite({ executor: trusting(), files: { 'a.txt': 'a\n' } })
    await chmod(site.outside, 0o777)
    const canary = join(site.outside, 'secret.txt')
    await chmod(canary, 0o666)
    await symlink(canary, join(site.directory, 'leak'))
    const attempts = `
import os, subprocess, sys
canary = ${JSON.stringify(canary)}
outside = os.path.dirname(canary)
def attempt(name, do):
    try:
        print(name, 'done', do())
    except OSError as error:
        print(name, error.errno)
attempt('read', lambda: open(canary).read())
attempt('append', lambda: open(canary, 'a').write('x'))
attempt('truncate', lambda: os.truncate(canary, 0))
attempt('list', lambda: os.listdir(outside))
attempt('create', lambda: open(outside + '/made', 'w').close())
attempt('remove', lambda: os.unlink(canary))
attempt('rename', lambda: os.rename(canary, 'moved'))
attempt('link', lambda: os.link(canary, 'hard'))
attempt('symlink', lambda: open('leak').read())
attempt('parent', lambda: open('../secret.txt').read())
attempt('proc', lambda: open('/proc/%d/environ' % os.getppid()).read())
attempt('root', lambda: open('/proc/self/root' + canary).read())
attempt('passwd', lambda: open('/etc/passwd').read())
attempt('exec', lambda: subprocess.run(['/bin/cat', canary], check=True, stderr=subprocess.DEVNULL) and 0 if False else 0)
print(subprocess.run(['/bin/cat', canary], capture_output=True).stdout)
print(open('a.txt').read())
`
    await put(join(site.directory, 'attack.py'), attempts)
    const { stdout } = await site.run('python3 /attack.py')
    expect(stdout).not.toContain(secret)
    expect(stdout.split('\n').filter((line) => line.includes(' done ') && !line.startsWith('exec'))).toEqual([])
    expect(stdout).toContain("b''\na\n")
    expect(readFileSync(canary, 'utf8')).toBe(`${secret}\n`)
    expect(readdirSync(site.outside).sort()).toEqual(['secret.txt', 'ws', 'ws2'])
  })

  it('[LS11] and seccomp hold what a command starts: no setuid bits, no namespaces', async () => {
    await using site = await openSite({ executor: trusting(), files: { 'a.txt': '' } })
    expect((await site.run('chmod u+s a.txt')).exitCode).not.toBe(0)
    expect((await site.run('unshare -Ur true')).exitCode).not.toBe(0)
  })
})

/** Processes that carry a mark in their command line. */
function survivors(mark: string): string[] {
  return spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((line) => line.includes(mark) && !line.startsWith('ps'))
}

describe('ends', () => {
  it('[LS13] nothing outlives a command: in the background, in a session of its own, deaf to TERM', {
    timeout: 30_000,
  }, async () => {
    await using site = await openSite({ executor: trusting() })
    const mark = `${40_000 + (process.pid % 10_000)}.125`
    await site.run(
      `sleep ${mark} & (sleep ${mark} &) ; setsid sleep ${mark} & bash -c "trap '' TERM; sleep ${mark}" & echo started`,
    )
    expect(survivors(mark)).toEqual([])
    const timed = await site.run(`setsid sleep ${mark} & bash -c "trap '' TERM; sleep ${mark}"`, {
      timeout: 300,
      killGrace: 100,
    })
    expect(timed.timedOut).toBe(true)
    expect(survivors(mark)).toEqual([])
    const controller = new AbortController()
    const running = await site.workspace.spawn(`echo on; sleep ${mark}`, { signal: controller.signal, killGrace: 100 })
    for await (const chunk of running.stdout) if (Buffer.from(chunk).toString() === 'on\n') break
    controller.abort(new Error('enough'))
    await expect(running.wait()).rejects.toThrow('enough')
    expect(survivors(mark)).toEqual([])
  })

  it('limits output, counts it, and ends with the workspace', async () => {
    const site = await openSite({ executor: createSanitizeExecutor({ trustPrograms: ['yes', 'sleep'] }) })
    const result = await site.run('yes | head -n 100000', { maxOutputBytes: 1000 })
    expect(result).toMatchObject({ truncated: true, stdoutBytes: 200_000 })
    expect(result.stdout.length).toBeLessThan(1100)
    const running = await site.workspace.spawn('sleep 1000')
    await site[Symbol.asyncDispose]()
    await expect(running.wait()).resolves.toMatchObject({ signal: 'SIGKILL' })
    expect(running.kill()).toBe(false)
  })

  it('stdin, exit codes and signals come through', async () => {
    await using site = await openSite({ executor: createSanitizeExecutor({ trustPrograms: ['kill'] }) })
    expect((await site.run('cat; exit 7', { stdin: 'given /a.txt' })).stdout).toBe('given /a.txt')
    expect((await site.run('exit 7')).exitCode).toBe(7)
    expect(await site.run('kill -KILL $$')).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
  })

  it('a refusal is an error with a reason and a remedy, without a path of this machine', async () => {
    await using site = await openSite({ executor: createSanitizeExecutor() })
    const error = await site.workspace.exec('cat "$(cat x)"').catch((reason: unknown) => reason)
    expect(isWorkspaceError(error, 'EUNENFORCEABLE')).toBe(true)
    expect(String(error)).not.toContain(site.outside)
    expect((error as { remedy: string }).remedy).not.toBe('')
    expect(asRoot || process.getuid?.() === owner.uid).toBe(true)
  })
})
