import { execFile } from 'node:child_process'
import { chmod, lstat, mkdir, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { describe, expect, it } from 'vitest'

import { component, componentNames, createScratchDirectory, itWith, ordinaryOwner } from '../src/index.ts'

describe('ordinaryOwner', () => {
  it('is never root', () => {
    expect(ordinaryOwner().uid).not.toBe(0)
  })
})

describe('createScratchDirectory', () => {
  it('belongs to the owner, who can work in it', async () => {
    await using scratch = await createScratchDirectory()
    const { uid, gid, mode } = await stat(scratch.path)
    expect({ uid, gid, mode: mode & 0o777 }).toEqual({ ...scratch.owner, mode: 0o755 })
    const asOwner = process.getuid?.() === 0 ? scratch.owner : {}
    await promisify(execFile)('/bin/mkdir', ['made'], { cwd: scratch.path, ...asOwner })
  })

  it('is removed with directories that nobody may enter, and never follows a link', async () => {
    await using outside = await createScratchDirectory()
    const scratch = await createScratchDirectory()
    await mkdir(join(outside.path, 'kept'), { mode: 0o500 })
    await mkdir(join(scratch.path, 'locked'))
    await writeFile(join(scratch.path, 'locked', 'file'), '')
    await symlink(outside.path, join(scratch.path, 'locked', 'link'))
    await chmod(join(scratch.path, 'locked'), 0o000)
    await scratch[Symbol.asyncDispose]()
    await expect(lstat(scratch.path)).rejects.toMatchObject({ code: 'ENOENT' })
    expect((await stat(join(outside.path, 'kept'))).mode & 0o777).toBe(0o500)
  })
})

describe('component', () => {
  it.each(componentNames)('%s is probed once and gives a reason when it is missing', (name) => {
    const probed = component(name)
    expect(component(name)).toBe(probed)
    expect(probed.reason === '').toBe(probed.available)
  })

  itWith(component('bash'), 'itWith runs the test where the component is there', ({ task }) => {
    expect(task.mode).toBe('run')
  })
})
