import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import { expect, it, onTestFinished } from 'vitest'

import { type Ended, ws, wsProcess } from './ws.ts'

interface Place {
  /** Calls `ws` from an empty directory. */
  readonly call: (...args: string[]) => Promise<Ended>
  readonly root: string
  readonly beside: (name: string) => string
  readonly text: (path: string) => Promise<string>
}

async function place(run = ws): Promise<Place> {
  const own = { uid: process.getuid?.() ?? ordinaryOwner().uid, gid: process.getgid?.() ?? ordinaryOwner().gid }
  const scratch = await createScratchDirectory({ owner: own })
  onTestFinished(() => scratch.remove())
  await chmod(scratch.path, 0o755)
  const beside = (name: string): string => join(scratch.path, name)
  const root = beside('project')
  for (const path of [root, beside('empty')]) await mkdir(path)
  await writeFile(join(root, 'a.txt'), 'one\n')
  await writeFile(join(root, 'both.txt'), 'one\n')
  const options = { env: { XDG_STATE_HOME: beside('state') }, cwd: beside('empty') }
  return {
    ...{ root, beside },
    call: (...args) => run(['--root', root, '--executor', 'virtual', ...args], options),
    text: (path) => readFile(join(root, path), 'utf8'),
  }
}

it('[EF3] forks into a directory, works there, and merges what does not conflict', async () => {
  const { call, root, beside, text } = await place(wsProcess)
  const made = await call('fork', '../attempt')
  expect(made).toMatchObject({
    code: 0,
    stderr: '',
    stdout: 'forked to ../attempt\nwork there: ws --root ../attempt ...; then here: ws merge ../attempt\n',
  })
  const command = 'echo two > a.txt; echo theirs > both.txt; echo new > new.txt'
  expect(await call('--root', beside('attempt'), 'exec', '--', command)).toMatchObject({ code: 0 })
  await writeFile(join(root, 'both.txt'), 'ours\n')
  expect(await text('a.txt')).toBe('one\n')

  const planned = await call('merge', '../attempt', '--dry-run')
  expect(planned.stdout).toBe('changed  /workspace/a.txt (content)\ncreated  /workspace/new.txt\n')
  expect(await text('a.txt')).toBe('one\n')

  const some = await call('--json', 'merge', '../attempt', '/workspace/a.txt')
  expect(some).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(some.stdout)).toMatchObject({ merged: [{ path: '/workspace/a.txt' }], conflicts: [], kept: [] })

  const merged = await call('merge', '../attempt')
  expect(merged.code).toBe(1)
  expect(merged.stderr).toBe('ws: /workspace/both.txt was left as it is: it was changed here too\n')
  expect(merged.stdout).toMatch(/^created {2}\/workspace\/new\.txt\nundo: ws restore c\w+\n$/u)
  expect([await text('a.txt'), await text('both.txt'), await text('new.txt')]).toEqual(['two\n', 'ours\n', 'new\n'])
  expect(await readFile(beside('attempt/both.txt'), 'utf8')).toBe('theirs\n')

  const [undo = ''] = /c\w+$/mu.exec(merged.stdout) ?? []
  expect(await call('restore', undo)).toMatchObject({ code: 0 })
  expect(await readdir(root)).toEqual(['a.txt', 'both.txt'])
  expect(await readdir(beside('.')).then((names) => names.sort())).toEqual(['attempt', 'empty', 'project', 'state'])
}, 120_000)

it('[EF3] refuses a directory that is no place for a fork, or not a fork', async () => {
  const { call, root, beside } = await place()
  for (const [directory, reason] of [
    [join(root, 'inside'), 'which lies in the root'],
    [root, 'holds something'],
    ['../project', 'holds something'],
    ['../none/below', 'does not exist'],
    ['../project/a.txt', 'is not a directory'],
  ] as const) {
    const refused = await call('fork', directory)
    expect({ code: refused.code, stdout: refused.stdout }, directory).toEqual({ code: 1, stdout: '' })
    expect(refused.stderr, directory).toContain(reason)
  }
  expect(await readdir(root)).toEqual(['a.txt', 'both.txt'])

  expect(JSON.parse((await call('--json', 'fork', '../gone')).stdout)).toEqual({
    directory: '../gone',
    checkpoint: expect.any(String),
  })
  await rm(beside('gone'), { recursive: true })
  const gone = await call('merge', '../gone')
  expect(gone).toMatchObject({
    code: 2,
    stderr: 'ws: ../gone is not a directory, and a deleted fork cannot be merged\n',
  })
  await mkdir(beside('gone'))
  expect((await call('merge', '../gone')).stderr).toContain('../gone is not a fork of this workspace')
  expect((await call('merge', '../project')).code).not.toBe(0)

  await mkdir(beside('other'))
  await writeFile(beside('other/x'), '')
  expect(await call('fork', '../mine')).toMatchObject({ code: 0 })
  const foreign = await call('--root', beside('other'), 'merge', '../mine')
  expect(foreign.code).toBe(2)
  expect(foreign.stderr).toContain('../mine is not a fork of this workspace; name a directory of `ws fork`')
  expect(await call('merge', '../mine', '/workspace/a.txt')).toMatchObject({ code: 1, stdout: '' })
}, 120_000)

it('[EF3] tries a command in a temporary fork', async () => {
  const { call, root, beside } = await place()
  const dropped = await call('try', '--fork', '--drop', '--', 'echo two > a.txt; exit 3')
  expect(dropped).toMatchObject({ code: 3, stderr: '' })
  expect(dropped.stdout).toContain('changed  /workspace/a.txt (content)\n')
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('one\n')
  expect(await call('try', '--fork', '--keep', '--', 'echo two > a.txt')).toMatchObject({ code: 0 })
  expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('two\n')
  expect(await readdir(beside('.')).then((names) => names.sort())).toEqual(['empty', 'project', 'state'])
})
