import { randomUUID } from 'node:crypto'
import { check, equal, rejects } from '../assert.ts'
import { codeOf } from '../doors/site.ts'
import type { DoorSuite } from '../doors/suite.ts'

export function settingTests({ describe, test }: DoorSuite): void {
  describe('environment', () => {
    test('[RP16] holds nothing of this process', {}, async (it) => {
      const secret = randomUUID()
      const name = `WS_CONFORMANCE_${secret.replaceAll('-', '')}`
      process.env[name] = secret
      try {
        const site = await it.open()
        const seen = await site.attack(
          `env; export -p; echo "$${name}"; cat /proc/self/environ /proc/1/environ /proc/*/environ /proc/*/cmdline 2> /dev/null | tr "\\0" "\\n"`,
        )
        check(!seen.includes(secret), 'a variable of this process reached the command')
      } finally {
        delete process.env[name]
      }
    })

    test('holds what the caller adds, byte for byte', {}, async (it) => {
      const site = await it.open()
      const value = 'a "b" $HOME \'c\'\n`id` ä'
      equal(await site.run('printf %s "$MINE"', { env: { MINE: value } }), value, 'the variable')
    })

    test('[PC8, RP9] says where and who: PWD, HOME, USER', {}, async (it) => {
      const { root } = it
      const site = await it.open()
      for (const options of [{}, { login: true, shell: undefined }]) {
        const said = await site.run('echo "$PWD $(pwd) $HOME $USER"', options)
        equal(said, `${root} ${root} ${root} user\n`, options.login === true ? 'a login shell' : 'the environment')
      }
      equal(site.workspace.root, root, 'the root of the workspace')
    })
  })

  describe('working directory', () => {
    test('is the one that was asked for', {}, async (it) => {
      const site = await it.open({ files: { 'sub/dir/x': 'x' } })
      equal(await site.run('pwd; cat x', { cwd: 'sub/dir' }), `${site.at('sub/dir')}\nx`, 'the output')
      equal(await site.run('pwd', { cwd: site.at('sub') }), `${site.at('sub')}\n`, 'the output')
    })

    test('that is not one is refused before anything runs', {}, async (it) => {
      const site = await it.open()
      for (const [cwd, code] of [
        ['missing', 'ENOENT'],
        ['file.txt', 'ENOTDIR'],
        ['/../etc', 'EOUTSIDE'],
      ] as const) {
        equal(await codeOf(site.attempt(`echo x > ${site.at('ran')}`, { cwd })), code, `cwd ${cwd}`)
      }
      equal(await site.stored('ran'), undefined, 'what the command writes')
    })

    test('of one command is nothing to the next, nor are its variables', {}, async (it) => {
      const site = await it.open({ files: { 'sub/x': 'x' } })
      await site.run('cd sub; export LEAK=yes')
      await site.attempt('f() { :; }')
      equal(await site.run('echo "$PWD [$LEAK]"'), `${it.root} []\n`, 'the output')
    })
  })

  describe('forms', () => {
    test('[LS4] a command line is one argument, with any text in it', {}, async (it) => {
      const site = await it.open()
      const line = `printf '%s|' "a b" 'it'"'"'s' '$HOME' "\\"q\\""\ncat <<'END'\n  two $(id)\n\ta tab\nEND\necho end # a comment`
      equal(await site.run(line), `a b|it's|$HOME|"q"|  two $(id)\n\ta tab\nend\n`, 'the output')
    })

    test('a program with its arguments is quoted', {}, async (it) => {
      const site = await it.open()
      const words = ['printf', '%s|', 'a b', "it's", '$HOME', '', '*', '-n', 'new\nline']
      equal(await site.run(words), `a b|it's|$HOME||*|-n|new\nline|`, 'the output')
    })

    test('[PC24] a command longer than an argument can be runs all the same', {}, async (it) => {
      const site = await it.open()
      equal((await site.run(`echo ${'y'.repeat(300_000)} | wc -c`)).trim(), '300001', 'the output')
    })

    test('a login shell reads its start-up file, another does not', { kind: 'process' }, async (it) => {
      const site = await it.open({ files: { '.bash_profile': 'export FROM_PROFILE=yes\n' } })
      equal(await site.run('echo "[$FROM_PROFILE]"', { shell: 'bash', login: true }), '[yes]\n', 'with login')
      equal(await site.run('echo "[$FROM_PROFILE]"', { shell: 'bash', login: false }), '[]\n', 'without login')
    })

    test('a program that is not a shell is refused, and nothing runs', {}, async (it) => {
      const site = await it.open()
      for (const shell of ['/bin/false', 'no-such-shell', './file.txt']) {
        await rejects(site.attempt('true', { shell }), ['EINVAL', 'ENOEXEC'], { what: `the shell ${shell}` })
      }
    })
  })
}
