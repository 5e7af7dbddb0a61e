import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { createProject, end, ws, wsForShell } from './ws.ts'

describe('wrong arguments', () => {
  const cases: [string, string[], RegExp][] = [
    ['no command', [], /no command is named/u],
    ['an unknown command', ['lss'], /unknown command 'lss'.*did you mean ls/iu],
    ['an unknown option', ['ls', '--sorted'], /unknown option '--sorted'/u],
    ["a command's own option", ['exec', 'ls', '-la'], /put the command behind `--`, as in: ws exec -- ls -la/u],
    ['a missing argument', ['--root', 'DIR', 'cat'], /missing required argument 'path'/u],
    ['too many arguments', ['--root', 'DIR', 'mv', 'a', 'b', 'c'], /too many arguments/u],
    ['no workspace', ['ls'], /no workspace is named; give --root DIR/u],
    ['a relative --at', ['--root', 'DIR', '--at', 'workspace', 'ls'], /--at: `workspace` is not absolute/u],
    ['an --at with ..', ['--root', 'DIR', '--at', '/a/../b', 'ls'], /--at: .*`\/a\/\.\.\/b`/u],
    ['an --at above the root', ['--root', 'DIR', '--at', '/..', 'ls'], /--at: EOUTSIDE/u],
    ['an empty --root', ['--root', '', 'ls'], /--root: .* give the workspace's directory/u],
    ['an owner that is a name', ['--root', 'DIR', '--owner', 'bob', 'ls'], /--owner: `bob` is not an owner/u],
    ['uid 0', ['--root', 'DIR', '--owner', '0:0', 'ls'], /--owner: commands never run as uid 0/u],
    [
      'an unknown executor',
      ['--root', 'DIR', '--executor', 'docker', 'exec', '--', 'true'],
      /choose one of bubblewrap, container/u,
    ],
    [
      'an unknown requirement',
      ['--root', 'DIR', '--require', 'magic=kernel', 'exec', '--', 'true'],
      /--require: `magic=kernel`/u,
    ],
    ['a bad timeout', ['--root', 'DIR', 'exec', '--timeout', 'soon', '--', 'true'], /--timeout.*500ms/u],
    [
      'a bad variable',
      ['--root', 'DIR', 'exec', '--env', 'NOVALUE', '--', 'true'],
      /--env: `NOVALUE` is not a variable/u,
    ],
    [
      'two conditions',
      ['--root', 'DIR', 'write', '--if-absent', '--if-version', 'x', '/n', 'c'],
      /cannot be used with/u,
    ],
    ['an unknown operation', ['--root', 'DIR', 'explain', 'eat', '/'], /operation.*eat/u],
  ]

  it.each(cases)('%s: one clear line, exit code 2, nothing changed', async (_, args, message) => {
    await using project = await createProject({})
    const { code, stdout, stderr } = await ws(args.map((arg) => (arg === 'DIR' ? project.path : arg)))
    expect(stderr).toMatch(/^ws: [^\n]+\n$/u)
    expect(stderr).toMatch(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(await readdir(project.path)).toEqual([])
  })

  it('are JSON with --json', async () => {
    const { code, stderr } = await ws(['--json', 'lss'])
    expect(code).toBe(2)
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'EUSAGE', message: expect.stringContaining('lss') as string },
    })
  })
})

describe('paths that cannot be', () => {
  const cases: [string, RegExp][] = [
    ['/../x', /EOUTSIDE/u],
    ['n'.repeat(256), /ENAMETOOLONG/u],
    ['/bin/x', /EROFS.*write below `\/workspace`/u],
    ['/', /EROFS|EISDIR/u],
    ['a.txt/x', /ENOTDIR/u],
  ]

  it.each(cases)('write to %s is one clear error, and nothing changed', async (path, message) => {
    await using project = await createProject({ 'a.txt': 'a' })
    const { code, stderr } = await ws(['--root', project.path, 'write', path, 'content'])
    expect(stderr).toMatch(/^ws: [^\n]+\n$/u)
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain(project.path)
    expect(code).toBe(1)
    expect(await readdir(project.path)).toEqual(['a.txt'])
  })

  it('a control character in a path is not printed as it is', async () => {
    await using project = await createProject({})
    const { stderr } = await ws(['--root', project.path, 'cat', '/\u001b[31mred'])
    expect(stderr).not.toContain('\u001b')
    expect(stderr).toContain('\\u{1b}')
  })
})

