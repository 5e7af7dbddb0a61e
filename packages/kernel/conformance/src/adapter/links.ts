import { check, equal, meetsLink, rejects } from '../assert.ts'
import { at, body, encode, offered } from './case.ts'
import { needsOf, operations } from './operations.ts'
import type { Suite } from './suite.ts'

export function linkTests({ describe, test, change }: Suite): void {
  const symlinks = { symlinks: true }

  describe('links in the way', () => {
    for (const operation of operations) {
      const { name } = operation
      const linkNeeds = { ...symlinks, ...needsOf(operation) }
      test(`${name}: a link before the end is a LinkSignal, before any effect`, linkNeeds, async (it) => {
        await it.put('/source')
        await it.put('/dir/real/a')
        await it.link('/dir/link', 'real')
        await it.link('/dir/dangling', '/none/../x')
        await it.link('/dir/real/second', '..')
        const before = await it.tree()
        for (const [path, target, rest] of [
          ['/dir/link/a', 'real', 'a'],
          ['/dir/link/new/deep', 'real', 'new/deep'],
          ['/dir/link/second/link/a', 'real', 'second/link/a'],
          ['/dir/dangling/a', '/none/../x', 'a'],
        ] as const) {
          const link = `/dir/${target === 'real' ? 'link' : 'dangling'}`
          const promise = operation.run(it.adapter, at(path)) ?? Promise.resolve()
          await meetsLink(promise, { argument: operation.argument, at: link, target, rest }, `${name} ${path}`)
        }
        equal(await it.tree(), before, 'the tree')
      })
    }

    for (const operation of operations.filter(({ follows }) => follows)) {
      const { name } = operation
      const linkNeeds = { ...symlinks, ...needsOf(operation) }
      test(`${name}: a link at the end is a LinkSignal, before any effect`, linkNeeds, async (it) => {
        await it.put('/dir/file')
        await it.link('/dir/to-file', 'file')
        await it.link('/dir/to-dir', '/dir')
        await it.link('/dir/dangling', 'none')
        await it.link('/dir/loop', 'loop')
        const before = await it.tree()
        for (const [path, target] of [
          ['/dir/to-file', 'file'],
          ['/dir/to-dir', '/dir'],
          ['/dir/dangling', 'none'],
          ['/dir/loop', 'loop'],
        ] as const) {
          const promise = operation.run(it.adapter, at(path)) ?? Promise.resolve()
          await meetsLink(promise, { argument: operation.argument, at: path, target, rest: '' }, `${name} ${path}`)
        }
        equal(await it.tree(), before, 'the tree')
      })
    }

    change('a body is not touched before a link is reported', symlinks, async (it) => {
      await it.put('/dir/file', 'old')
      await it.link('/file-link', 'dir/file')
      await it.link('/dir-link', 'dir')
      for (const path of ['/file-link', '/dir-link/file', '/dir-link/x/y']) {
        const data = body('new')
        const [link = '', ...rest] = path.slice(1).split('/')
        const target = link === 'dir-link' ? 'dir' : 'dir/file'
        const promise = it.adapter.write(at(path), data, { parents: true })
        await meetsLink(promise, { at: `/${link}`, target, rest: rest.join('/') }, `write ${path}`)
        check(!data.touched, 'the body was read')
      }
      equal(await it.text('/dir/file'), 'old')
    })

    change(
      'an `absent` write never follows: any entry is ECONFLICT, with the body untouched',
      { ...symlinks, conditionalWrite: ['server', 'process'] },
      async (it) => {
        await it.put('/dir/file', 'old')
        await it.link('/link', 'dir/file')
        await it.link('/to-dir', 'dir')
        await it.link('/dangling', 'none')
        const before = await it.tree()
        for (const path of ['/link', '/to-dir', '/dangling']) {
          const data = body('new')
          await rejects(it.adapter.write(at(path), data, { ifVersion: 'absent' }), 'ECONFLICT', { path })
          check(!data.touched, 'the body was read')
          await rejects(it.adapter.write(at(path), encode('new'), { ifVersion: 'absent' }), 'ECONFLICT', { path })
        }
        // a link before the last name of a path also ends the call
        const promise = it.adapter.write(at('/to-dir/new'), encode('x'), { ifVersion: 'absent' })
        await meetsLink(promise, { at: '/to-dir', target: 'dir', rest: 'new' })
        equal(await it.tree(), before, 'the tree')
      },
    )

    change('stat, readSymlink, copy, move and delete act on the link itself', symlinks, async (it) => {
      await it.put('/dir/file', 'kept')
      const readSymlink = offered(it.adapter.readSymlink, 'readSymlink').bind(it.adapter)
      for (const target of ['dir/file', 'dir', 'none', 'link']) {
        await it.link('/link', target)
        equal((await it.adapter.stat(at('/link'))).type, 'symlink', 'the type')
        equal(await readSymlink(at('/link')), target, 'the target')
        await it.adapter.copy(at('/link'), at('/copy'))
        equal(await readSymlink(at('/copy')), target, 'the target of the copy')
        await it.adapter.move(at('/copy'), at('/moved'))
        equal(await readSymlink(at('/moved')), target, 'the target of the moved one')
        await it.adapter.delete(at('/moved'))
        await it.adapter.delete(at('/link'), { recursive: true })
        equal(await it.tree(), ['directory /dir ', 'file /dir/file kept'], 'the tree')
      }
    })

    test('search looks into no link below', { ...symlinks, search: true }, async (it) => {
      await it.put('/dir/file', 'needle')
      await it.put('/in/file', 'needle')
      await it.link('/in/link', '../dir')
      await it.link('/in/file-link', '../dir/file')
      const search = offered(it.adapter.search, 'search').bind(it.adapter)
      const hits = await Array.fromAsync(search({ pattern: 'needle', in: at('/in') }))
      equal(
        hits.map(({ path }) => path),
        ['/in/file'],
      )
    })
  })
}
