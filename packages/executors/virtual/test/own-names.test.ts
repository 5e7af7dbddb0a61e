import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, rules, type Rule } from '@ws/core'
import { createBashFileSystem, createBashCommands } from '@ws/executor-virtual/just-bash'
import { Bash } from 'just-bash'
import { describe, expect, it } from 'vitest'

import { createVirtualExecutor } from '../src/index.ts'
import { open, run } from './support.ts'

const executor = createVirtualExecutor()
const script = (text: string) => ({ content: `#!/bin/sh\n${text}\n`, mode: 0o755 })

async function project(given: readonly Rule[] = []) {
  const files = {
    '/file.txt': 'a file\n',
    '/bin/test': script('echo own test $1'),
    '/bin/cat': script('echo own cat'),
    '/bin/notes': 'not a program\n',
    '/usr/bin/grep': script('echo own grep'),
    '/dev/notes.md': 'notes\n',
    '/etc/app.conf': 'conf\n',
    '/lib/a.js': 'needle\n',
  }
  return createWorkspace({
    mounts: [{ at: '/', adapter: () => createMemoryAdapter({ files }) }],
    executors: [executor],
    rules: given,
  })
}

describe('names of the system that the workspace has', () => {
  it.each([
    ['bin/test 1; /bin/cat; bin/cat file.txt', 'own test 1\nown cat\nown cat\n'],
    ['cat file.txt; test -f file.txt && echo found', 'a file\nfound\n'],
    ['grep -c a file.txt; command grep x; echo x | xargs grep', 'own grep\nown grep\nown grep\n'],
    ['PATH=/bin; cat file.txt', 'own cat\n'],
    ['bin/notes 2>&1; echo $?', 'bash: bin/notes: Permission denied\n126\n'],
    ['ls /bin /dev /lib', '/bin:\ncat\nnotes\ntest\n\n/dev:\nnotes.md\n\n/lib:\na.js\n'],
    ['echo x > /dev/null; cat /dev/null; echo more > /dev/more; ls /dev', 'more\nnotes.md\n'],
    ['cat /etc/app.conf lib/a.js; cd lib && pwd; cat ../etc/app.conf', 'conf\nneedle\n/lib\nconf\n'],
    ['[ -f /etc/passwd ] || echo none; [ -x /bin/ls ] && echo program', 'none\nprogram\n'],
    ['[ -d /run ] || mkdir /run; echo a > /run/a; ls /run; rm -r /run; ls -d /run 2>&1', 'a\n'],
    ['mv lib sbin; cat sbin/a.js; cp -r sbin lib; find / -name a.js | sort', 'needle\n/lib/a.js\n/sbin/a.js\n'],
    ['stat -c %a /bin/notes; readlink -f /bin/../lib/a.js', '644\n/lib/a.js\n'],
  ])('are its own: %s', async (command, output) => {
    await using workspace = await project()
    const { stdout } = await workspace.exec(command)
    expect(stdout.replace(/^ls: cannot access.*\n/m, '')).toBe(output)
  })

  it('a name that comes while a script runs is the workspace’s from then on', async () => {
    await using workspace = await open()
    expect(await run(workspace, 'ls /bin/ls; mkdir /bin; ls /bin; echo own > /bin/ls; cat /bin/ls')).toBe(
      '/bin/ls\nown\n',
    )
    expect(await workspace.readText('/bin/ls')).toBe('own\n')
  })

  it('a rule on them holds, and no rule makes one of a name that is missing', async () => {
    await using denied = await project([rules.deny('/lib'), rules.readOnly('/etc')])
    const { stderr } = await denied.exec('cat /lib/a.js; echo x > /etc/app.conf')
    expect(stderr).toMatch(/lib\/a\.js: Permission denied\n.*app\.conf: (?:Permission denied|Read-only)/)
    await using within = await open({ files: { '/proj/x': 'x\n' }, rules: [rules.withinWorkspace('/proj')] })
    const events: string[] = []
    within.on('access', ({ door, path }) => door === 'files' && events.push(path))
    expect(await run(within, 'cat /proj/x > /dev/null; head -n 1 /proj/x')).toBe('x\n')
    expect(events.filter((path) => !path.startsWith('/proj'))).toEqual([])
  })

  it('below another root, nothing of the system is there, and nothing is made', async () => {
    await using workspace = await open({ at: '/workspace', files: { '/lib/a.js': 'needle\n' } })
    expect(await run(workspace, 'cat lib/a.js; ls; echo x > /dev/null')).toBe('needle\nfile.txt\nlib\n')
    for (const command of ['cat /lib/a.js', 'mkdir /lib', 'echo x > /etc/x', 'cp file.txt /bin/x', 'ls /usr'])
      expect((await workspace.exec(command)).exitCode, command).toBeGreaterThan(0)
  })

  it('are its own under a just-bash of the caller’s own', async () => {
    await using workspace = await project()
    const fs = createBashFileSystem(workspace)
    const bash = new Bash({ fs, cwd: '/', customCommands: createBashCommands(fs) })
    const { stdout } = await bash.exec('ls /dev /lib; echo x > /dev/null; cat /lib/a.js; echo b > /lib/b.js')
    expect(stdout).toBe('/dev:\nnotes.md\n\n/lib:\na.js\nneedle\n')
    expect(await workspace.readText('/lib/b.js')).toBe('b\n')
  })
})
