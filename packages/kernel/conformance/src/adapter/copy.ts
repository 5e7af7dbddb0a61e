import { check, equal, rejects } from '../assert.ts'
import { at, encode, pattern } from './case.ts'
import type { Suite } from './suite.ts'

export function copyTests({ describe, change }: Suite): void {
  describe('copy', () => {
    change('copies a file, and tells its version where it can', {}, async (it) => {
      await it.put('/a', pattern(300_000))
      const { version } = await it.adapter.copy(at('/a'), at('/b'))
      equal((await it.adapter.read(at('/b'))).bytes, pattern(300_000))
      if (version !== undefined) equal(version, await it.version('/b'), 'the version')
      await it.adapter.write(at('/b'), encode('changed'))
      equal((await it.adapter.stat(at('/a'))).size, 300_000, 'the size of the source')
    })

    change('keeps the mode', { modes: true }, async (it) => {
      await it.adapter.write(at('/a'), encode('x'), { mode: 0o750 })
      await it.adapter.copy(at('/a'), at('/b'))
      equal((await it.adapter.stat(at('/b'))).mode, 0o750, 'the mode')
    })

    change('copies a directory with everything below with `recursive`', {}, async (it) => {
      for (const path of ['/a/b/c', '/a/.d', '/ab']) await it.put(path, path)
      await rejects(it.adapter.copy(at('/a'), at('/z')), 'EISDIR', { path: '/a' })
      check(!(await it.exists('/z')), 'the destination was made')
      await it.adapter.copy(at('/a'), at('/z'), { recursive: true })
      equal(await it.paths('/z', { recursive: true }), ['/z/.d', '/z/b', '/z/b/c'])
      equal(await it.text('/z/b/c'), '/a/b/c')
      equal(await it.text('/a/b/c'), '/a/b/c')
    })

    change('copies links as links', { symlinks: true }, async (it) => {
      await it.put('/dir/file')
      await it.link('/dir/link', 'file')
      await it.link('/dangling', '/none')
      await it.adapter.copy(at('/dir'), at('/copy'), { recursive: true })
      await it.adapter.copy(at('/dangling'), at('/dangling2'))
      const links = (await it.tree()).filter((line) => line.startsWith('symlink'))
      equal(links, [
        'symlink /copy/link file',
        'symlink /dangling /none',
        'symlink /dangling2 /none',
        'symlink /dir/link file',
      ])
    })

    change('to where something is, is EEXIST', {}, async (it) => {
      for (const path of ['/a', '/b', '/dir/x', '/dir2/y']) await it.put(path, path)
      const before = await it.tree()
      for (const path of ['/b', '/dir']) await rejects(it.adapter.copy(at('/a'), at(path)), 'EEXIST', { path })
      await rejects(it.adapter.copy(at('/dir'), at('/dir2'), { recursive: true }), 'EEXIST', { path: '/dir2' })
      equal(await it.tree(), before)
    })

    change('to where a link is, is EEXIST, and with `overwrite` replaces the link', { symlinks: true }, async (it) => {
      await it.put('/a', 'one')
      await it.put('/target', 'two')
      await it.link('/link', 'target')
      await rejects(it.adapter.copy(at('/a'), at('/link')), 'EEXIST', { path: '/link' })
      await it.adapter.copy(at('/a'), at('/link'), { overwrite: true })
      equal(await it.tree(), ['file /a one', 'file /link one', 'file /target two'])
    })

    change('replaces a file by a file, and merges a directory into a directory, with `overwrite`', {}, async (it) => {
      for (const path of ['/a', '/b', '/s/x', '/s/sub/y', '/d/x', '/d/sub/z']) await it.put(path, path)
      await it.adapter.copy(at('/a'), at('/b'), { overwrite: true })
      equal(await it.text('/b'), '/a')
      await it.adapter.copy(at('/s'), at('/d'), { overwrite: true, recursive: true })
      equal(await it.paths('/d', { recursive: true }), ['/d/sub', '/d/sub/y', '/d/sub/z', '/d/x'])
      equal(await it.text('/d/x'), '/s/x')
      equal(await it.text('/d/sub/z'), '/d/sub/z')
    })

    change('merges links over files, and files over links, with `overwrite`', { symlinks: true }, async (it) => {
      await it.put('/s/a', 'one')
      await it.put('/d/b', 'two')
      await it.link('/s/b', 'target')
      await it.link('/d/a', 'other')
      await it.adapter.copy(at('/s'), at('/d'), { overwrite: true, recursive: true })
      const merged = (await it.tree()).filter((line) => line.includes(' /d/'))
      equal(merged, ['file /d/a one', 'symlink /d/b target'])
      for (const path of ['/d/a', '/d/b']) {
        await it.adapter.delete(at(path))
        await rejects(it.adapter.stat(at(path)), 'ENOENT', { path })
      }
    })

    change('puts no link over a directory and no directory over a link, below too', { symlinks: true }, async (it) => {
      const options = { overwrite: true, recursive: true }
      for (const path of ['/s1/file', '/d1/a/file', '/s2/a/file', '/d2/file']) await it.put(path)
      await it.link('/s1/a', 'target')
      await rejects(it.adapter.copy(at('/s1'), at('/d1'), options), 'EISDIR')
      await it.link('/d2/a', 'target')
      await rejects(it.adapter.copy(at('/s2'), at('/d2'), options), 'ENOTDIR')
      const left = (await it.tree()).filter((line) => /\/d\d\/a/u.test(line))
      equal(left, ['directory /d1/a ', 'file /d1/a/file content', 'symlink /d2/a target'])
    })

    change('puts no file over a directory and no directory over a file', {}, async (it) => {
      await it.put('/file')
      await it.put('/dir/x')
      const overwrite = true
      await rejects(it.adapter.copy(at('/file'), at('/dir'), { overwrite }), 'EISDIR', { path: '/dir' })
      await rejects(it.adapter.copy(at('/dir'), at('/file'), { overwrite, recursive: true }), 'ENOTDIR', {
        path: '/file',
      })
      equal(await it.tree(), ['directory /dir ', 'file /dir/x content', 'file /file content'])
    })

    change('into itself, and onto itself, is EINVAL', {}, async (it) => {
      await it.put('/dir/x')
      const options = { overwrite: true, recursive: true }
      for (const [source, destination] of [
        ['/dir', '/dir/new'],
        ['/dir', '/dir'],
        ['/dir/x', '/dir/x'],
        ['/', '/new'],
      ] as const) {
        const path = [source, destination]
        await rejects(it.adapter.copy(at(source), at(destination), options), 'EINVAL', { path })
      }
      equal(await it.tree(), ['directory /dir ', 'file /dir/x content'])
    })

    change('of a missing path is ENOENT', {}, async (it) => {
      await rejects(it.adapter.copy(at('/none'), at('/a')), 'ENOENT', { path: '/none' })
      equal(await it.tree(), [])
    })

    change('needs the parent of the destination, or makes it', { enforcesHierarchy: true }, async (it) => {
      await it.put('/a', 'one')
      await rejects(it.adapter.copy(at('/a'), at('/x/y/b')), 'ENOENT', { path: '/x/y/b' })
      await it.adapter.copy(at('/a'), at('/x/y/b'), { parents: true })
      equal(await it.text('/x/y/b'), 'one')
    })

    change('below a file is ENOTDIR', { enforcesHierarchy: true }, async (it) => {
      await it.put('/a')
      await it.put('/b')
      await rejects(it.adapter.copy(at('/a'), at('/b/c'), { parents: true }), 'ENOTDIR', { path: '/b/c' })
      equal(await it.tree(), ['file /a content', 'file /b content'])
    })

    change('over the root is EBUSY', {}, async (it) => {
      await it.put('/a')
      await rejects(it.adapter.copy(at('/a'), at('/'), { overwrite: true }), 'EBUSY', { path: '/' })
      equal(await it.tree(), ['file /a content'])
    })
  })
}
