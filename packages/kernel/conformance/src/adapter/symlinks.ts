import { equal, rejects } from '../assert.ts'
import { at, offered } from './case.ts'
import type { Suite } from './suite.ts'

export function symlinkTests({ describe, test, change }: Suite): void {
  const needs = { symlinks: true }

  describe('createSymlink, readSymlink', () => {
    change('hold a target as it is', needs, async (it) => {
      const create = offered(it.adapter.createSymlink, 'createSymlink').bind(it.adapter)
      const read = offered(it.adapter.readSymlink, 'readSymlink').bind(it.adapter)
      const targets = ['a', '/a/b', '../../../up', './x/../y//z/', 'ünï\n ', '-rf', '.', `/${'x'.repeat(200)}`]
      for (const [index, target] of targets.entries()) {
        await create(at(`/${index}`), target)
        equal(await read(at(`/${index}`)), target)
        equal((await it.adapter.stat(at(`/${index}`))).type, 'symlink')
      }
    })

    change('make nothing where something is: EEXIST', needs, async (it) => {
      const create = offered(it.adapter.createSymlink, 'createSymlink').bind(it.adapter)
      await it.put('/dir/a')
      await it.link('/link', 'dir/a')
      await it.link('/dangling', 'none')
      const before = await it.tree()
      for (const path of ['/dir', '/dir/a', '/link', '/dangling', '/']) {
        await rejects(create(at(path), 'x'), 'EEXIST', { path })
      }
      equal(await it.tree(), before)
    })

    change('need a parent: ENOENT, ENOTDIR', { ...needs, enforcesHierarchy: true }, async (it) => {
      const create = offered(it.adapter.createSymlink, 'createSymlink').bind(it.adapter)
      await it.put('/a')
      await rejects(create(at('/none/l'), 'x'), 'ENOENT', { path: '/none/l' })
      await rejects(create(at('/a/l'), 'x'), 'ENOTDIR', { path: '/a/l' })
    })

    change('refuse a target that no path can be', needs, async (it) => {
      const create = offered(it.adapter.createSymlink, 'createSymlink').bind(it.adapter)
      for (const target of ['', 'a\0b', 'a\ud800', 5]) {
        await rejects(create(at('/l'), target as string), 'EINVAL', { path: '/l', what: JSON.stringify(target) })
      }
      await rejects(create(at('/l'), 'x'.repeat(5000)), 'ENAMETOOLONG', { path: '/l' })
      equal(await it.tree(), [])
    })

    test('read links only: EINVAL, ENOENT', needs, async (it) => {
      const read = offered(it.adapter.readSymlink, 'readSymlink').bind(it.adapter)
      await it.put('/dir/a')
      for (const path of ['/dir', '/dir/a', '/']) await rejects(read(at(path)), 'EINVAL', { path })
      await rejects(read(at('/none')), 'ENOENT', { path: '/none' })
    })
  })
}
