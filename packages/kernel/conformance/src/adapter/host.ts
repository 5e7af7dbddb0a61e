import { check, equal, meetsLink, rejects } from '../assert.ts'
import { at, offered } from './case.ts'
import type { Suite } from './suite.ts'

export function hostTests({ describe, test }: Suite): void {
  const needs = { hostPath: true }

  describe('hostPath, hostDirectory', () => {
    test('tell where a directory is, and what is above it', needs, async (it) => {
      const hostPath = offered(it.adapter.hostPath, 'hostPath').bind(it.adapter)
      const hostDirectory = offered(it.adapter.hostDirectory, 'hostDirectory').bind(it.adapter)
      await it.put('/dir/sub/file')
      const root = await hostDirectory(at('/'))
      const sub = await hostDirectory(at('/dir/sub'))
      equal(hostPath(at('/')), root.path, 'the path of the root')
      equal(hostPath(at('/dir/sub')), `${root.path}/dir/sub`, 'a path')
      equal(sub.path, `${root.path}/dir/sub`, 'the path of a directory')
      check(/^\d+:\d+$/u.test(sub.identity), `the identity is ${sub.identity}`)
      check(sub.ancestors.includes(root.identity), 'the root is not among the ancestors')
      check(!sub.ancestors.includes(sub.identity), 'the directory is its own ancestor')
      check((sub.owner === undefined) === (sub.ownerProblem !== undefined), 'owner and ownerProblem')
      check(sub.owner?.uid !== 0, 'commands would run as uid 0')
    })

    test('are for directories that are there', needs, async (it) => {
      const hostPath = offered(it.adapter.hostPath, 'hostPath').bind(it.adapter)
      const hostDirectory = offered(it.adapter.hostDirectory, 'hostDirectory').bind(it.adapter)
      await it.put('/file')
      equal(hostPath(at('/none')), `${hostPath(at('/'))}/none`, 'a lexical path')
      await rejects(hostDirectory(at('/none')), 'ENOENT', { path: '/none' })
      await rejects(hostDirectory(at('/file')), 'ENOTDIR', { path: '/file' })
    })

    test('follow no link', { ...needs, symlinks: true }, async (it) => {
      const hostDirectory = offered(it.adapter.hostDirectory, 'hostDirectory').bind(it.adapter)
      await it.put('/dir/sub/file')
      await it.link('/link', 'dir')
      await meetsLink(hostDirectory(at('/link')), { at: '/link', target: 'dir', rest: '' })
      await meetsLink(hostDirectory(at('/link/sub')), { at: '/link', target: 'dir', rest: 'sub' })
    })
  })
}
