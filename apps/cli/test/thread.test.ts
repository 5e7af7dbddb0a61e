/** @module-tag all */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { ws } from './ws.ts'

describeWith([component('bubblewrap')], 'ws thread', () => {
  it('makes threads, runs commands in them, and carries them over', async () => {
    await using scratch = await createScratchDirectory({ prefix: 'ws-cli-thread-' })
    const root = await scratch.createDirectory('store')
    const options = { env: { XDG_STATE_HOME: await scratch.createDirectory('state') } }
    const thread = (...args: string[]) => ws(['--root', root, 'thread', ...args], options)
    await scratch.createDirectory('store/skills/system/plan')
    await writeFile(join(root, 'skills/system/plan/SKILL.md'), '---\nname: plan\ndescription: Plans.\n---\n')

    expect(await thread('list')).toMatchObject({ code: 0, stdout: '' })
    const opened = await thread('open', 't1', '--user', 'u1')
    expect(opened).toMatchObject({ code: 0, stdout: expect.stringMatching(/thread +t1\nstate +open\n/) as string })
    expect(opened.stderr).toContain('package.json was made')
    const run = await thread('exec', 't1', '--user', 'u1', '--', 'echo hello > /a.txt; pwd; exit 4')
    expect(run).toMatchObject({ code: 4, stdout: '/\n' })
    expect((await thread('ls', 't1', '--user', 'u1')).stdout).toContain('a.txt\n')
    expect(await readFile(join(root, 'threads/t1/a.txt'), 'utf8')).toBe('hello\n')
    expect((await thread('skills', 't1', '--user', 'u1')).stdout).toMatch(/^plan +system +Plans\.\n$/)
    const status = JSON.parse(
      (await ws(['--root', root, '--json', 'thread', 'status', 't1', '--user', 'u1'], options)).stdout,
    ) as object
    expect(status).toMatchObject({ threadId: 't1', state: 'open', writer: { scope: 'machine' } })

    const { bytes } = await thread('export', 't1')
    expect(await ws(['--root', root, 'thread', 'import', 't2'], { ...options, input: bytes })).toMatchObject({
      code: 0,
    })
    expect(await readFile(join(root, 'threads/t2/a.txt'), 'utf8')).toBe('hello\n')
    expect((await thread('delete', 't2', '--dry-run')).stdout).toMatch(/entries, \d+ bytes would be deleted/)
    expect(await thread('delete', 't2')).toMatchObject({ code: 0 })
    expect((await thread('list')).stdout).toBe('t1\n')
  })

  it('says what is wrong in one line', async () => {
    await using scratch = await createScratchDirectory({ prefix: 'ws-cli-thread-' })
    const options = { env: { XDG_STATE_HOME: scratch.path } }
    await mkdir(join(scratch.path, 'store'))
    const thread = (...args: string[]) => ws(['--root', join(scratch.path, 'store'), 'thread', ...args], options)
    expect((await thread('open', '../t2', '--user', 'u1')).stderr).toMatch(
      /^ws: EINVAL: openThread: the thread id must/,
    )
    expect((await thread('open', 't1')).stderr).toMatch(/^ws: .*--user/)
    expect((await thread('delete', 'none')).stderr).toMatch(/^ws: ENOENT: deleteThread: `none` does not exist/)
    expect((await ws(['thread', 'list'], options)).stderr).toMatch(/^ws: threads need one storage:/)
  })

  it('lies where the config file mounts it, and at / without one', async () => {
    await using scratch = await createScratchDirectory({ prefix: 'ws-cli-thread-' })
    await mkdir(join(scratch.path, 'store'))
    const config = join(scratch.path, 'ws.config.json')
    await writeFile(config, JSON.stringify({ mounts: [{ at: '/workspace', root: 'store' }], executors: ['virtual'] }))
    const options = { env: { XDG_STATE_HOME: scratch.path } }
    const pwd = ['exec', 't1', '--user', 'u1', '--no-stdin', '--', 'pwd']
    expect((await ws(['--config', config, 'thread', ...pwd], options)).stdout).toBe('/workspace\n')
    const root = ['--root', join(scratch.path, 'store'), '--executor', 'virtual']
    expect((await ws([...root, 'thread', ...pwd], options)).stdout).toBe('/\n')
  })
})
