/** @module-tag all */
import { chmod, link, lstat, mkdir, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { featuresOf, readVersion } from '../src/program/features.ts'
import { at, failureOf, mountNeeds, open, openSite, readText, write } from './support.ts'

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'done',
    (error: NodeJS.ErrnoException) => error.code,
  )

it('[RP15] features follow the version', () => {
  const features = (said: string) => featuresOf(readVersion(said) ?? [0, 0, 0])
  expect(features('rclone v1.60.1-DEV\n- os/version: debian')).toEqual({
    renames: false,
    queue: false,
    links: false,
    directoryMarkers: false,
  })
  expect(features('rclone v1.68.0')).toEqual({ renames: true, queue: true, links: false, directoryMarkers: true })
  expect(features('rclone v1.74.3')).toMatchObject({ links: false })
  expect(features('rclone v1.74.4')).toMatchObject({ links: true })
  expect(features('rclone v2.0.0')).toEqual({ renames: true, queue: true, links: true, directoryMarkers: true })
  expect(readVersion('something else')).toBeUndefined()
})

describeWith(mountNeeds, 'what the mount cannot do is declared, and is so', () => {
  it('[RP15] links: none, by the API or by commands', async () => {
    const { adapter, root } = await openSite()
    const features = featuresOf(readVersion(`rclone v${(await adapter.status()).version}`) ?? [0, 0, 0])
    expect(adapter.capabilities.symlinks).toBe(features.links)
    await write(adapter, '/a', 'x')
    expect(await codeOf(link(join(root, 'a'), join(root, 'b')))).toBe('EIO')
    if (features.links) return
    expect(adapter.createSymlink).toBeUndefined()
    expect(await codeOf(symlink('a', join(root, 'b')))).toBe('EIO')
    expect(await readdir(root)).toEqual(['a'])
  })

  it('[RP15] modes: chmod is ignored, everything can be run', async () => {
    const { adapter, root } = await openSite()
    expect(adapter.capabilities.modes).toBe(false)
    await write(adapter, '/a', 'x')
    await chmod(join(root, 'a'), 0o400)
    expect((await lstat(join(root, 'a'))).mode & 0o777).toBe(0o700)
  })

  it('[RP15] empty directories are there for as long as the mount, and do not reach the bucket', async () => {
    const { adapter, store, options } = await openSite()
    expect(adapter.capabilities.keepsEmptyDirectories).toBe(false)
    await adapter.createDirectory(at('/empty'))
    await adapter.flush()
    expect((await adapter.stat(at('/empty'))).type).toBe('directory')
    expect(await store.keys()).toEqual([])
    await adapter.close()
    expect((await failureOf((await open(options)).stat(at('/empty')))).code).toBe('ENOENT')
  })

  it('[RP15] a directory is not moved in one step; what was not uploaded yet goes along all the same', async () => {
    const { adapter, store } = await openSite({ timeouts: { writeBack: 1_000 } })
    expect(adapter.capabilities.atomicDirectoryMove).toBe(false)
    await write(adapter, '/a/deep/file', 'content')
    await write(adapter, '/a/other', 'more')
    await adapter.move(at('/a'), at('/b'))
    expect(await readText(adapter, '/b/deep/file')).toBe('content')
    expect(await readText(adapter, '/b/other')).toBe('more')
    await adapter.flush()
    expect(await store.keys()).toEqual(['threads/t1/b/deep/file', 'threads/t1/b/other'])
    await write(adapter, '/full/x', 'x')
    const onto = adapter.move(at('/b'), at('/full'), { overwrite: true })
    expect((await failureOf(onto)).code).toBe('ENOTEMPTY')
  })

  it('a file that was replaced, and goes before its upload, does not come back', async () => {
    const { adapter, store } = await openSite({ timeouts: { writeBack: 300 } })
    await write(adapter, '/deleted', 'old')
    await write(adapter, '/moved', 'old')
    await write(adapter, '/tree/file', 'old')
    await adapter.flush()
    await write(adapter, '/deleted', 'new')
    await adapter.delete(at('/deleted'))
    await write(adapter, '/moved', 'new')
    await adapter.move(at('/moved'), at('/elsewhere'))
    await write(adapter, '/tree/file', 'new')
    await adapter.delete(at('/tree'), { recursive: true })
    await adapter.flush()
    await adapter.refresh()
    expect(await store.keys()).toEqual(['threads/t1/elsewhere'])
    expect(await store.get('threads/t1/elsewhere')).toBe('new')
    expect((await Array.fromAsync(adapter.list(at('/'), { recursive: true }))).map(({ path }) => path)).toEqual([
      '/elsewhere',
    ])
  })

  it('paths are as long as keys of the store may be', async () => {
    const { adapter, store } = await openSite()
    expect(adapter.capabilities.maxPathBytes).toBe(1_024 - 'threads/t1'.length)
    const directory = `/${'d'.repeat(200)}`.repeat(5)
    const path = `${directory}/${'f'.repeat(adapter.capabilities.maxPathBytes - directory.length - 1)}`
    await write(adapter, path, 'deep')
    expect((await failureOf(adapter.write(at(`${path}x`), new Uint8Array()))).code).toBe('ENAMETOOLONG')
    await adapter.flush()
    expect(await store.get(`threads/t1${path}`)).toBe('deep')
  })

  it('commands append, truncate, seek and replace, on files that are uploaded and on files that are not', async () => {
    const { adapter, store, root } = await openSite()
    const file = join(root, 'a')
    for (const uploaded of [false, true]) {
      await writeFile(file, 'one two')
      if (uploaded) await adapter.flush()
      await writeFile(file, ' three', { flag: 'a' })
      expect(await readFile(file, 'utf8')).toBe('one two three')
      await writeFile(`${file}.new`, 'replaced')
      await rename(`${file}.new`, file)
      expect(await readText(adapter, '/a')).toBe('replaced')
    }
    await mkdir(join(root, 'dir'))
    await writeFile(join(root, 'dir/b'), 'b')
    await rm(join(root, 'dir'), { recursive: true })
    await adapter.flush()
    expect(await store.keys()).toEqual(['threads/t1/a'])
  })
})
