import { isWorkspaceError } from '@ws/core'
import { quoteForShell } from '@ws/core/executor'
import fc from 'fast-check'
import { component, itWith, propertyRounds } from '@ws/test-fixtures'
import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  longestArgument,
  longestCommand,
  resolveShell,
  shellArguments,
  shellInvocation,
} from '../../src/executor/command-line.ts'
import { startProcess } from '../../src/run/start.ts'

const shells = ['/bin/bash', '/bin/dash', '/bin/sh', '/usr/bin/zsh', '/usr/bin/fish'].filter((path) => existsSync(path))

function codeOf(action: () => unknown): string {
  try {
    action()
  } catch (error) {
    if (isWorkspaceError(error)) return `${error.code}: ${error.reason}`
    throw error
  }
  return 'no error'
}

describe('resolveShell', () => {
  const only = (...paths: string[]) => ({ isExecutable: (path: string) => paths.includes(path) })

  it('[LS2] takes $SHELL when it is an executable shell', () => {
    expect(resolveShell({ env: { SHELL: '/opt/zsh' }, ...only('/opt/zsh', '/bin/bash') })).toBe('/opt/zsh')
    expect(resolveShell({ env: { SHELL: '/usr/bin/fish' }, ...only('/usr/bin/fish') })).toBe('/usr/bin/fish')
  })

  it.each(['', '  ', '/usr/sbin/nologin', '/bin/false', '/usr/bin/python3', 'bash', '/opt/missing/bash'])(
    '[LS2] passes over $SHELL=%j',
    (shell) => {
      const isExecutable = (path: string) => path !== '/opt/missing/bash'
      expect(resolveShell({ env: { SHELL: shell }, isExecutable })).toBe('/bin/zsh')
    },
  )

  it('[LS2] passes over a $SHELL that the view does not have', () => {
    const options = { isExecutable: () => true, existsInView: (path: string) => path === '/usr/bin/bash' }
    expect(resolveShell({ env: { SHELL: '/bin/zsh' }, ...options })).toBe('/usr/bin/bash')
  })

  it('[LS3] else takes the first of the usual places, else /bin/sh', () => {
    const order = ['/bin/zsh', '/usr/bin/zsh', '/bin/bash', '/usr/bin/bash', '/bin/sh', '/usr/bin/sh']
    for (const [index, path] of order.entries())
      expect(resolveShell({ env: {}, ...only(...order.slice(index)) })).toBe(path)
    expect(resolveShell({ env: {}, ...only() })).toBe('/bin/sh')
  })

  it('[LS7] the caller’s shell wins, a blank one means the default', () => {
    expect(resolveShell({ shell: '/bin/dash', env: { SHELL: '/bin/zsh' }, isExecutable: () => true })).toBe('/bin/dash')
    expect(resolveShell({ shell: 'dash', env: {}, ...only('/usr/bin/dash') })).toBe('/usr/bin/dash')
    for (const shell of ['', ' \t'])
      expect(resolveShell({ shell, env: { SHELL: '/bin/sh' }, isExecutable: () => true })).toBe('/bin/sh')
  })

  it('[LS7] an impossible shell is a typed error', () => {
    const all = { env: {}, isExecutable: () => true }
    for (const shell of ['python3', './bash', 'bin/bash', '/usr/sbin/nologin', '/bin/false', '/usr/bin/perl', 'bash\0'])
      expect(codeOf(() => resolveShell({ shell, ...all }))).toMatch(/^EINVAL: /)
    expect(codeOf(() => resolveShell({ shell: '/bin/ksh', env: {}, isExecutable: () => false }))).toMatch(
      /^ENOEXEC: .*missing/,
    )
  })
})

describe('shellArguments', () => {
  it('[LS4] the command is an element of its own behind -lc', () => {
    expect(shellArguments('/bin/bash', `echo "a'b"; ls $HOME`)).toEqual(['/bin/bash', '-lc', `echo "a'b"; ls $HOME`])
  })

  it('[LS7] login: false gives -c', () => {
    expect(shellArguments('/bin/zsh', 'true', { login: false })).toEqual(['/bin/zsh', '-c', 'true'])
  })

  it('[LS4] blank, NUL and over-long are EINVAL, each with its reason', () => {
    expect(codeOf(() => shellArguments('/bin/sh', ' \n'))).toBe('EINVAL: the command is blank')
    expect(codeOf(() => shellArguments('/bin/sh', 'a\0b'))).toBe('EINVAL: the command contains NUL')
    expect(codeOf(() => shellArguments('/bin/sh', 'é'.repeat(longestArgument / 2)))).toMatch(/^EINVAL: .*longer/)
    expect(codeOf(() => shellInvocation('/bin/sh', 'x'.repeat(longestCommand + 1)))).toMatch(/^EINVAL: .*longer/)
  })
})

