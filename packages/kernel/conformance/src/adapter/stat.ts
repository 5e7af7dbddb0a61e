import { check, equal, rejects } from '../assert.ts'
import { at } from './case.ts'
import type { Suite } from './suite.ts'

export function statTests({ describe, test }: Suite): void {
  describe('stat', () => {
    test('tells type and size of a file', {}, async (it) => {
      await it.put('/dir/a', 'héllo')
      const { type, size, version } = await it.adapter.stat(at('/dir/a'))
      equal({ type, size }, { type: 'file', size: 6 })
      check(typeof version === 'string' && version !== '' && version !== 'absent', `the version is ${version}`)
    })

    test('tells type and size 0 of a directory and of the root', {}, async (it) => {
      await it.put('/dir/a')
      for (const path of ['/dir', '/']) {
        const { type, size, version } = await it.adapter.stat(at(path))
        equal({ type, size }, { type: 'directory', size: 0 }, path)
        check(typeof version === 'string' && version !== 'absent', `the version is ${version}`)
      }
    })

    test('is of a link itself, also of one that leads nowhere', { symlinks: true }, async (it) => {
      await it.put('/file')
      await it.link('/link', 'file')
      await it.link('/dangling', 'none')
      for (const path of ['/link', '/dangling']) {
        const { type, size } = await it.adapter.stat(at(path))
        equal({ type, size }, { type: 'symlink', size: 0 }, path)
      }
    })

    test('gives the time of the last change in milliseconds, where there is one', {}, async (it) => {
      await it.put('/a')
      const { modifiedAt } = await it.adapter.stat(at('/a'))
      if (modifiedAt === undefined) return
      // a loose limit: clocks of stores differ, but a wrong unit or epoch differs much more
      check(Math.abs(modifiedAt - Date.now()) < 24 * 3600 * 1000, `modifiedAt is ${modifiedAt} at ${Date.now()}`)
    })

    test('gives permission bits without the file type', { modes: true }, async (it) => {
      await it.put('/dir/a')
      for (const path of ['/dir', '/dir/a']) {
        const { mode } = await it.adapter.stat(at(path))
        check(mode !== undefined && mode >= 0 && mode <= 0o777, `the mode of ${path} is ${mode}`)
      }
    })

    test('of a missing path is ENOENT', {}, async (it) => {
      await it.put('/dir/a')
      for (const path of ['/none', '/dir/none', '/none/a']) await rejects(it.adapter.stat(at(path)), 'ENOENT', { path })
    })

    test('below a file is ENOTDIR', { enforcesHierarchy: true }, async (it) => {
      await it.put('/a')
      for (const path of ['/a/b', '/a/b/c']) await rejects(it.adapter.stat(at(path)), 'ENOTDIR', { path })
    })
  })
}
