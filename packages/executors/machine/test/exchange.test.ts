/** @module-tag all */
import { chmod, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { rules } from '@ws/core'
import { until } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { modelOfDirectory, modelOfWorkspace } from './model.ts'
import { openSite } from './support.ts'

const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`/d${index % 10}/f${index}.txt`, `${index}\n`]))

describe('calls to the machine', () => {
  it.each([10, 500])('are at most 2 for a command, with %d files', async (count) => {
    const { workspace, machine, root } = await openSite({ files: many(count), hasInput: false })
    const calls = async (command: string) => {
      machine.calls.length = 0
      expect(await workspace.exec(command)).toMatchObject({ exitCode: 0, stderr: '' })
      return machine.calls.slice()
    }
    expect(await calls('true')).toEqual(['put', 'start'])
    expect(await calls('true')).toEqual(['start'])
    expect(await calls(`for i in $(seq ${count}); do echo $i >> d0/new$i; done`)).toEqual(['start'])
    for (let index = 0; index < count; index += 1) await workspace.write(`${root}/mine/${index}`, `${index}`)
    expect(await calls('mv mine theirs; rm -r d1')).toEqual(['put', 'start'])
    expect((await modelOfWorkspace(workspace, root)).size).toBe((await modelOfDirectory(root)).size)
    expect(await workspace.readText(`${root}/theirs/${count - 1}`)).toBe(`${count - 1}`)
  })

  it('are none where one process waits there for orders', async () => {
    const { workspace, machine, root } = await openSite({ files: many(100) })
    machine.calls.length = 0
    await workspace.exec('echo a > d0/f0.txt')
    await workspace.write(`${root}/b`, 'b')
    await workspace.exec('cat b > c')
    expect(machine.calls).toEqual([])
    expect(await workspace.readText(`${root}/c`)).toBe('b')
  })

  it('move no bytes of files that are as they were', async () => {
    const { workspace, machine } = await openSite({ files: { '/big': 'x'.repeat(1_000_000) }, hasInput: false })
    await workspace.exec('true')
    machine.received = 0
    await workspace.exec('touch new; echo more >> small')
    expect(machine.received).toBeLessThan(30_000)
  })
})