describe('an over-long command', () => {
  const padding = `\n#${'x'.repeat(longestArgument)}\n`
  const env = { PATH: '/usr/bin:/bin', HOME: '/dev/null' } // fish would make directories in any home
  const run = async (shell: string, command: string) => {
    const { argv, extraFds } = shellInvocation(shell, command, { login: false })
    const result = await startProcess({ argv, extraFds, env, stdin: 'input' }).wait()
    return { carried: extraFds.size > 0, result }
  }
  const commands = [
    'echo $0 $# $LINENO; exit 7',
    'cat',
    'ls /proc/self/fd',
    'false',
    'set -e; false; echo never',
    'kill -9 $$',
    'echo $LINENO\necho $LINENO',
    'cat <<E\nx\nE',
    'trap "echo bye" EXIT; exit 4',
    'printf "%s" "\\\\ é \'"',
    'set -- a b; echo $# $1',
  ]

  it.each(shells.filter((path) => !path.endsWith('fish')))('[PC24] behaves like -c: %s', async (shell) => {
    for (const command of commands) {
      const [short, long] = await Promise.all([run(shell, command), run(shell, command + padding)])
      expect([short.carried, long.carried]).toEqual([false, true])
      const shown = ({ result }: typeof short) => [
        result.exitCode,
        result.signal,
        result.stdout.text,
        result.stderr.text,
      ]
      expect(shown(long), command).toEqual(shown(short))
    }
  })

  it.each(shells)('[PC24] a syntax error is one: %s', async (shell) => {
    const { result } = await run(shell, `echo (${padding}`)
    expect(result.exitCode).not.toBe(0)
    expect(result.stderr.text).not.toBe('')
  })

  itWith(
    component('fish'),
    '[PC24] fish reads it too, in its own words',
    async () => {
      const { result } = await run('/usr/bin/fish', `cat; ls /proc/self/fd; exit 7${padding}`)
      expect([result.exitCode, result.stdout.text.split('\n')[0]]).toEqual([7, 'input0'])
      expect(result.stdout.text).not.toContain('9')
    },
    { tags: 'all' },
  )

  it('[PC24] newlines at its end stay', async () => {
    const { result } = await run('/bin/dash', `tail -n 4 <<'E'\n${'x\n'.repeat(100_000)}last\n\n\n`)
    expect(result.stdout.text).toBe('x\nlast\n\n\n')
  })

  it('[PC24] 4 MB of here-document arrive whole', async () => {
    const { result } = await run('/bin/bash', `wc -c <<'E'\n${'é'.repeat(2_000_000)}\nE`)
    expect(result.stdout.text.trim()).toBe('4000001')
  })
})

describe('quoteForShell', () => {
  it.each(shells)('[LS5] any words come back as they were: %s', (shell) => {
    const word = fc
      .string({ unit: 'grapheme', minLength: 0 })
      .filter((text) => !text.includes('\0') && text.isWellFormed())
    return fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 8 }), async (words) => {
        const line = ['/usr/bin/printf', '%s\\0', ...words].map((one) => quoteForShell(one, shell)).join(' ')
        const result = await startProcess({
          argv: shellArguments(shell, line, { login: false }),
          env: { LC_ALL: 'C.UTF-8', HOME: '/dev/null' },
        }).wait()
        expect(result.stdout.text.split('\0').slice(0, -1)).toEqual(words)
      }),
      { ...propertyRounds({ quick: 12, seconds: 10 }), seed: 42 },
    )
  })

  it('[LS5] what a shell would expand is quoted', () => {
    for (const word of ['~', 'a=b', '*', '$x', '{a,b}', '!x', '#', '-n;']) expect(quoteForShell(word)).toBe(`'${word}'`)
    expect(quoteForShell('-n')).toBe('-n')
  })
})
