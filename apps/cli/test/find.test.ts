import { execFileSync } from 'node:child_process'
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { giveToOwner, site, ws } from './ws.ts'

const config = (...rules: object[]) => JSON.stringify({ mounts: [{ at: '/', root: '.' }], rules })
const deny = { rule: 'deny', path: '/secret' }

it('[PM1] takes the nearest trusted config file, in the directory and below', async () => {
  await using here = await site({ 'ws.config.json': config(deny), 'secret/a': 's', 'src/b': 'b' })
  expect(await here.ws(['trust'])).toMatchObject({ code: 0, stdout: '`ws.config.json` is trusted as it is now.\n' })
  for (const below of ['', 'src']) {
    expect(await here.ws(['cat', '/src/b'], below)).toMatchObject({ code: 0, stdout: 'b' })
    expect((await here.ws(['cat', '/secret/a'], below)).stderr).toMatch(/EACCES.*deny/u)
  }
})

it('[PM1] takes the working directory where there is no config file, but neither / nor the home directory', async () => {
  await using here = await site({ 'a.txt': 'a' })
  expect(await here.ws(['ls'])).toMatchObject({ code: 0, stdout: 'a.txt\n' })
  const home = await ws(['ls'], { env: { HOME: here.path }, cwd: here.path })
  const top = await ws(['ls'], { cwd: '/' })
  for (const ended of [home, top])
    expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('give --root') })
  const quiet = await here.ws(['doctor', '--matches'])
  expect(quiet).toMatchObject({ code: 2, stderr: expect.stringContaining('--matches needs a workspace') })
})

it('a config file that a command could have planted is refused, and changes nothing', async () => {
  await using here = await site({ 'ws.config.json': config(deny), 'secret/a': 's', 'sub/b': 'b' })
  await here.ws(['trust'])
  // below the workspace, without the rules and with the directory above
  const planted = JSON.stringify({ mounts: [{ at: '/', root: '..' }], executors: ['sanitize'] })
  await writeFile(join(here.path, 'sub/ws.config.json'), planted)
  const refused = { code: 2, stdout: '' }
  for (const args of [['cat', '/secret/a'], ['exec', '--', 'true'], ['doctor']]) {
    const ended = await here.ws(args, 'sub')
    expect(ended).toMatchObject(args[0] === 'exec' ? { stdout: '' } : refused)
    expect(ended.stderr).toMatch(
      /^ws: `ws\.config\.json` is not trusted yet; look at it, then run `ws trust`[^\n]+\n$/u,
    )
  }
  expect((await here.ws(['cat', '/secret/a'])).code).toBe(1)
  // an option names the workspace: nothing is looked for
  expect(await here.ws(['--root', '.', 'cat', 'b'], 'sub')).toMatchObject({ code: 0, stdout: 'b' })
})

it('a trusted config file that a command has changed, moved away or exchanged for a link is refused', async () => {
  await using here = await site({ 'ws.config.json': config(deny), 'secret/a': 's', other: config() })
  const [file, other] = [join(here.path, 'ws.config.json'), join(here.path, 'other')]
  await here.ws(['trust'])
  const wrong = [
    [() => writeFile(file, config()), /has changed since you trusted it/u],
    [() => rm(file), /is gone, and you trusted it; put it back, or run `ws trust --forget`/u],
    [() => symlink('other', file), /has changed since you trusted it/u],
    [() => rm(file).then(() => mkdir(file)), /is not a file/u],
    [
      () => rm(file, { recursive: true }).then(() => void execFileSync('/bin/sh', ['-c', 'mkfifo "$1"', 'sh', file])),
      /is not a file/u,
    ],
  ] as const
  for (const [change, message] of wrong) {
    await change()
    const { code, stdout, stderr } = await here.ws(['cat', '/secret/a'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain(here.path)
  }
  await rm(file)
  await rename(other, file)
  expect((await here.ws(['trust'])).code).toBe(0)
  expect(await here.ws(['cat', '/secret/a'])).toMatchObject({ code: 0, stdout: 's' })
  expect((await here.ws(['trust', '--forget'])).code).toBe(0)
  expect((await here.ws(['ls'])).stderr).toContain('is not trusted yet')
})

it('options of the caller win over a config file that is found', async () => {
  await using here = await site({
    'ws.config.json': JSON.stringify({ mounts: [{ at: '/', root: '.' }], executors: ['virtual'], require: {} }),
  })
  await here.ws(['trust'])
  const weak = await here.ws(['--executor', 'sanitize', '--require', 'untrusted', 'exec', '--', 'true'])
  expect(weak.code).toBe(125)
  expect(weak.stderr).toMatch(/ENOEXECUTOR/u)
})

it('a list of trusted files that others can write does not count', async () => {
  await using here = await site({ 'ws.config.json': config() })
  await here.ws(['trust'])
  execFileSync('chmod', ['0777', join(here.env.XDG_STATE_HOME, 'ws/trusted')])
  expect((await here.ws(['ls'])).stderr).toContain('is not trusted yet')
  expect(await here.ws(['trust'])).toMatchObject({ code: 2, stderr: expect.stringContaining('set XDG_STATE_HOME') })
})

it('a list of trusted files that cannot be looked at is an error that names the variables', async () => {
  await using here = await site({ 'a.txt': 'a' })
  // as `/root` is to another user, but for every user of a test
  const state = join(here.env.XDG_STATE_HOME, 'circle')
  await symlink(state, state)
  for (const args of [['ls'], ['--root', here.path, 'ls'], ['--root', here.path, 'mcp']]) {
    const { code, stderr } = await ws(args, { env: { ...here.env, XDG_STATE_HOME: state }, cwd: here.path })
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('(ELOOP); set HOME or XDG_STATE_HOME to'),
    })
  }
})