describe.each([
  ['an attendant', {}],
  ['each command by itself', { hasInput: false, isText: true }],
] as const)('over %s', (_title, form) => {
  it('keeps modes, links, hard links, empty directories and bytes', async () => {
    const { workspace, root } = await openSite({ ...form, files: { '/a': 'x' } })
    const command =
      'mkdir -p e/f; chmod 700 e; printf "\\0\\377\\n" > bin; ln bin hard; ln -s gone dead; chmod 640 a; truncate -s 3M sparse; mkfifo fifo'
    expect(await workspace.exec(command)).toMatchObject({ exitCode: 0, stderr: '' })
    expect((await workspace.stat(`${root}/e`)).mode).toBe(0o700)
    expect((await workspace.stat(`${root}/a`)).mode).toBe(0o640)
    expect((await workspace.stat(`${root}/e/f`)).type).toBe('directory')
    for (const name of ['bin', 'hard']) {
      expect(Buffer.from((await workspace.read(`${root}/${name}`)).bytes)).toEqual(Buffer.from([0, 255, 10]))
    }
    expect((await workspace.stat(`${root}/sparse`)).size).toBe(3 * 1024 * 1024)
    expect(await workspace.readSymlink(`${root}/dead`)).toBe('gone')
    expect(await workspace.exists(`${root}/fifo`)).toBe(false)
    await workspace.chmod(`${root}/bin`, 0o755)
    await workspace.chmod(`${root}/e`, 0o750)
    expect((await workspace.exec('stat -c %a bin e')).stdout).toBe('755\n750\n')
  })

  it('says which names the workspace cannot have, and leaves them there', async () => {
    const { workspace, root } = await openSite(form)
    const bad = await workspace.exec(
      String.raw`printf x > "$(printf 'n\377')"; mkdir "$(printf 'd\376')"; echo y > "$(printf 'd\376')/in"; echo z > good`,
    )
    expect(bad).toMatchObject({ exitCode: 1 })
    expect(bad.stderr.match(/not UTF-8/gu)).toHaveLength(2)
    expect(bad.stderr).toContain(`${root}/n\\xff`)
    expect(await workspace.readText(`${root}/good`)).toBe('z\n')
    await workspace.write(`${root}/more`, '')
    expect(await workspace.exec('ls | wc -l')).toMatchObject({ stdout: '4\n', stderr: '', exitCode: 0 })
  })

  it('takes nothing away below a directory that may not be read there', async () => {
    const { workspace, root } = await openSite({ ...form, files: { '/shut/a': 'a', '/b': 'b' } })
    await workspace.exec('chmod 000 shut')
    await workspace.chmod(`${root}/shut`, 0o700).catch(() => undefined)
    expect(await workspace.readText(`${root}/shut/a`)).toBe('a')
    await workspace.write(`${root}/b`, 'c')
    expect(await workspace.exec('chmod 755 shut; cat b shut/a')).toMatchObject({ stdout: 'ca', exitCode: 0 })
    expect(await workspace.exec('cat shut/a')).toMatchObject({ stdout: 'a', stderr: '' })
    expect(await workspace.readText(`${root}/shut/a`)).toBe('a')
  })

  it('says that a directory cannot be entered there, and that the command did not run', async () => {
    const { workspace, root } = await openSite({ ...form, files: { '/shut/a': 'a' } })
    await workspace.exec('chmod 000 shut')
    const refused = workspace.exec('touch ran', { cwd: `${root}/shut` })
    await expect(refused).rejects.toMatchObject({
      code: 'ENOEXEC',
      reason: expect.stringContaining('cannot be entered'),
    })
    expect(await workspace.exec('chmod 755 shut; ls shut')).toMatchObject({ stdout: 'a\n', stderr: '' })
    expect(await workspace.exec('pwd', { cwd: `${root}/shut` })).toMatchObject({ stdout: `${root}/shut\n` })
  })

  it('names a file that cannot be read there, and keeps the workspace’s', async () => {
    const { workspace, root } = await openSite({ ...form, files: { '/a': 'old' } })
    const { exitCode, stderr } = await workspace.exec('echo new > a; chmod 000 a')
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(`\`${root}/a\``) })
    expect(await workspace.readText(`${root}/a`)).toBe('old')
  })

  it('keeps both where a directory and a file take one name', async () => {
    const { workspace, root } = await openSite({ ...form, files: { '/d/in': 'in', '/f': 'f' } })
    const command = 'mkdir new; echo m > new/x; rm f; mkdir f; echo m > f/y; echo more > d/in; touch ready; sleep 60'
    const running = await workspace.spawn(command)
    await until(() => existsSync(join(root, 'ready')))
    await workspace.write(`${root}/new`, 'w')
    await workspace.write(`${root}/f`, 'w2')
    await workspace.delete(`${root}/d`, { recursive: true })
    await workspace.write(`${root}/d`, 'w3')
    running.kill('SIGTERM')
    expect((await running.wait()).stderr).toContain('.conflict-')
    const contents = [...(await modelOfWorkspace(workspace, root))].map(([path, node]) => [
      path.replaceAll(/\d{8}T\d+Z/gu, 'T'),
      node.type === 'file' ? node.content : node.type,
    ])
    expect(Object.fromEntries(contents)).toMatchObject({
      '/new': 'w',
      '/new.conflict-T/x': 'm\n',
      '/f': 'w2',
      '/f.conflict-T/y': 'm\n',
      '/d': 'w3',
      '/d.conflict-T/in': 'more\n',
    })
  })

  it('lets an edit of either side win over a deletion of the other', async () => {
    const { workspace, root } = await openSite({ files: { '/a': 'a', '/b': 'b' } })
    const running = await workspace.spawn('cat; echo edit > a; rm b', { writableStdin: true })
    await workspace.delete(`${root}/a`)
    await workspace.write(`${root}/b`, 'edit')
    running.endInput()
    expect(await running.wait()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`${root}/b`) })
    expect(await workspace.exec('cat a b')).toMatchObject({ stdout: 'edit\nedit', stderr: '' })
  })

  it('takes changes of commands that run at once, and of processes that stay', async () => {
    const { workspace, root } = await openSite({ ...form, files: { '/a': '' } })
    const commands = Array.from({ length: 6 }, (_, index) =>
      workspace.exec(`sleep 0.$((${index} % 3)); echo ${index} > n${index}; cat a`),
    )
    for (let index = 0; index < 6; index += 1) await workspace.write(`${root}/w${index}`, `${index}`)
    for (const { exitCode, stderr } of await Promise.all(commands))
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect((await workspace.exec('cat n* w*')).stdout).toBe('0\n1\n2\n3\n4\n5\n012345')
    for (let index = 0; index < 6; index += 1) expect(await workspace.readText(`${root}/n${index}`)).toBe(`${index}\n`)
  })

  it('gives input of every form, and ends commands with signals', async () => {
    const { workspace } = await openSite(form)
    expect(await workspace.exec('cat', { stdin: 'text' })).toMatchObject({ stdout: 'text' })
    expect(await workspace.exec('wc -c', { stdin: Buffer.alloc(300_000) })).toMatchObject({ stdout: '300000\n' })
    expect(await workspace.exec('cat; echo end')).toMatchObject({ stdout: 'end\n' })
    expect(await workspace.exec('trap "echo bye; exit 3" TERM; sleep 60 & wait', { timeout: 500 })).toMatchObject({
      stdout: 'bye\n',
      timedOut: true,
    })
    const running = await workspace.spawn('echo up; sleep 60')
    await until(() => running.output().stdout.includes('up'))
    running.kill('SIGKILL')
    expect(await running.wait()).toMatchObject({ signal: 'SIGKILL', exitCode: null })
    expect(await workspace.exec(`: ${'x'.repeat(200_000)}; echo long`)).toMatchObject({ stdout: 'long\n' })
    expect(await workspace.exec(`echo ${'y'.repeat(40_000)} | wc -c`)).toMatchObject({ stdout: '40001\n' })
    const env = { A: "a 'b'\n", PATH: '/nothing', TAR_OPTIONS: '--nothing' }
    const told = await workspace.exec('/usr/bin/env -0', { env, login: false })
    const variables = told.stdout.split('\0')
    expect(variables).toEqual(expect.arrayContaining(["A=a 'b'\n", 'PATH=/nothing', 'TAR_OPTIONS=--nothing']))
    expect(told.stdout).not.toContain('WS_V')
  })

  it('asks again for lists whose bytes another process damaged', async () => {
    const { workspace, root } = await openSite({ ...form, files: { '/a': 'a' } })
    const spam = 'import os,time\nos.setsid()\nend=time.time()+1.5\nwhile time.time()<end: os.write(1,b"spam")'
    await workspace.write(`${root}/spam.py`, spam)
    const { exitCode } = await workspace.exec('python3 spam.py & sleep 0.3; echo new > a')
    expect(exitCode).toBe(0)
    expect(await workspace.readText(`${root}/a`)).toBe('new\n')
  })

  it('undoes refused changes before the next command', async () => {
    const { workspace, root } = await openSite({
      ...form,
      files: { '/docs/a': 'kept\n', '/secret/key': 'hidden\n', '/one': 'hidden\n' },
      workspace: (root) => ({
        rules: [
          rules.deny(`${root}/secret`, { name: 'secret' }),
          rules.deny(`${root}/one`, { name: 'one' }),
          rules.readOnly(`${root}/docs`, { name: 'docs' }),
        ],
      }),
    })
    const run = (command: string) => workspace.exec(command, { acknowledge: ['secret', 'docs', 'one'] })
    expect(await run('cat docs/a; cat secret/key; cat one')).toMatchObject({ stdout: 'kept\n', exitCode: 1 })
    const { exitCode, stderr } = await run('echo x > docs/a; echo y > free; echo z > one; rm -r docs/b; mkdir docs/c')
    expect(exitCode).toBe(1)
    for (const path of ['docs/a', 'docs/c', 'one']) expect(stderr).toContain(`\`${root}/${path}\` was not made`)
    expect(await run('cat docs/a free; ls docs; test -e one || echo none')).toMatchObject({
      stdout: 'kept\ny\na\nnone\n',
    })
    expect(await workspace.readText(`${root}/docs/a`)).toBe('kept\n')
  })

  it('brings the files again when the directory is gone, and keeps the workspace’s', async () => {
    const { workspace, root } = await openSite({ ...form, files: { '/a': 'a', '/d/b': 'b' } })
    const gone = await workspace.exec('mv "$PWD" "$PWD-old"; mkdir "$PWD"')
    expect(gone).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no longer a directory') })
    expect(await workspace.readText(`${root}/d/b`)).toBe('b')
    expect(await workspace.exec('cat a d/b')).toMatchObject({ stdout: 'ab', exitCode: 0 })
  })
})

