/** @module-tag all */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { renameSync, writeFileSync } from 'node:fs'
import { chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, rules, type Workspace } from '@ws/core'
import { component, createScratchDirectory, describeWith, type ScratchDirectory, rounds } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'

import { createBubblewrapExecutor } from '../src/index.ts'

describeWith([component('bubblewrap'), component('perl')], 'the keeper of protected names', () => {
  let scratch: ScratchDirectory
  beforeEach(async () => {
    scratch = await createScratchDirectory({ prefix: 'ws-keeper-' })
    vi.stubEnv('WS_STATE_DIRECTORY', join(scratch.path, 'state'))
    await mkdir(join(scratch.path, 'state'), { mode: 0o700 })
  })
  afterEach(async () => {
    vi.unstubAllEnvs()
    await scratch.remove()
  })

  /** A workspace on a directory of its own, whose `.env` is there or not. */
  async function open(name: string, env?: string): Promise<Workspace> {
    const root = join(scratch.path, name)
    const give = async (path: string) => {
      if (process.getuid?.() === 0) await chown(path, scratch.owner.uid, scratch.owner.gid)
    }
    await mkdir(root, { recursive: true })
    await give(root)
    if (env !== undefined) {
      await writeFile(join(root, '.env'), env)
      await give(join(root, '.env'))
    }
    return await createWorkspace({
      mounts: [{ at: '/workspace', adapter: await createLocalAdapter({ root }) }],
      rules: [rules.deny('/workspace/.env')],
      executors: [createBubblewrapExecutor({ onExposure: 'end' })],
    })
  }

  /** Takes the lock of the list of reserved names, as a process does that is stopped at the wrong moment. */
  async function holdList(): Promise<() => Promise<void>> {
    await mkdir(join(scratch.path, 'state/reserved'), { mode: 0o700 })
    const holder = spawn('flock', [join(scratch.path, 'state/reserved/mutex'), '-c', 'echo held; cat'])
    onTestFinished(() => void holder.kill('SIGKILL'))
    await once(holder.stdout, 'data')
    return async () => {
      holder.stdin.end()
      await once(holder, 'exit')
    }
  }

  it('[RU2] watches on while it waits for the list of reserved names, and needs no list to watch', async () => {
    await using masked = await open('masked', 'old')
    await using missing = await open('missing')
    const release = await holdList()
    const command = await masked.spawn('echo started; while :; do sleep 0.01; done')
    await command.stdout[Symbol.asyncIterator]().next()
    const reserving = missing.exec('true')
    writeFileSync(join(scratch.path, 'new'), 'new')
    renameSync(join(scratch.path, 'new'), join(scratch.path, 'masked/.env'))
    await expect(command.wait()).rejects.toMatchObject({ code: 'EIO', path: '/workspace/.env' })
    await release()
    expect((await reserving).exitCode).toBe(0)
  })

  // Waits for the lock as long as commands do, several times.
  it('[RU2] costs no running command its watch when the list stays locked: who needs it is refused', {
    tags: 'deep',
  }, async () => {
    await using masked = await open('masked', 'old')
    await using missing = await open('missing')
    const release = await holdList()
    const { promise: line, resolve } = Promise.withResolvers<Uint8Array>()
    const command = await masked.spawn('read line; cat .env; echo over', {
      stdin: (async function* () {
        yield await line
      })(),
    })
    await expect(missing.exec('true')).rejects.toMatchObject({ code: 'EBUSY', path: '/workspace/.env' })
    resolve(Buffer.from('\n'))
    expect((await command.wait()).stdout).toBe('over\n')
    await release()
  })

  it('[RU2] is lost to no command while many workspaces open, run and close at once', { tags: 'rounds' }, async () => {
    const failed: unknown[] = []
    const one = async (index: number): Promise<void> => {
      for (const round of rounds({ quick: 4, seconds: 8 })) {
        await using workspace = await open(`w${index}`, index % 2 === 0 ? 'there' : undefined)
        const commands = Array.from({ length: 1 + (round % 3) }, () => workspace.exec('ls -d .env'))
        for (const { status, ...rest } of await Promise.allSettled(commands)) {
          if (status === 'rejected') failed.push((rest as { reason: unknown }).reason)
        }
      }
    }
    await Promise.all(Array.from({ length: 8 }, (_, index) => one(index)))
    expect(failed).toEqual([])
  })
})
