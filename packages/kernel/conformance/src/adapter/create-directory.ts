import { equal, rejects } from '../assert.ts'
import { at } from './case.ts'
import type { Suite } from './suite.ts'

export function createDirectoryTests({ describe, change }: Suite): void {
  describe('createDirectory', () => {
    change('makes a directory', { keepsEmptyDirectories: true }, async (it) => {
      await it.adapter.createDirectory(at('/a'))
      await it.adapter.createDirectory(at('/a/b'))
      equal(await it.tree(), ['directory /a ', 'directory /a/b '])
    })

    change('where something is, is EEXIST', {}, async (it) => {
      await it.put('/dir/file')
      for (const path of ['/dir', '/dir/file', '/']) {
        await rejects(it.adapter.createDirectory(at(path)), 'EEXIST', { path })
      }
      equal(await it.tree(), ['directory /dir ', 'file /dir/file content'])
    })

    change('where a link is, is EEXIST without `recursive`', { symlinks: true }, async (it) => {
      await it.put('/dir/file')
      await it.link('/link', 'dir')
      await it.link('/dangling', 'none')
      for (const path of ['/link', '/dangling']) await rejects(it.adapter.createDirectory(at(path)), 'EEXIST', { path })
    })

    change('without a parent is ENOENT', { enforcesHierarchy: true }, async (it) => {
      await rejects(it.adapter.createDirectory(at('/a/b')), 'ENOENT', { path: '/a/b' })
      equal(await it.tree(), [])
    })

    change('makes parents with `recursive`, and accepts directories that are there', {}, async (it) => {
      await it.put('/a/file')
      await it.adapter.createDirectory(at('/a/b/c'), { recursive: true })
      await it.adapter.createDirectory(at('/a/b/c'), { recursive: true })
      await it.adapter.createDirectory(at('/a'), { recursive: true })
      await it.adapter.createDirectory(at('/'), { recursive: true })
      equal((await it.adapter.stat(at('/a/b/c'))).type, 'directory')
      equal(await it.text('/a/file'), 'content')
    })

    change('over a file is EEXIST, below one ENOTDIR', { enforcesHierarchy: true }, async (it) => {
      await it.put('/a')
      await rejects(it.adapter.createDirectory(at('/a'), { recursive: true }), 'EEXIST', { path: '/a' })
      for (const recursive of [true, false]) {
        await rejects(it.adapter.createDirectory(at('/a/b'), { recursive }), 'ENOTDIR', { path: '/a/b' })
      }
      equal(await it.tree(), ['file /a content'])
    })
  })
}
