import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import type { StorageAdapter } from '@ws/core/adapter'
import { describe, expect, it, onTestFinished } from 'vitest'

import { directFiles } from '../src/part/direct.ts'
import { deviceOf } from '../src/part/opened.ts'
import { at, bytes, failureOf, scratch, text } from './support.ts'

/** A directory in the place of a mount, and what is left to the usual way. */
async function place(isMount: boolean) {
  const root = await scratch()
  await mkdir(join(root, 'dir'))
  await writeFile(join(root, 'file'), 'content')
  const local = await createLocalAdapter({ root })
  onTestFinished(() => local.close())
  const asked: string[] = []
  const refusing = (name: string) => async (): Promise<never> => {
    asked.push(name)
    throw new Error('the mount is gone')
  }
  const usual = isMount
    ? local
    : ({ ...local, stat: refusing('stat'), read: refusing('read'), write: refusing('write') } as StorageAdapter)
  const { dev } = await lstat(root, { bigint: true })
  return { root, asked, direct: directFiles(root, isMount ? dev : dev + 1n, usual) }
}

it('[RP14] a mount that has gone is `EIO`, without a path of the host', async () => {
  const root = await scratch()
  for (const path of [root, join(root, 'missing')]) {
    const error = await failureOf(deviceOf(path))
    expect(error).toMatchObject({ code: 'EIO', remedy: 'call `recover()`' })
    expect(error.message).not.toContain(root)
  }
})

describe('the shortest way to files of a mount', () => {
  it('[RP14] finds and makes nothing where the mount is gone and its place is a plain directory', async () => {
    const { root, asked, direct } = await place(false)
    for (const attempt of [
      () => direct.stat(at('/file')),
      () => direct.read(at('/file')),
      () => direct.write(at('/new'), bytes('x')),
      () => direct.write(at('/file'), bytes('x')),
    ]) {
      await expect(attempt()).rejects.toThrow('gone')
    }
    expect(asked).toEqual(['stat', 'read', 'write', 'write'])
    expect((await readdir(root)).toSorted()).toEqual(['dir', 'file'])
    expect(await readFile(join(root, 'file'), 'utf8')).toBe('content')
  })

  it('leaves errors, and what needs more, to the usual way', async () => {
    const { root, direct } = await place(true)
    expect((await failureOf(direct.write(at('/dir'), bytes('x')))).code).toBe('EISDIR')
    expect((await failureOf(direct.write(at('/none/file'), bytes('x')))).code).toBe('ENOENT')
    expect((await failureOf(direct.write(at('/file/below'), bytes('x')))).code).toBe('ENOTDIR')
    expect((await failureOf(direct.write(at('/file'), bytes('x'), { ifVersion: 'absent' }))).code).toBe('ECONFLICT')
    await direct.write(at('/made/file'), bytes('made'), { parents: true })
    await direct.write(at('/file'), bytes('replaced'))
    await direct.write(at('/empty'), bytes(''))
    expect(text((await direct.read(at('/made/file'))).bytes)).toBe('made')
    expect(text((await direct.read(at('/file'))).bytes)).toBe('replaced')
    expect(await direct.stat(at('/empty'))).toMatchObject({ type: 'file', size: 0 })
    expect((await readdir(root)).toSorted()).toEqual(['dir', 'empty', 'file', 'made'])
  })
})
