import { equal, rejects } from '../assert.ts'
import { at } from './case.ts'
import type { Suite } from './suite.ts'

export function deleteTests({ describe, change }: Suite): void {
  describe('delete', () => {
    change('removes a file', {}, async (it) => {
      await it.put('/a')
      await it.put('/b')
      await it.adapter.delete(at('/a'))
      equal(await it.tree(), ['file /b content'])
    })

    change('leaves the directory of the last entry', { keepsEmptyDirectories: true }, async (it) => {
      await it.put('/dir/a')
      await it.adapter.delete(at('/dir/a'))
      equal(await it.tree(), ['directory /dir '])
      await it.adapter.delete(at('/dir'))
      equal(await it.tree(), [])
    })

    change('of a directory that is not empty is ENOTEMPTY', {}, async (it) => {
      await it.put('/dir/a')
      for (const force of [true, false])
        await rejects(it.adapter.delete(at('/dir'), { force }), 'ENOTEMPTY', { path: '/dir' })
      equal(await it.tree(), ['directory /dir ', 'file /dir/a content'])
    })

    change('removes everything below with `recursive`, and nothing beside', {}, async (it) => {
      for (const path of ['/dir/a', '/dir/sub/deep/b', '/dir2/a', '/di']) await it.put(path)
      await it.adapter.delete(at('/dir'), { recursive: true })
      equal(await it.tree(), ['directory /dir2 ', 'file /di content', 'file /dir2/a content'])
      await it.adapter.delete(at('/di'), { recursive: true })
    })

    change('removes links, and never what they lead to', { symlinks: true }, async (it) => {
      await it.put('/keep/a')
      await it.link('/link', 'keep')
      await it.directory('/dir')
      await it.link('/dir/link', '/keep')
      await it.adapter.delete(at('/link'), { recursive: true })
      await it.adapter.delete(at('/dir'), { recursive: true })
      equal(await it.tree(), ['directory /keep ', 'file /keep/a content'])
    })

    change('of a missing path is ENOENT, and fine with `force`', {}, async (it) => {
      await it.put('/dir/a')
      for (const path of ['/none', '/dir/none', '/none/a']) {
        await rejects(it.adapter.delete(at(path)), 'ENOENT', { path })
        await rejects(it.adapter.delete(at(path), { recursive: true }), 'ENOENT', { path })
        await it.adapter.delete(at(path), { force: true })
      }
      equal(await it.tree(), ['directory /dir ', 'file /dir/a content'])
    })

    change('of the root is EBUSY, with any options', {}, async (it) => {
      await it.put('/a')
      for (const options of [{}, { recursive: true }, { force: true, recursive: true }]) {
        await rejects(it.adapter.delete(at('/'), options), 'EBUSY', { path: '/' })
      }
      equal(await it.tree(), ['file /a content'])
    })
  })
}