it('a note of trust that cannot be read is an error: the rules of its file would be lost', async () => {
  await using here = await site({ 'a.txt': 'a', 'ws.config.json': config(deny) })
  await here.ws(['trust'])
  const directory = join(here.env.XDG_STATE_HOME, 'ws/trusted')
  for (const name of await readdir(directory)) {
    await rm(join(directory, name))
    await mkdir(join(directory, name))
  }
  expect(await here.ws(['ls'])).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot be read (EISDIR)') })
})

it('trust refuses a file with errors, and says where there is none', async () => {
  await using here = await site({ 'ws.config.json': '{ "mount": [] }', 'sub/x': '' })
  expect(await here.ws(['trust'])).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean `mounts`?') })
  await rm(join(here.path, 'ws.config.json'))
  expect(await here.ws(['trust'])).toMatchObject({ code: 2, stderr: expect.stringContaining('run `ws init`') })
})

it('init writes a config file that holds from then on, and that commands cannot change', async () => {
  await using here = await site({ 'src/a': 'a', 'private/x': 'x', '.env': 'S=1' })
  const options = ['--deny', 'private', '--read-only', 'src', '--yes']
  const outside = await here.ws(['init', '--yes', '--deny', '/private'])
  expect(outside).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean `private`?') })
  const { code, stdout } = await here.ws(['init', ...options])
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: '`ws.config.json` is written. Try: ws doctor, then ws exec -- ls\n',
  })
  const written = JSON.parse(await readFile(join(here.path, 'ws.config.json'), 'utf8')) as object
  expect(written).toEqual({
    mounts: [{ at: '/workspace', root: '.' }],
    rules: [
      { rule: 'protectSecrets' },
      { rule: 'protectHooks' },
      { rule: 'readOnly', path: 'ws.config.json' },
      { rule: 'deny', path: 'private' },
      { rule: 'readOnly', path: 'src' },
    ],
  })
  await giveToOwner({ path: here.path, owner: { uid: 1000, gid: 1000 } } as never)
  for (const path of ['private/x', '.env']) expect((await here.ws(['cat', path])).code).toBe(1)
  for (const path of ['src/a', 'ws.config.json']) expect((await here.ws(['write', path, 'x'])).code).toBe(1)
  const command = ['exec', '--no-login', '--', 'echo x > ws.config.json']
  expect((await here.ws(['--executor', 'virtual', ...command])).code).not.toBe(0)
})

it('init keeps the options of the workspace, and refuses wrong ones in one line', async () => {
  await using here = await site({ 'p/a': '' })
  const kept = ['--root', 'p', '--at', '/workspace', '--executor', 'virtual', '--require', 'network=kernel']
  const { stdout } = await here.ws([...kept, '--json', 'init', '--no-protect', '--output', 'out'])
  expect(JSON.parse(stdout)).toMatchObject({
    trusted: true,
    config: {
      mounts: [{ at: '/workspace', root: 'p' }],
      rules: [{ rule: 'withinOutput', path: 'out' }],
      executors: ['virtual'],
      require: { network: 'kernel' },
    },
  })
  const wrong = [
    [['init'], /`ws\.config\.json` is there already; give --force to replace it/u],
    [['init', '--force', '--deny', '/a/../b'], /--deny: .*`\.\.`/u],
    [['--root', 'nowhere', 'init', '--force'], /--root: `nowhere` is not a directory/u],
    [['--s3', 'bucket', 'init', '--force'], /for a directory/u],
    [['init', '--file', 'no/such/x.json'], /--file: `no\/such\/x\.json` cannot be written \(ENOENT\)/u],
  ] as const
  for (const [args, message] of wrong) {
    const ended = await here.ws(args)
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toMatch(/^ws: [^\n]+\n$/u)
    expect(ended.stderr).toMatch(message)
  }
})

it('a project with names of the system is searched as a whole, and `--at /` says why real programs are passed over', async () => {
  await using here = await site({ 'lib/a.js': 'needle\n', 'src/b.js': 'needle\n', 'bin/tool': 'needle\n' })
  expect((await here.ws(['init', '--yes'])).code).toBe(0)
  const found = ['bin/tool', 'lib/a.js', 'src/b.js'].map((path) => `/workspace/${path}:1:needle\n`).join('')
  // files are searched side by side
  const sorted = (text: string): string =>
    text
      .split(/(?<=\n)/u)
      .toSorted()
      .join('')
  const { code: ended, stdout: lines } = await here.ws(['search', 'needle'])
  expect({ ended, lines: sorted(lines) }).toEqual({ ended: 0, lines: found })
  await rm(join(here.path, 'ws.config.json'))
  await here.ws(['trust', '--forget'])
  const atRoot = ['--root', '.', '--at', '/']
  expect(sorted((await here.ws([...atRoot, 'search', 'needle'])).stdout)).toBe(found.replaceAll('/workspace', ''))
  const why = /the directory has an entry `\/bin`.*--at \/workspace/su
  for (const command of [['exec', '--', 'true'], ['doctor'], ['explain', 'exec', '/']]) {
    const { code, stdout, stderr } = await here.ws([...atRoot, ...command])
    expect(`${stdout}${stderr}`.replaceAll(/\s+/gu, ' '), command.join(' ')).toMatch(why)
    expect(code !== 0, command.join(' ')).toBe(command[0] !== 'explain')
  }
})