it.each(['tar', 'find', 'setsid'])('says that a machine without %s lacks it', async (missing) => {
  const path = await mkdtemp(join(tmpdir(), 'machine-path-'))
  onTestFinished(() => rm(path, { recursive: true }))
  await chmod(path, 0o755)
  for (const directory of ['/usr/bin', '/bin']) {
    for (const name of await readdir(directory)) {
      if (name !== missing) await symlink(join(directory, name), join(path, name)).catch(() => undefined) // in both
    }
  }
  await expect(openSite({ env: { PATH: path } })).rejects.toThrow(
    new RegExp(`the machine has no (GNU )?${missing}`, 'u'),
  )
})

it('leaves nothing on the machine but the workspace’s files', async () => {
  const temporary = await mkdtemp(join(tmpdir(), 'machine-tmp-'))
  onTestFinished(() => rm(temporary, { recursive: true }))
  await chmod(temporary, 0o777)
  const { workspace, root } = await openSite({ env: { TMPDIR: temporary }, files: { '/a': 'a' } })
  await workspace.exec('cat a', { stdin: 'x' })
  await workspace.exec('sleep 60', { timeout: 200 })
  expect(await readdir(temporary)).toHaveLength(1)
  await workspace.close()
  expect(await readdir(temporary)).toEqual([])
  expect(await readdir(root)).toEqual(['a'])
})

