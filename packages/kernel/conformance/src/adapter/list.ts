import { check, equal, rejects } from '../assert.ts'
import { at } from './case.ts'
import type { Suite } from './suite.ts'

export function listTests({ describe, test, change }: Suite): void {
  describe('list', () => {
    test('[PC6] gives the entries of one directory, dotfiles included', {}, async (it) => {
      for (const path of ['/dir/a', '/dir/.hidden', '/dir/sub/deep', '/other']) await it.put(path)
      const found = (await it.entries('/dir')).map(({ path, name, type }) => `${type} ${name} ${path}`)
      equal(found.toSorted(), ['directory sub /dir/sub', 'file .hidden /dir/.hidden', 'file a /dir/a'])
      equal(await it.paths('/'), ['/dir', '/other'])
    })

    test('is empty for an empty root and an empty directory', { keepsEmptyDirectories: true }, async (it) => {
      equal(await it.paths('/'), [])
      await it.directory('/empty')
      equal(await it.paths('/empty'), [])
      equal(await it.paths('/', { recursive: true }), ['/empty'])
    })

    test('gives everything below, parents before their children', {}, async (it) => {
      for (const path of ['/a/b/c', '/a/d', '/e/f/g/h', '/i']) await it.put(path)
      const paths = (await it.entries('/', { recursive: true })).map(({ path }): string => path)
      const all = ['/a', '/a/b', '/a/b/c', '/a/d', '/e', '/e/f', '/e/f/g', '/e/f/g/h', '/i']
      equal(paths.toSorted(), all)
      for (const path of paths) {
        const parent = path.slice(0, path.lastIndexOf('/'))
        check(parent === '' || paths.indexOf(parent) < paths.indexOf(path), `${path} came before its parent`)
      }
      equal(await it.paths('/a', { recursive: true }), ['/a/b', '/a/b/c', '/a/d'])
    })

    test('does not enter excluded subtrees, which are entries all the same', {}, async (it) => {
      for (const path of ['/a/b/c', '/a/bc/d', '/e/f', '/g']) await it.put(path)
      const exclude = [at('/a/b'), at('/e'), at('/none')]
      equal(await it.paths('/', { recursive: true, exclude }), ['/a', '/a/b', '/a/bc', '/a/bc/d', '/e', '/g'])
      equal(await it.paths('/a', { recursive: true, exclude: [at('/')] }), [], 'below an excluded path')
      equal(await it.paths('/a', { exclude: [at('/a')] }), [], 'an excluded path itself')
    })

    test('gives everything but what lies below directories that `skips` names, which are entries all the same', {}, async (it) => {
      for (const path of ['/a/b/c', '/a/bc/d', '/e/f', '/g']) await it.put(path)
      const skips = (directory: string): boolean => directory === '/a/b' || directory === '/e'
      const found = await it.paths('/', { recursive: true, skips })
      // An adapter may ignore `skips`, and list the entries below.
      const rest = found.filter((path) => path !== '/a/b/c' && path !== '/e/f')
      equal(rest, ['/a', '/a/b', '/a/bc', '/a/bc/d', '/e', '/g'])
    })

    test('gives size, time, mode and version when asked to, and never wrong ones', {}, async (it) => {
      await it.put('/dir/a', 'four')
      for (const details of [true, false]) {
        for (const { path, type, size, modifiedAt, mode, version } of await it.entries('/', {
          recursive: true,
          details,
        })) {
          const stat = await it.adapter.stat(path)
          equal(type, stat.type, 'the type')
          if (details || size !== undefined) equal(size, stat.size, `the size of ${path}`)
          if (details || version !== undefined) equal(version, stat.version, `the version of ${path}`)
          if (details || mode !== undefined) equal(mode, stat.mode, `the mode of ${path}`)
          if (details || modifiedAt !== undefined) equal(modifiedAt, stat.modifiedAt, `the time of ${path}`)
        }
      }
    })

    test('gives links below as links, and does not enter them', { symlinks: true }, async (it) => {
      await it.put('/dir/a')
      await it.link('/loop', '.')
      await it.link('/link', 'dir')
      await it.link('/dir/dangling', 'none')
      const found = (await it.entries('/', { recursive: true })).map(({ path, type }) => `${type} ${path}`)
      equal(found.toSorted(), [
        'directory /dir',
        'file /dir/a',
        'symlink /dir/dangling',
        'symlink /link',
        'symlink /loop',
      ])
    })

    test('gives each of many entries once', {}, async (it) => {
      const count = it.pageSize + (it.deep ? 3000 : 100)
      // in groups, because the last of many concurrent writes would wait longer than a store's deadline
      for (let from = 0; from < count; from += 100)
        await Promise.all(
          Array.from({ length: Math.min(100, count - from) }, (_, index) => it.put(`/many/${from + index}`, '')),
        )
      const paths = await it.paths('/many')
      equal(paths.length, count, 'the number of entries')
      equal(new Set(paths).size, count, 'the number of different entries')
    })

    test('can be left early', {}, async (it) => {
      for (let index = 0; index < 20; index += 1) await it.put(`/dir/${index}/x`)
      for (let round = 0; round < 20; round += 1) {
        const listing = it.adapter.list(at('/'), { recursive: true })
        for await (const { name } of listing) if (name !== 'dir') break
        equal((await listing.next()).done, true, 'done')
        equal((await it.adapter.list(at('/')).return?.())?.done, true, 'done before the start')
      }
    })

    test('rejects the first next(): ENOENT for a missing path', {}, async (it) => {
      await rejects(it.adapter.list(at('/none')).next(), 'ENOENT', { path: '/none' })
    })

    test('of a file, or below one, is ENOTDIR', { enforcesHierarchy: true }, async (it) => {
      await it.put('/a')
      await rejects(it.adapter.list(at('/a')).next(), 'ENOTDIR', { path: '/a' })
      await rejects(it.adapter.list(at('/a/b')).next(), 'ENOTDIR', { path: '/a/b' })
    })

    change('goes on when entries vanish and appear meanwhile', {}, async (it) => {
      for (let index = 0; index < 60; index += 1) await it.put(`/dir/${index}/x`, '')
      await it.put('/last', '')
      const seen: string[] = []
      for await (const { path } of it.adapter.list(at('/'), { recursive: true })) {
        seen.push(path)
        if (seen.length !== 5) continue
        await it.adapter.delete(at('/dir'), { recursive: true })
        await it.put('/new/x', '')
      }
      check(seen.includes('/last'), 'what stayed was left out')
      equal(new Set(seen).size, seen.length, 'the number of different entries')
    })
  })
}
