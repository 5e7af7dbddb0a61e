import { equal, rejects } from '../assert.ts'
import { at } from './case.ts'
import type { Suite } from './suite.ts'

export function moveTests({ describe, change }: Suite): void {
  describe('move', () => {
    change('moves a file, and tells its version where it can', {}, async (it) => {
      await it.put('/a', 'one')
      await it.directory('/dir')
      const { version } = await it.adapter.move(at('/a'), at('/dir/b'))
      equal(await it.tree(), ['directory /dir ', 'file /dir/b one'])
      if (version !== undefined) equal(version, await it.version('/dir/b'), 'the version')
    })

    change('moves a directory with everything below', {}, async (it) => {
      for (const path of ['/a/b/c', '/a/d', '/ab']) await it.put(path, path)
      await it.adapter.move(at('/a'), at('/z'))
      equal(await it.tree(), [
        'directory /z ',
        'directory /z/b ',
        'file /ab /ab',
        'file /z/b/c /a/b/c',
        'file /z/d /a/d',
      ])
    })

    change('moves a link as it is', { symlinks: true }, async (it) => {
      await it.put('/file')
      await it.link('/link', '../x/./none')
      await it.link('/to-file', 'file')
      await it.adapter.move(at('/link'), at('/moved'))
      await it.adapter.move(at('/to-file'), at('/moved-too'))
      equal(await it.tree(), ['file /file content', 'symlink /moved ../x/./none', 'symlink /moved-too file'])
    })

    change('to where something is, is EEXIST, also to a directory', {}, async (it) => {
      for (const path of ['/a', '/b', '/dir/x']) await it.put(path, path)
      for (const path of ['/b', '/dir']) await rejects(it.adapter.move(at('/a'), at(path)), 'EEXIST', { path })
      await rejects(it.adapter.move(at('/dir'), at('/b')), 'EEXIST', { path: '/b' })
      equal(await it.tree(), ['directory /dir ', 'file /a /a', 'file /b /b', 'file /dir/x /dir/x'])
    })

    change('to where a link is, is EEXIST, and with `overwrite` replaces the link', { symlinks: true }, async (it) => {
      await it.put('/a', 'one')
      await it.put('/target', 'two')
      await it.link('/link', 'target')
      await rejects(it.adapter.move(at('/a'), at('/link')), 'EEXIST', { path: '/link' })
      await it.adapter.move(at('/a'), at('/link'), { overwrite: true })
      equal(await it.tree(), ['file /link one', 'file /target two'])
    })

    change('replaces a file by a file with `overwrite`', {}, async (it) => {
      await it.put('/a', 'one')
      await it.put('/b', 'two')
      await it.adapter.move(at('/a'), at('/b'), { overwrite: true })
      equal(await it.tree(), ['file /b one'])
    })

    change(
      'replaces an empty directory by a directory with `overwrite`',
      { keepsEmptyDirectories: true },
      async (it) => {
        await it.put('/a/x')
        await it.directory('/b')
        await it.adapter.move(at('/a'), at('/b'), { overwrite: true })
        equal(await it.tree(), ['directory /b ', 'file /b/x content'])
      },
    )

    change('replaces as POSIX does: EISDIR, ENOTDIR, ENOTEMPTY', {}, async (it) => {
      for (const path of ['/file', '/dir/x', '/full/x']) await it.put(path)
      const before = await it.tree()
      const overwrite = true
      await rejects(it.adapter.move(at('/file'), at('/dir'), { overwrite }), 'EISDIR', { path: '/dir' })
      await rejects(it.adapter.move(at('/dir'), at('/file'), { overwrite }), 'ENOTDIR', { path: '/file' })
      await rejects(it.adapter.move(at('/dir'), at('/full'), { overwrite }), 'ENOTEMPTY', { path: '/full' })
      equal(await it.tree(), before)
    })

    change('into itself is EINVAL', {}, async (it) => {
      await it.put('/dir/sub/x')
      for (const path of ['/dir/new', '/dir/sub/new', '/dir/sub']) {
        await rejects(it.adapter.move(at('/dir'), at(path), { overwrite: true }), 'EINVAL', { path: ['/dir', path] })
      }
      equal(await it.tree(), ['directory /dir ', 'directory /dir/sub ', 'file /dir/sub/x content'])
    })

    change('onto itself does nothing', {}, async (it) => {
      await it.put('/dir/x')
      for (const path of ['/dir/x', '/dir']) {
        await it.adapter.move(at(path), at(path))
        await it.adapter.move(at(path), at(path), { overwrite: true })
      }
      equal(await it.tree(), ['directory /dir ', 'file /dir/x content'])
      await rejects(it.adapter.move(at('/none'), at('/none')), 'ENOENT', { path: '/none' })
    })

    change('of a missing path is ENOENT', {}, async (it) => {
      await it.put('/b')
      await rejects(it.adapter.move(at('/none'), at('/a')), 'ENOENT', { path: '/none' })
      await rejects(it.adapter.move(at('/none'), at('/b'), { overwrite: true }), 'ENOENT', { path: '/none' })
      equal(await it.tree(), ['file /b content'])
    })

    change('needs the parent of the destination, or makes it', { enforcesHierarchy: true }, async (it) => {
      await it.put('/a', 'one')
      await rejects(it.adapter.move(at('/a'), at('/x/y/b')), 'ENOENT', { path: '/x/y/b' })
      await it.adapter.move(at('/a'), at('/x/y/b'), { parents: true })
      equal(await it.tree(), ['directory /x ', 'directory /x/y ', 'file /x/y/b one'])
    })

    change('below a file is ENOTDIR', { enforcesHierarchy: true }, async (it) => {
      await it.put('/a')
      await it.put('/b')
      await rejects(it.adapter.move(at('/a'), at('/b/c'), { parents: true }), 'ENOTDIR', { path: '/b/c' })
      await rejects(it.adapter.move(at('/b/c'), at('/c')), 'ENOTDIR', { path: '/b/c' })
      equal(await it.tree(), ['file /a content', 'file /b content'])
    })

    change('of the root, or over it, is EBUSY', {}, async (it) => {
      await it.put('/a')
      await rejects(it.adapter.move(at('/a'), at('/'), { overwrite: true }), 'EBUSY', { path: '/' })
      await rejects(it.adapter.move(at('/'), at('/b')), ['EBUSY', 'EINVAL'], { path: ['/', '/b'] })
      equal(await it.tree(), ['file /a content'])
    })
  })
}