it('keeps a file where a link that the workspace cannot have takes its place', async () => {
  const { workspace, root } = await openSite({ files: { '/a': 'kept', '/b': '', '/c': 'c' } })
  const linking = await workspace.exec(`ln -sf "$(printf '\\377')" a; ln -sf a b`)
  expect(linking).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`\`${root}/a\` was not made`) })
  expect(await workspace.readText(`${root}/a`)).toBe('kept')
  expect(await workspace.readSymlink(`${root}/b`)).toBe('a')
  expect(await workspace.exec('cat a b')).toMatchObject({ stdout: 'keptkept', stderr: '' })
})

it('keeps a file where a link takes its place and the store holds no links', async () => {
  const adapter = () => Object.assign(createMemoryAdapter({ files: { '/a': 'kept' } }), { createSymlink: undefined })
  const { workspace, root } = await openSite({
    workspace: (root) => ({ mounts: [{ at: root, adapter: adapter as never }] }),
  })
  expect(await workspace.exec('ln -sf b a')).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no links') })
  expect(await workspace.readText(`${root}/a`)).toBe('kept')
  expect(await workspace.exec('cat a')).toMatchObject({ stdout: 'kept', stderr: '' })
})

it.each([true, false])('goes on when a command removes every temporary file there (input: %s)', async (hasInput) => {
  const temporary = await mkdtemp(join(tmpdir(), 'machine-tmp-'))
  onTestFinished(() => rm(temporary, { recursive: true }))
  await chmod(temporary, 0o777)
  const { workspace, root } = await openSite({ env: { TMPDIR: temporary }, files: { '/a': 'a' }, hasInput })
  const removing = await workspace.exec(`rm -rf ${temporary}/*; echo new > b; exit 3`)
  expect(removing).toMatchObject({ exitCode: 3, stderr: '' })
  expect(await workspace.readText(`${root}/b`)).toBe('new\n')
  await workspace.write(`${root}/c`, 'c')
  expect(await workspace.exec('cat a b c')).toMatchObject({ stdout: 'anew\nc', stderr: '' })
  for (const name of await readdir(temporary)) await rm(join(temporary, name), { recursive: true })
  await workspace.write(`${root}/d`, 'd')
  await expect(workspace.exec('cat d')).rejects.toThrow('not') // the next command looks for the directory
  expect(await workspace.exec('cat d')).toMatchObject({ stdout: 'd', stderr: '' })
  await workspace.close()
  expect(await readdir(temporary)).toEqual([])
})
