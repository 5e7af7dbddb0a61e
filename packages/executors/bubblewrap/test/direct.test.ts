import { spawnSync } from 'node:child_process'
import { chown, copyFile, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, rules, type Workspace, type WorkspaceOptions } from '@ws/core'
import {
  component,
  createScratchDirectory,
  describeWith,
  itWith,
  ordinaryOwner,
  type ScratchDirectory,
} from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it } from 'vitest'

import { type BubblewrapExecutorOptions, createBubblewrapExecutor } from '../src/index.ts'
import { needed } from './support/workbench.ts'

const getdents = join(import.meta.dirname, 'support/getdents.pl')
const lister = join(import.meta.dirname, 'support/getdents.c')

describeWith(needed.direct, 'a workspace whose own directory is the root of commands', () => {
  let scratch: ScratchDirectory
  let root: string
  let opened: Workspace[]
  beforeEach(async () => {
    scratch = await createScratchDirectory({ prefix: 'ws-direct-' })
    root = join(scratch.path, 'work')
    await directory('.')
    opened = []
  })
  afterEach(async () => {
    for (const workspace of opened) await workspace.close()
    await scratch.remove()
  })

  async function give(path: string): Promise<void> {
    if (process.getuid?.() === 0) await chown(path, scratch.owner.uid, scratch.owner.gid)
  }
  async function directory(path: string): Promise<void> {
    await mkdir(join(root, path), { recursive: true })
    await give(join(root, path))
  }
  async function file(path: string, content = ''): Promise<void> {
    await writeFile(join(root, path), content)
    await give(join(root, path))
  }
  async function open(
    own: Partial<WorkspaceOptions> = {},
    options: BubblewrapExecutorOptions = {},
  ): Promise<Workspace> {
    const workspace = await createWorkspace({
      mounts: [{ at: '/', adapter: await createLocalAdapter({ root }) }],
      executors: [createBubblewrapExecutor({ root: 'direct', ...options })],
      require: 'untrusted',
      ...own,
    })
    opened.push(workspace)
    return workspace
  }
  async function listed(workspace: Workspace): Promise<string[]> {
    return (await Array.fromAsync(workspace.list('/'))).map(({ name }) => name).sort()
  }
  async function output(workspace: Workspace, command: string): Promise<string> {
    const { stdout, stderr, exitCode } = await workspace.exec(command)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    return stdout
  }
  const lines = (text: string) => text.split('\n').filter((line) => line !== '')

  it('[PC7] shows at / to every program what the file API lists, and nothing of the system', async () => {
    await file('a.txt', 'x\n')
    await file('.hidden', 'x\n')
    await directory('dir/usr')
    await file('dir/usr/inner', 'x\n')
    await symlink('a.txt', join(root, 'link'))
    const workspace = await open()
    const names = await listed(workspace)
    expect(names).toEqual(['.hidden', 'a.txt', 'dir', 'link'])
    const commands = [
      ...['ls -A /', 'ls -A .', 'ls -A /workspace', 'ls -A /proc/self/root', 'ls -A /.', 'ls -A dir/..'],
      ...['ls -A //', 'ls -A /workspace/../', 'ls -A /usr/..'],
      'find / -mindepth 1 -maxdepth 1 -printf "%f\\n"',
      'for n in * .[!.]*; do echo "$n"; done',
      'for n in /* /.[!.]*; do echo "${n#/}"; done',
      `perl -e 'opendir my $d, "/"; print "$_\\n" for grep { !/^\\.\\.?$/ } readdir $d'`,
      `perl -e 'opendir my $d, "/"; my $at = telldir $d; 1 while readdir $d; seekdir $d, $at; print "$_\\n" for grep { !/^\\.\\.?$/ } readdir $d'`,
    ]
    for (const command of commands) expect(lines(await output(workspace, command)).sort(), command).toEqual(names)
    expect(lines(await output(workspace, 'ls -A dir; ls -A dir/usr'))).toEqual(['usr', 'inner'])
    expect(lines(await output(workspace, 'grep -r x . | sort'))).toEqual([
      './.hidden:x',
      './a.txt:x',
      './dir/usr/inner:x',
    ])
    expect(lines(await output(workspace, 'tar cf - . | tar tf - | sort'))).toEqual([
      './',
      './.hidden',
      './a.txt',
      './dir/',
      './dir/usr/',
      './dir/usr/inner',
      './link',
    ])
  })

  itWith([component('python3')], 'shows Python the same', async () => {
    await file('a.txt')
    const workspace = await open()
    expect(await output(workspace, `python3 -c "import os; print(os.listdir('/'), os.listdir(os.open('/', 0)))"`)).toBe(
      "['a.txt'] ['a.txt']\n",
    )
  })

  itWith([component('node')], 'shows Node the same', async () => {
    await file('a.txt')
    const workspace = await open()
    expect(await output(workspace, `node -p "fs.readdirSync('/').join()"`)).toBe('a.txt\n')
  })

  itWith([component('busybox')], 'shows the programs of busybox the same', async () => {
    await file('a.txt', 'x\n')
    await directory('dir')
    await file('dir/b', 'x\n')
    const workspace = await open()
    const commands: [string, string[]][] = [
      ['busybox ls -A /', ['a.txt', 'dir']],
      ['busybox find / -mindepth 1', ['/a.txt', '/dir', '/dir/b']],
      ['busybox grep -rl x .', ['./a.txt', './dir/b']],
      ['busybox tar cf - . | busybox tar tf -', ['./', './a.txt', './dir/', './dir/b']],
      [`busybox sh -c 'for n in /*; do echo "$n"; done'`, ['/a.txt', '/dir']],
      [`busybox sh -c 'busybox rm -rf ./*; busybox ls -A /'`, []],
    ]
    for (const [command, expected] of commands) {
      expect(lines(await output(workspace, command)).sort(), command).toEqual(expected)
    }
    expect(await readdir(root)).toEqual([])
  })

  itWith([component('git')], 'lets git add what is there, and tell what is not', async () => {
    await file('a.txt')
    await directory('dir')
    await file('dir/b')
    const workspace = await open()
    await output(workspace, 'git init -q . && git add -A')
    expect(lines(await output(workspace, 'git ls-files; git status --short'))).toEqual([
      'a.txt',
      'dir/b',
      'A  a.txt',
      'A  dir/b',
    ])
  })

  it('lets `rm -rf ./*` take what is there, and leaves the root as it was', async () => {
    await file('a.txt')
    await directory('dir')
    await directory('dir/deep')
    const workspace = await open()
    expect(await workspace.exec('rm -rf ./* && mkdir new && mv new newer && ls -A')).toMatchObject({
      exitCode: 0,
      stdout: 'newer\n',
    })
    expect(await readdir(root)).toEqual(['newer'])
  })

  it('answers raw calls of every size, from any position, in order and each name once', async () => {
    for (const name of ['a', 'bb', 'usr-local', 'x'.repeat(250), 'lib6', 'z']) await file(name)
    await copyFile(getdents, join(root, 'getdents.pl'))
    const workspace = await open()
    const names = await listed(workspace)
    const stdout = await output(workspace, 'perl getdents.pl 0 1 2 3')
    const runs = lines(stdout).map((line) => JSON.parse(line) as { what: string; names: string[] })
    expect(runs.length).toBeGreaterThan(20)
    for (const { what, names: seen } of runs) expect({ what, seen: seen.toSorted() }).toEqual({ what, seen: names })
  })

  itWith(
    [component('cc')],
    'answers a static program, in 64 threads at once',
    async () => {
      const made = spawnSync('cc', ['-static', '-O1', '-pthread', '-o', join(scratch.path, 'lister'), lister])
      expect(made.status, String(made.stderr)).toBe(0)
      await copyFile(join(scratch.path, 'lister'), join(root, 'lister'))
      await give(join(root, 'lister'))
      for (let i = 0; i < 200; i++) await file(`file-${i}`)
      const workspace = await open()
      expect(await output(workspace, './lister / 64 20 201')).toBe(`${64 * 20} listings, 0 wrong\n`)
    },
    { tags: 'all' },
  )

  it('lists 10,000 entries at the root, each once', { tags: ['deep'] }, async () => {
    await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        for (let j = 0; j < 100; j++) await file(`f${i}-${j}`)
      }),
    )
    const workspace = await open()
    expect(await output(workspace, 'ls -A / | sort -u | wc -l; find / -maxdepth 1 -type f | wc -l')).toBe(
      '10000\n10000\n',
    )
  })

  it('[RP18] keeps the names while commands run, from both doors and from other workspaces, and leaves nothing', async () => {
    await file('a.txt')
    const workspace = await open()
    await using other = await createWorkspace({
      mounts: [{ at: '/workspace', adapter: await createLocalAdapter({ root }) }],
    })
    await using running = await workspace.spawn('echo ready; read -r line', { stdin: endless() })
    await running.stdout[Symbol.asyncIterator]().next()
    expect(await readdir(root)).toEqual(expect.arrayContaining(['a.txt', 'bin', 'dev', 'etc', 'proc', 'tmp', 'usr']))
    expect(await listed(workspace)).toEqual(['a.txt'])
    const seen = await Array.fromAsync(other.list('/workspace', { recursive: true }))
    expect(seen.map(({ path }) => path)).toEqual(['/workspace/a.txt'])
    await expect(workspace.stat('/usr')).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(other.stat('/workspace/usr')).rejects.toMatchObject({ code: 'ENOENT' })
    expect((await workspace.exec('rmdir /usr; mv /etc /x; rm -rf /proc; chmod 777 /bin; ls -A')).stdout).toBe('a.txt\n')
    running.kill('SIGKILL')
    await running.wait()
    expect(await readdir(root)).toEqual(['a.txt'])
  })

  it('holds rules there as anywhere: masks, read-only parts, missing names', async () => {
    await directory('fixed')
    await file('fixed/file', 'fixed\n')
    await file('secret', 'hush\n')
    const workspace = await open({
      rules: [rules.deny('/secret'), rules.readOnly('/fixed'), rules.deny('/.env'), rules.readOnly('/new/part')],
    })
    const { stdout } = await workspace.exec(
      'cat /secret /workspace/secret /proc/self/root/secret 2>&1 | grep -c denied; echo x > fixed/file; echo x > .env; echo x > new/part; mv fixed f; cat fixed/file',
    )
    expect(stdout).toBe('3\nfixed\n')
    expect((await readdir(root)).sort()).toEqual(['fixed', 'secret'])
    expect(await readFile(join(root, 'secret'), 'utf8')).toBe('hush\n')
  })

  it('shows the same below each alias, and no alias in another', async () => {
    await directory('area')
    await directory('area/open')
    await file('area/open/file', 'open\n')
    await file('secret', 'hush\n')
    const workspace = await open({
      aliases: { '/one': '/', '/two': '/' },
      rules: [
        rules.deny('/area'),
        rules.allow('/area/open', { from: ['deny(/area)'], justification: 'shown' }),
        rules.deny('/secret'),
      ],
    })
    for (const at of ['/one', '/two']) {
      const outcome = await workspace.exec(
        `cd ${at} && ls -A .; cat area/open/file secret; ls area; chmod 777 area; touch area/x usr/x one/x two/x; ls -A one two; echo x > dev/null && echo null; bin/echo ran; readlink /proc/self/cwd`,
      )
      expect(outcome.stdout).toBe(`area\nsecret\nopen\none:\n\ntwo:\nnull\nran\n${at}\n`)
      expect(outcome.stderr.match(/Permission denied|Read-only file system/g)).toHaveLength(7)
    }
  })

  it('shows mounts of the workspace inside it, and /tmp in memory where there is no scratch', async () => {
    await mkdir(join(scratch.path, 'data'))
    await give(join(scratch.path, 'data'))
    const workspace = await open({
      scratch: false,
      mounts: [
        { at: '/', adapter: await createLocalAdapter({ root }) },
        { at: '/data', adapter: await createLocalAdapter({ root: join(scratch.path, 'data') }), access: 'read-only' },
      ],
    })
    const { stdout } = await workspace.exec('ls -A /; touch /tmp/x && ls /tmp; touch /data/y || echo refused')
    expect(stdout).toBe('data\nx\nrefused\n')
    expect(await readdir(root)).toEqual(['data'])
  })

  it('shows a tool at its place, under a name that is hidden at /', async () => {
    await mkdir(join(scratch.path, 'tool/bin'), { recursive: true })
    await writeFile(join(scratch.path, 'tool/bin/mine'), '#!/bin/sh\necho mine\n', { mode: 0o755 })
    const workspace = await open({}, { tools: [{ host: join(scratch.path, 'tool'), at: '/opt/tool' }] })
    expect(await output(workspace, 'mine; ls -A /; ls -A /opt; touch /opt/x 2>/dev/null || echo refused')).toBe(
      'mine\ntool\nrefused\n',
    )
    expect(await readdir(root)).toEqual([])
  })

  it('says in its report which form it uses', async () => {
    const { details } = await createBubblewrapExecutor({ root: 'direct' }).probe({
      owner: ordinaryOwner(),
      withDetails: true,
    })
    expect(details).toMatchObject({ root: 'direct', warm: 'used for all commands but the first' })
    expect(details['cost']).toBeUndefined()
  })

  itWith([component('proot')], 'is translated where it cannot be direct, and refused where it must be', async () => {
    await file('run', 'own')
    const direct = createBubblewrapExecutor({ root: 'direct' })
    const taken = open({ scratch: false })
    await expect(taken).rejects.toMatchObject({ code: 'ENOEXECUTOR' })
    const adapter = await createLocalAdapter({ root: join(root, '..'), owner: scratch.owner })
    const readOnly = { mounts: [{ at: '/', adapter, access: 'read-only' as const }] }
    await using refused = await createWorkspace({ ...readOnly, executors: [direct] })
    await expect(refused.exec('true')).rejects.toMatchObject({ code: 'EUNENFORCEABLE', path: '/' })
    await using translated = await createWorkspace({ ...readOnly, executors: [createBubblewrapExecutor()] })
    expect((await translated.exec('ls -A /')).stdout).toBe('work\n')
    const { details } = await createBubblewrapExecutor({ root: 'translated' }).probe({
      owner: ordinaryOwner(),
      withDetails: true,
    })
    expect(details).toMatchObject({ root: 'translated', warm: 'not used: the root is translated' })
  })
})

async function* endless(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array()
  await new Promise(() => undefined)
}
