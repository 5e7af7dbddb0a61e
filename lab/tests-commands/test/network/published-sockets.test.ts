import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import type { Workspace } from '@ws/core'
import { component, describeWith } from '@ws/test-fixtures'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import { ask, open, type Opened, serve } from './support/servers.ts'

const port = 3000
const run = promisify(execFile)

/** A directory outside of every mount. */
async function outside(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'ws-sockets-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function refusalOf(workspace: Workspace, socketPath: string): Promise<unknown> {
  const error = await workspace.publish(port, { socketPath }).catch((reason: unknown) => reason)
  expect(String(error)).not.toContain(socketPath)
  expect(await workspace.ports()).toEqual([{ port }])
  return error
}

describeWith([component('bubblewrap'), component('perl'), component('python3')], 'a port published as a socket', () => {
  let opened: Opened
  beforeEach(async () => {
    opened = await open()
    const server = await serve(opened.workspace, port)
    return () => server.end()
  })

  it('[SV1] is for this user alone from its first moment, and leaves nothing beside it', async () => {
    const directory = await outside()
    await chmod(directory, 0o777)
    const socketPath = join(directory, 'app.sock')
    expect(await opened.workspace.publish(port, { socketPath })).toEqual({ port, socketPath })
    expect((await stat(socketPath)).mode & 0o777).toBe(0o700)
    expect(await readdir(directory)).toEqual(['app.sock'])
    expect(await ask({ socketPath }, '/unix')).toBe('hello /unix')
    await opened.workspace.unpublish(port)
    expect(await readdir(directory)).toEqual([])
  })

  it('[SV1] removes no file that took its place', async () => {
    const directory = await outside()
    const socketPath = join(directory, 'app.sock')
    await opened.workspace.publish(port, { socketPath })
    await rename(socketPath, join(directory, 'moved'))
    await writeFile(socketPath, 'kept')
    await opened.workspace.unpublish(port)
    expect(await readdir(directory)).toEqual(['app.sock', 'moved'])
  })

  describe('is refused in the directory of a mount, where a command could exchange it', () => {
    const refusal = {
      code: 'EINVAL',
      reason: '`socketPath` lies in the directory of `/workspace`, where commands could exchange it',
      remedy: 'choose a directory outside of every mount',
    }

    it('[SV1] there, below it, and through links to it and in it', async () => {
      const { workspace, scratch } = opened
      const directory = await outside()
      await mkdir(join(scratch.path, 'sub'))
      await symlink(join(scratch.path, 'sub'), join(directory, 'in'))
      await symlink(directory, join(scratch.path, 'out'))
      for (const place of [
        join(scratch.path, 'a.sock'),
        join(scratch.path, 'sub/a.sock'),
        join(directory, 'in/a.sock'),
        `${scratch.path}/out/a.sock`,
        `${scratch.path}/sub/../../a.sock`,
      ])
        expect(await refusalOf(workspace, place), place).toMatchObject(refusal)
      expect((await readdir(scratch.path)).sort()).toEqual(['out', 'server.py', 'sub'])
      expect(await readdir(directory)).toEqual(['in'])
    })

    it.runIf(component('tmpfs').available)('[SV1] through a bind mount of a part of it', async () => {
      const { workspace, scratch } = opened
      const directory = await outside()
      await mkdir(join(scratch.path, 'sub'))
      execFileSync('mount', ['--bind', join(scratch.path, 'sub'), directory])
      onTestFinished(() => void execFileSync('umount', ['-l', directory]))
      expect(await refusalOf(workspace, join(directory, 'a.sock'))).toMatchObject(refusal)
    })
  })

  it('[SV1] is refused in one sentence: left over, taken, another file, no directory, no right', async () => {
    const { workspace } = opened
    const directory = await outside()
    const socketPath = join(directory, 'app.sock')
    const other = createServer().listen(socketPath)
    await once(other, 'listening')
    const taken = { code: 'EBUSY', reason: '`socketPath` is taken', remedy: 'choose another path' }
    expect(await refusalOf(workspace, socketPath)).toMatchObject(taken)
    await rename(socketPath, join(directory, 'left.sock'))
    await new Promise((resolve) => other.close(resolve))
    await rename(join(directory, 'left.sock'), socketPath)
    expect(await refusalOf(workspace, socketPath)).toMatchObject({
      code: 'EBUSY',
      reason: 'a socket was left at `socketPath`, and no program listens there',
      remedy: 'remove that file first',
    })
    await rm(socketPath)
    await writeFile(socketPath, 'a file')
    expect(await refusalOf(workspace, socketPath)).toMatchObject(taken)
    for (const place of ['none/a.sock', 'app.sock/a.sock'])
      expect(await refusalOf(workspace, join(directory, place))).toMatchObject({
        code: 'ENOENT',
        reason: 'the directory of `socketPath` is missing',
        remedy: 'make it first',
      })
    for (const place of ['/proc/a.sock', '/sys/a.sock'])
      expect(await refusalOf(workspace, place)).toMatchObject({
        code: 'EACCES',
        reason: 'this process cannot make a socket there',
        remedy: 'choose another directory',
      })
    expect(await readdir(directory)).toEqual(['app.sock'])
  })

  it('[SV1] can be made in a worker thread', async () => {
    const socketPath = join(await outside(), 'app.sock')
    const program = new URL('support/in-thread.ts', import.meta.url).pathname
    // a process of its own: no thread waits for the helpers of one that has ended
    const { stdout } = await run(process.execPath, ['--conditions=@ws/source', program, socketPath])
    expect(stdout).toBe('hello /thread\n')
  })
})
