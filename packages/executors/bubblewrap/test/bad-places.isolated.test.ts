import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { chown } from 'node:fs/promises'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, rules, type Workspace } from '@ws/core'
import { component, createScratchDirectory, describeWith, type ScratchDirectory } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { createBubblewrapExecutor } from '../src/index.ts'

describeWith((['bubblewrap', 'perl'] as const).map(component), 'bad places', () => {
  let scratch: ScratchDirectory
  let state: string
  let work: string
  beforeEach(async () => {
    scratch = await createScratchDirectory({ prefix: 'ws-bad-' })
    state = join(scratch.path, 'state')
    mkdirSync(state, { mode: 0o700 })
    work = await scratch.createDirectory('work')
    vi.stubEnv('WS_STATE_DIRECTORY', state)
  })
  afterEach(async () => {
    vi.unstubAllEnvs()
    await scratch.remove()
  })

  const open = (at: '/' | '/workspace', root = work, name = '.env'): Promise<Workspace> =>
    createWorkspace({
      mounts: [{ at, adapter: () => createLocalAdapter({ root, owner: scratch.owner }) }],
      rules: [rules.deny(join(at, name))],
      executors: [createBubblewrapExecutor({ root: 'direct' })],
    })
  const notes = () => readdirSync(join(state, 'reserved')).filter((name) => /\.\d+$/.test(name))

  it('[HO1] a state directory that others can write to is refused, also while a workspace is open', async () => {
    await using workspace = await open('/workspace')
    expect((await workspace.exec('ls -d .env')).exitCode).toBe(0)
    chmodSync(state, 0o777)
    const opened = { reason: expect.stringContaining('other users can reach the state directory') }
    await expect(workspace.exec('true')).rejects.toMatchObject({
      ...opened,
      code: 'EUNENFORCEABLE',
      path: '/workspace/.env',
      remedy: expect.stringContaining('`chmod 700` it'),
    })
    // At the opening, or at the command where an earlier opening in this process has found the executor fit.
    const another = async (): Promise<void> => {
      await using second = await open('/')
      await second.exec('true')
    }
    await expect(another()).rejects.toMatchObject({
      ...opened,
      code: expect.stringMatching(/ENOEXECUTOR|EUNENFORCEABLE/),
    })
    expect(readdirSync(work)).toEqual([])
    chmodSync(state, 0o700)
    expect((await workspace.exec('true')).exitCode).toBe(0)
  })

  it.each(['/', '/workspace'] as const)(
    '[HO1] a root that is a link stays the directory that it was: %s',
    async (at) => {
      const link = join(scratch.path, 'link')
      symlinkSync(work, link)
      const other = await scratch.createDirectory('other')
      await using workspace = await open(at, link)
      rmSync(link)
      symlinkSync(other, link)
      await workspace.write('by-api', '')
      expect((await workspace.exec('touch by-command; ls -d .env')).stdout).toBe('.env\n')
      expect(readdirSync(work).sort()).toEqual(['by-api', 'by-command'])
      expect(readdirSync(other)).toEqual([])
      // The directory itself: what takes its name is another one.
      renameSync(work, join(scratch.path, 'away'))
      renameSync(other, work)
      const late = await workspace.exec('touch late').then(
        () => 'done',
        (error: unknown) => error,
      )
      expect(late).toMatchObject({ code: expect.stringMatching(/^E/), remedy: expect.stringMatching(/./) })
      expect(readdirSync(work)).toEqual([])
    },
  )

  describeWith(component('tmpfs'), 'a disk that becomes read-only', () => {
    it.each(['/', '/workspace'] as const)('[HO1] gives typed errors, and leaves nothing: %s', async (at) => {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=755', 'bad', work])
      const remount = (how: 'ro' | 'rw') => execFileSync('mount', ['-o', `remount,${how}`, work])
      try {
        await chown(work, scratch.owner.uid, scratch.owner.gid)
        await using workspace = await open(at)
        const { promise: line, resolve } = Promise.withResolvers<Uint8Array>()
        const running = await workspace.spawn(
          'echo begun > file; echo started; read line; echo more >> file; cat file',
          {
            stdin: (async function* () {
              yield await line
            })(),
          },
        )
        await running.stdout[Symbol.asyncIterator]().next()
        remount('ro')
        resolve(Buffer.from('\n'))
        expect(await running.wait()).toMatchObject({
          stderr: expect.stringMatching(/read-only file system/i),
          stdout: expect.stringContaining('begun'),
        })
        await expect(workspace.write('new', '')).rejects.toMatchObject({
          code: 'EROFS',
          remedy: expect.stringMatching(/./),
        })
        // Its name could not be removed, and holds. Another one cannot be made.
        expect((await workspace.exec('echo x > .env')).exitCode).not.toBe(0)
        await using other = await open('/workspace', work, '.other')
        await expect(other.exec('true')).rejects.toMatchObject({
          code: 'EUNENFORCEABLE',
          path: '/workspace/.other',
          reason: expect.stringContaining('its file system is read-only'),
          remedy: expect.stringMatching(/./),
        })
        expect(await workspace.readText('file')).toBe('begun\n')
        remount('rw')
        expect((await workspace.exec('cat file; ls -d .env')).stdout).toBe('begun\n.env\n')
        await workspace.close()
        expect(readdirSync(work)).toEqual(['file'])
        // Notes of the time when it was read-only go at the next start.
        await using next = await open('/workspace')
        await next.exec('true')
        await next.close()
        expect(notes()).toEqual([])
      } finally {
        execFileSync('umount', ['-l', work])
      }
    })
  })
})