describe('a root that cannot be', () => {
  it('[PM1] a missing directory is named as it was typed, and is not made', async () => {
    await using project = await createProject({})
    const missing = join(project.path, 'missing')
    for (const [args, exitCode] of [
      [['ls'], 1],
      [['write', '/a', 'a'], 1],
      [['exec', '--', 'true'], 125],
    ] as const) {
      const { code, stderr } = await ws(['--root', missing, ...args])
      expect(stderr).toMatch(/^ws: ENOWORKSPACE: [^\n]+\n$/u)
      expect(code).toBe(exitCode)
    }
    const typed = await ws(['--root', 'missing', 'ls'], { cwd: project.path })
    expect(typed.stderr).toContain('`missing`')
    expect(typed.stderr).not.toContain(project.path)
    expect(existsSync(missing)).toBe(false)
  })

  it('a file is not a root', async () => {
    await using project = await createProject({ file: '' })
    const { code, stderr } = await ws(['--root', join(project.path, 'file'), 'ls'])
    expect(stderr).toMatch(/^ws: [A-Z]+: [^\n]+\n$/u)
    expect(code).toBe(1)
  })
})

describe('a config that cannot be', () => {
  const cases: [string, string, RegExp][] = [
    ['no JSON', '{ "mounts": [ }', /is not JSON \(unexpected token '\}'\)/u],
    [
      'a wrong key on its line',
      '{\n  "rules": [],\n  "executers": ["proot"]\n}',
      /line 3: unknown key `executers`; did you mean `executors`\?/u,
    ],
    [
      'a wrong value on its line',
      '{\n  "rules": [\n    { "rule": "deny", "path": "/a" },\n    { "rule": "deny", "path": 1 }\n  ]\n}',
      /line 4: rules\[1\]\.path must be a string, got `1`$/mu,
    ],
    ['a bracket on its line', '{\n  "mounts": [\n  }\n}', /is not JSON \(.*\) in line 3; correct it there|line 3/u],
    ['half a string', '{\n  "mounts": "a', /is not JSON \(.*line 2/u],
    ['a missing comma', '{ "mounts": []\n"rules": [] }', /is not JSON \(line 2 column 1\)/u],
    ['half a file', '{ "mounts": [', /is not JSON \(it ends too early\)/u],
    ['an unknown key', '{ "mount": [] }', /unknown key `mount`; did you mean `mounts`\?/u],
    [
      'an unknown key in a mount',
      '{ "mounts": [{ "at": "/", "root": ".", "acess": "read-only" }] }',
      /mounts\[0\]: unknown key `acess`; did you mean `access`\?/u,
    ],
    [
      'an unknown rule',
      '{ "rules": [{ "rule": "forbid", "path": "/x" }] }',
      /: rules\[0\]\.rule must be one of `withinWorkspace`, .*, got `forbid`$/mu,
    ],
    [
      'a rule without a path',
      '{ "rules": [{ "rule": "deny" }] }',
      /: rules\[0\]\.path is missing; it must be a string$/mu,
    ],
    [
      'a rule with ..',
      '{ "mounts": [{ "at": "/", "root": "." }], "rules": [{ "rule": "deny", "path": "/a/../b" }] }',
      /rules\[0\]: .*`\.\.`/u,
    ],
    ['an exception without a reason', '{ "rules": [{ "rule": "allow", "path": "/x" }] }', /rules\[0\]\.justification/u],
    [
      'an unknown executor',
      '{ "executors": ["docker"] }',
      /: executors\[0\] must be one of `bubblewrap`, `container`, .*, got `docker`$/mu,
    ],
    [
      'an unknown level',
      '{ "require": { "network": "strong" } }',
      /: require\.network must be one of `kernel`, .*, got `strong`$/mu,
    ],
    ['a mount point with ..', '{ "mounts": [{ "at": "/a/../b", "root": "." }] }', /mounts\[0\]\.at/u],
    ['uid 0', '{ "mounts": [{ "at": "/", "root": "." }], "owner": "0" }', /owner: commands never run as uid 0/u],
    ['a list', '[]', /ws\.config\.json`: the file must be an object, got a list$/mu],
    [
      'a number as a place',
      '{ "mounts": [{ "at": 1, "root": "." }] }',
      /: mounts\[0\]\.at must be a string, got `1`$/mu,
    ],
    [
      'two sources',
      '{ "mounts": [{ "at": "/", "root": ".", "s3": { "bucket": "b" } }] }',
      /: mounts\[0\] must have exactly one of `root`, `s3`, `r2`, `rclone`; got `root` and `s3`$/mu,
    ],
    [
      'no source',
      '{ "mounts": [{ "at": "/" }] }',
      /: mounts\[0\] must have exactly one of `root`, `s3`, `r2`, `rclone`; got none$/mu,
    ],
    [
      'no name of a rule',
      '{ "rules": [{ "path": "/x" }] }',
      /: rules\[0\]\.rule is missing; it must be one of `withinWorkspace`, /u,
    ],
    [
      'an empty path',
      '{ "rules": [{ "rule": "deny", "path": "" }] }',
      /: rules\[0\]\.path must be a string that is not empty, got ``$/mu,
    ],
    ['an empty list', '{ "executors": [] }', /: executors must be a list with at least 1 entry, got a list$/mu],
    [
      'a word for a requirement',
      '{ "require": "trusted" }',
      /: require must be one of `untrusted`, `untrusted-by-name` or an object, got `trusted`$/mu,
    ],
    ['a number for the owner', '{ "owner": 1000 }', /: owner must be a string or an object, got `1000`$/mu],
    ['a part of a uid', '{ "owner": { "uid": 1.5, "gid": 1 } }', /: owner\.uid must be a whole number, got `1.5`$/mu],
    [
      'a limit of 0',
      '{ "executorOptions": { "proot": { "limits": { "cpuSeconds": 0 } } } }',
      /: executorOptions\.proot\.limits\.cpuSeconds must be a whole number of at least 1, got `0`$/mu,
    ],
    [
      'a relative group',
      '{ "executorOptions": { "proot": { "cgroup": "x" } } }',
      /: executorOptions\.proot\.cgroup must be a string that begins with `\/`, got `x`$/mu,
    ],
    [
      'a value for a name',
      '{ "mounts": [{ "at": "/", "s3": { "bucket": "b", "credentialsFrom": { "accessKeyId": "a-b", "secretAccessKey": "x" } } }] }',
      /: mounts\[0\]\.s3\.credentialsFrom\.accessKeyId must be the name of an environment variable$/mu,
    ],
    [
      'an account and an endpoint',
      '{ "mounts": [{ "at": "/", "r2": { "bucket": "b" } }] }',
      /: mounts\[0\]\.r2 must have `accountId` or `endpoint`, and not both$/mu,
    ],
  ]

  it.each(cases)('%s: names the place, exit code 2', async (_, content, message) => {
    await using project = await createProject({})
    const file = join(project.path, 'ws.config.json')
    await writeFile(file, content)
    const { code, stderr } = await ws(['--config', file, 'ls'])
    expect(stderr).toMatch(/^ws: --config[^\n]+\n$/u)
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/\bexpected|received|invalid|discriminator/iu)
    expect(code).toBe(2)
  })

  it('a missing file is named as it was typed', async () => {
    const { code, stderr } = await ws(['--config', 'nowhere.json', 'ls'])
    expect(stderr).toBe('ws: --config: `nowhere.json` cannot be read (ENOENT); give the path of a config file\n')
    expect(code).toBe(2)
  })
})

describe('standard streams', () => {
  const shell = async (line: string) => await end(spawn('/bin/sh', ['-c', line], { stdio: ['ignore', 'pipe', 'pipe'] }))

  it('a closed standard input is an error, and nothing is written', async () => {
    await using project = await createProject({ 'a.txt': 'kept' })
    const { code, stderr } = await shell(`${wsForShell} --root ${project.path} write /a.txt <&-`)
    expect(stderr).toMatch(/^ws: standard input is closed; [^\n]+\n$/u)
    expect(code).toBe(2)
    expect((await ws(['--root', project.path, 'cat', 'a.txt'])).stdout).toBe('kept')
  })

  it('a command gets nothing to read where standard input is closed, as in a container without one', {
    tags: 'all',
  }, async () => {
    await using project = await createProject({})
    const exec = `${wsForShell} --root ${project.path} exec 'wc -c'`
    for (const closed of ['<&-', '<>/dev/null']) {
      expect(await shell(`${exec} ${closed}`)).toMatchObject({ code: 0, stdout: '0\n' })
    }
  })

  it('a directory as standard input is an error, and nothing is written', { tags: 'all' }, async () => {
    await using project = await createProject({ 'a.txt': 'kept' })
    const { code, stderr } = await shell(`${wsForShell} --root ${project.path} write /a.txt < /`)
    expect(stderr).toMatch(/^ws: standard input is a directory; [^\n]+\n$/u)
    expect(code).toBe(2)
    expect((await ws(['--root', project.path, 'cat', 'a.txt'])).stdout).toBe('kept')
  })

  it('a closed standard output is an error for what only prints', { tags: 'all' }, async () => {
    await using project = await createProject({ 'a.txt': 'a' })
    const { code, stderr } = await shell(`${wsForShell} --root ${project.path} cat /a.txt >&-`)
    expect(stderr).toMatch(/^ws: standard output is closed; [^\n]+\n$/u)
    expect(code).toBe(2)
  })

  it('a full standard output is an error', { tags: 'all' }, async () => {
    await using project = await createProject({ 'a.txt': 'a' })
    const { code, stderr } = await shell(`${wsForShell} --root ${project.path} cat a.txt > /dev/full`)
    expect(stderr).toMatch(/^ws: standard output cannot be written \(ENOSPC\); [^\n]+\n$/u)
    expect(code).toBe(1)
  })

  it('a reader that goes away is quiet', { tags: 'all' }, async () => {
    await using project = await createProject({ 'large.txt': 'line\n'.repeat(400_000) })
    const { stdout, stderr } = await shell(
      `{ ${wsForShell} --root ${project.path} cat large.txt; echo $? >&2; } | head -n 1`,
    )
    expect(stdout).toBe('line\n')
    expect(stderr).toBe('141\n')
  })
})
