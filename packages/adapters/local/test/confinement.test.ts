import { mkdir, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { LinkSignal } from '@ws/core/adapter'
import { describe, expect, it } from 'vitest'

import { createLocalAdapter } from '../src/index.ts'
import { at, bytes, collect, failureOf, open, openSite, readText, scratch } from './support.ts'

for (const io of ['auto', 'async'] as const) {
  describe(`links, io: ${io}`, () => {
    it('an operation that meets a link before the last component stops before any effect', async () => {
      const { adapter, root, outside } = await openSite({ io })
      await writeFile(join(outside, 'secret'), 'SECRET')
      await mkdir(join(outside, 'sub'))
      await mkdir(join(root, 'real'))
      await symlink(outside, join(root, 'real/link'))
      const path = at('/real/link/sub/new')
      const calls = [
        () => adapter.stat(path),
        () => adapter.read(path),
        () => adapter.readStream(path),
        () => adapter.write(path, bytes('x')),
        () => adapter.write(path, bytes('x'), { ifVersion: 'absent', parents: true }),
        () => adapter.append(path, bytes('x')),
        () => adapter.createDirectory(path),
        () => adapter.createDirectory(path, { recursive: true }),
        () => adapter.delete(path, { recursive: true, force: true }),
        () => adapter.chmod(path, 0o777),
        () => adapter.utimes(path, { modifiedAt: 1_000 }),
        () => adapter.createSymlink(path, 'x'),
        () => adapter.readSymlink(path),
        () => collect(adapter.list(path)),
        () => collect(adapter.search({ pattern: 'x', in: path })),
        () => adapter.hostDirectory(path),
      ]
      for (const call of calls) {
        const signal = await failureOf(call())
        expect(signal).toBeInstanceOf(LinkSignal)
        expect(signal).toMatchObject({ argument: 'path', at: '/real/link', target: outside, rest: 'sub/new' })
      }
      await writeFile(join(root, 'file'), '')
      expect(await failureOf(adapter.move(path, at('/x')))).toMatchObject({ argument: 'source', at: '/real/link' })
      expect(await failureOf(adapter.move(at('/file'), path, { parents: true }))).toMatchObject({
        argument: 'destination',
      })
      expect(await failureOf(adapter.copy(path, at('/x')))).toMatchObject({ argument: 'source', rest: 'sub/new' })
      expect(await failureOf(adapter.copy(at('/file'), path))).toMatchObject({ argument: 'destination' })
      expect(await readdir(join(outside, 'sub'))).toEqual([])
      expect(await readdir(outside)).toEqual(['secret', 'sub'])
    })

    it('at the last component, operations that follow signal it and the others act on the link itself', async () => {
      const { adapter, root, outside } = await openSite({ io })
      await writeFile(join(outside, 'secret'), 'SECRET')
      const link = async (name: string): Promise<void> => await symlink(join(outside, 'secret'), join(root, name))
      await link('l')
      for (const call of [
        () => adapter.read(at('/l')),
        () => adapter.write(at('/l'), bytes('x')),
        () => adapter.append(at('/l'), bytes('x')),
        () => adapter.chmod(at('/l'), 0o777),
        () => adapter.utimes(at('/l'), { modifiedAt: 1_000 }),
        () => collect(adapter.list(at('/l'))),
        () => adapter.createDirectory(at('/l'), { recursive: true }),
        () => collect(adapter.search({ pattern: 'x', in: at('/l') })),
      ]) {
        expect(await failureOf(call())).toMatchObject({ name: 'LinkSignal', at: '/l', rest: '' })
      }
      expect(await failureOf(adapter.write(at('/l'), bytes('x'), { ifVersion: 'absent' }))).toMatchObject({
        code: 'ECONFLICT',
      })
      expect(await adapter.stat(at('/l'))).toMatchObject({ type: 'symlink', size: 0 })
      expect(await adapter.readSymlink(at('/l'))).toBe(join(outside, 'secret'))
      await adapter.move(at('/l'), at('/m'))
      await adapter.copy(at('/m'), at('/n'))
      expect(await adapter.stat(at('/n'))).toMatchObject({ type: 'symlink' })
      await adapter.delete(at('/m'))
      await adapter.delete(at('/n'), { recursive: true })
      expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('SECRET')
    })

    it('a stream of a body is not touched when a link is in the way', async () => {
      const { adapter, root, outside } = await openSite({ io })
      await symlink(outside, join(root, 'l'))
      let asked = false
      const body = (async function* () {
        asked = true
        yield bytes('x')
      })()
      expect(await failureOf(adapter.write(at('/l/f'), body))).toBeInstanceOf(LinkSignal)
      expect(asked).toBe(false)
    })
  })
}

describe('the root', () => {
  it('a root that does not exist, or is no directory, is ENOWORKSPACE without a host path', async () => {
    const { path } = await scratch()
    await writeFile(join(path, 'file'), '')
    for (const root of [join(path, 'missing'), join(path, 'file'), join(path, 'file/x')]) {
      const error = await failureOf(createLocalAdapter({ root }))
      expect(error).toMatchObject({ name: 'WorkspaceError', code: 'ENOWORKSPACE' })
      expect(String(error['message'])).not.toContain(path)
    }
  })

  it('`create` makes one directory, only where nothing has its name', async () => {
    const { path } = await scratch()
    await writeFile(join(path, 'file'), '')
    await symlink('nowhere', join(path, 'dangling'))
    for (const root of ['missing/deep', 'file', 'file/x', 'dangling']) {
      const error = await failureOf(createLocalAdapter({ root: join(path, root), create: true }))
      expect(error).toMatchObject({ code: 'ENOWORKSPACE' })
      expect(String(error['message'])).not.toContain(path)
    }
    expect((await readdir(path)).toSorted()).toEqual(['dangling', 'file'])
    const options = { root: join(path, 'new'), create: true }
    for (const adapter of [await createLocalAdapter(options), await createLocalAdapter(options)]) await adapter.close()
  })

  it('a root that is a link is resolved once', async () => {
    const first = await scratch()
    const second = await scratch()
    const parent = await scratch()
    const link = join(parent.path, 'link')
    await symlink(first.path, link)
    const adapter = await open(link)
    await rm(link)
    await symlink(second.path, link)
    await adapter.write(at('/f'), bytes('first'))
    expect(await readFile(join(first.path, 'f'), 'utf8')).toBe('first')
    expect(adapter.hostPath(at('/f'))).toBe(join(first.path, 'f'))
  })

  it.each(['moved away', 'removed', 'replaced by another'])('a root that was %s is ENOWORKSPACE', async (what) => {
    const { path } = await scratch()
    const root = join(path, 'root')
    await mkdir(root)
    await writeFile(join(root, 'f'), 'old')
    const adapter = await open(root)
    expect(await readText(adapter, '/f')).toBe('old')
    if (what === 'removed') await rm(root, { recursive: true })
    else await rename(root, join(path, 'elsewhere'))
    if (what === 'replaced by another') {
      await mkdir(root)
      await writeFile(join(root, 'f'), 'other')
    }
    await new Promise((resolve) => setTimeout(resolve, 20)) // readers may take a few milliseconds to see it
    for (const call of [
      () => adapter.read(at('/f')),
      () => adapter.stat(at('/')),
      () => adapter.write(at('/g'), bytes('x')),
      () => adapter.write(at('/a/b/g'), bytes('x'), { parents: true }),
      () => adapter.createDirectory(at('/d'), { recursive: true }),
      () => collect(adapter.list(at('/'))),
      () => adapter.delete(at('/f'), { force: true }),
      () => adapter.hostDirectory(at('/')),
    ]) {
      expect(await failureOf(call())).toMatchObject({ code: 'ENOWORKSPACE' })
    }
  })

  it('cannot be deleted, moved, written to or replaced', async () => {
    const { adapter } = await openSite()
    await adapter.write(at('/f'), bytes('x'))
    for (const call of [
      () => adapter.delete(at('/'), { recursive: true }),
      () => adapter.move(at('/'), at('/x')),
      () => adapter.move(at('/f'), at('/'), { overwrite: true }),
      () => adapter.write(at('/'), bytes('x')),
      () => adapter.append(at('/'), bytes('x')),
    ]) {
      expect(await failureOf(call())).toMatchObject({ code: 'EBUSY', path: '/' })
    }
  })
})

describe('errors', () => {
  it('name the path inside the mount, never a host path or a descriptor', async () => {
    const { adapter, root } = await openSite()
    await adapter.write(at('/f'), bytes('x'))
    await adapter.createDirectory(at('/d/e'), { recursive: true })
    const long = `/${'n'.repeat(255)}`.repeat(15) // legal, but the root's own path does not leave that much room
    for (const call of [
      () => adapter.read(at('/missing')),
      () => adapter.read(at('/f/x')),
      () => adapter.read(at('/d')),
      () => adapter.delete(at('/d')),
      () => adapter.write(at('/no/f'), bytes('x')),
      () => adapter.stat(at(`${long}/${'n'.repeat(200)}`)),
      () => adapter.move(at('/f'), at('/f/x')),
      () => adapter.copy(at('/d'), at('/c')),
      () => adapter.read(at('/f'), { range: { offset: -1 } }),
    ]) {
      const error = await failureOf(call())
      expect(error).toMatchObject({ name: 'WorkspaceError' })
      expect(`${String(error['message'])} ${JSON.stringify(error)}`).not.toMatch(/\/proc|ws-test-/)
      expect(JSON.stringify(error)).not.toContain(root)
    }
  })

  it('wrong options are EINVAL and say how to mend it', async () => {
    const { path } = await scratch()
    for (const options of [
      undefined,
      {},
      { root: '' },
      { root: 'a\0b' },
      { root: path, io: 'sync' },
      { root: path, owner: { uid: 0, gid: 0 } },
      { root: path, owner: { uid: 1.5, gid: 1 } },
      { root: path, owner: 1000 },
    ]) {
      const error = await failureOf(createLocalAdapter(options as unknown as { root: string }))
      expect(error).toMatchObject({ code: 'EINVAL' })
      expect(error['remedy']).toBeTypeOf('string')
    }
  })

  it('a path that is not normalised is EINVAL, whoever calls', async () => {
    const { adapter } = await openSite()
    for (const path of ['', 'a', '/a/', '/a/../b', '//', '/a\0', '/./a']) {
      expect(await failureOf(adapter.read(path as never))).toMatchObject({ code: 'EINVAL' })
      expect(await failureOf(adapter.move(at('/a'), path as never))).toMatchObject({ code: 'EINVAL' })
      expect(await failureOf(collect(adapter.list(path as never)))).toMatchObject({ code: 'EINVAL' })
    }
  })
})
