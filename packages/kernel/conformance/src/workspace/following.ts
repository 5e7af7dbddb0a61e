import { rules } from '@ws/core'
import { equal } from '../assert.ts'
import { codeOf } from '../doors/site.ts'
import type { DoorSuite } from '../doors/suite.ts'

export function followingTests({ describe, test }: DoorSuite): void {
  describe('following links', () => {
    test('stat and exists tell of a link, and of its target when asked to follow', { symlinks: true }, async (it) => {
      const site = await it.open({ files: { 'dir/a.txt': 'four' } })
      const { workspace } = site
      await workspace.createSymlink('to-file', 'dir/a.txt')
      await workspace.createSymlink('to-link', 'to-file')
      await workspace.createSymlink('to-dir', site.at('dir'))
      await workspace.createSymlink('dangling', 'missing')
      await workspace.createSymlink('round', 'round')
      for (const path of ['to-file', 'to-link', 'to-dir', 'dangling', 'round'])
        equal((await workspace.stat(path)).type, 'symlink', path)
      const followLinks = true
      for (const path of ['to-file', 'to-link', 'to-dir/a.txt', 'dir/a.txt']) {
        const { type, size } = await workspace.stat(path, { followLinks })
        equal([type, size], ['file', 4], path)
      }
      equal((await workspace.stat('to-dir', { followLinks })).type, 'directory')
      equal(await codeOf(workspace.stat('to-file/', { followLinks })), 'ENOTDIR', 'a slash behind a link to a file')
      equal(await codeOf(workspace.stat('dangling', { followLinks })), 'ENOENT', 'a link that leads nowhere')
      equal(await codeOf(workspace.stat('round', { followLinks })), 'ELOOP', 'a link to itself')
      equal(await workspace.exists('dangling'), true, 'the link itself')
      equal(await workspace.exists('dangling', { followLinks }), false, 'where it leads')
      equal(await workspace.exists('to-link', { followLinks }), true)
    })

    test('realPath is the path without links and `..`', { symlinks: true }, async (it) => {
      const site = await it.open({ files: { 'dir/sub/a.txt': 'a' } })
      const { workspace } = site
      await workspace.createSymlink('link', 'dir/sub')
      await workspace.createSymlink('dir/up', '..')
      await workspace.createSymlink('dangling', 'missing')
      for (const [path, real] of [
        ['link', 'dir/sub'],
        ['link/a.txt', 'dir/sub/a.txt'],
        ['link/..', 'dir'],
        ['dir/up/link/a.txt', 'dir/sub/a.txt'],
        ['file.txt', 'file.txt'],
        ['.', ''],
      ] as const)
        equal(await workspace.realPath(path), site.at(real), path)
      equal(await workspace.realPath('/'), '/', 'the root of all')
      for (const path of ['missing', 'dangling', 'link/missing']) {
        equal(await codeOf(workspace.realPath(path)), 'ENOENT', path)
      }
      equal(await codeOf(workspace.realPath('file.txt/')), 'ENOTDIR', 'a slash behind a file')
    })

    test('realPath and followLinks tell nothing that stat would not', { symlinks: true }, async (it) => {
      const site = await it.open({
        files: { 'no/x': 'x', 'no/dir/y': 'y' },
        rules: (at) => [rules.deny(at('no'))],
      })
      const { workspace } = site
      await site.link('in', 'no/x')
      await site.link('missing', 'no/missing')
      await site.link('deep', 'no/dir')
      await site.link('out', '../../../../etc/passwd')
      await site.link('host', '/etc/passwd')
      for (const path of ['no/x', 'no/missing', 'in', 'missing', 'deep', 'deep/y', 'deep/../x']) {
        equal(await codeOf(workspace.realPath(path)), 'EACCES', `the real path of ${path}`)
        equal(await codeOf(workspace.stat(path, { followLinks: true })), 'EACCES', `the status of ${path}`)
        equal(await codeOf(workspace.exists(path, { followLinks: true })), 'EACCES', `whether ${path} is there`)
      }
      for (const path of ['out', 'host']) equal(await codeOf(workspace.realPath(path)), 'ENOENT', path)
    })

    test('a listing with details has the targets of links, as they are stored', { symlinks: true }, async (it) => {
      const site = await it.open({
        files: { 'no/x': 'x', 'dir/a': 'a' },
        rules: (at) => [rules.deny(at('secret-link'))],
      })
      const { workspace } = site
      await site.link('dir/link', '../no/x')
      await site.link('dangling', '/nowhere/at/all')
      await site.link('secret-link', 'dir/a')
      const targets = async (options: { details?: boolean }): Promise<unknown> => {
        const found: [string, string | undefined][] = []
        for await (const { path, type, target } of workspace.list('.', { recursive: true, ...options }))
          if (type === 'symlink' || target !== undefined) found.push([path, target])
        return found.toSorted(([left], [right]) => (left < right ? -1 : 1))
      }
      equal(
        await targets({ details: true }),
        [
          [site.at('dangling'), '/nowhere/at/all'],
          [site.at('dir/link'), '../no/x'],
          [site.at('secret-link'), undefined],
        ],
        'the targets',
      )
      equal(
        await targets({}),
        ['dangling', 'dir/link', 'secret-link'].map((name) => [site.at(name), undefined]),
        'without details',
      )
    })

    test('a listing goes as deep as `maxDepth` says, across mounts too', {}, async (it) => {
      const site = await it.open({ files: { 'a/b/c/d.txt': '1', 'a/x.txt': '2' }, skills: it.root !== '/' })
      const { workspace } = site
      const listed = async (path: string, maxDepth: number): Promise<string[]> => {
        const found: string[] = []
        for await (const entry of workspace.list(path, { recursive: true, maxDepth })) found.push(entry.path)
        return found.sort()
      }
      const paths = (...names: string[]): string[] => names.map((name) => site.at(name)).sort()
      const skills = it.root === '/' ? [] : ['.solven', '.solven/skills', '.solven/skills/system']
      equal(await listed('.', 1), paths('a', 'file.txt', ...skills.slice(0, 1)), 'a depth of 1')
      equal(await listed('.', 2), paths('a', 'file.txt', 'a/b', 'a/x.txt', ...skills.slice(0, 2)), 'a depth of 2')
      equal(await listed('a', 2), paths('a/b', 'a/x.txt', 'a/b/c'), 'a depth of 2 below a directory')
      const all = ['a', 'file.txt', 'a/b', 'a/x.txt', 'a/b/c', 'a/b/c/d.txt']
      const system = it.root === '/' ? [] : ['.solven/skills/system/search.md']
      equal(await listed('.', 3), paths(...all.slice(0, 5), ...skills), 'a depth of 3')
      equal(await listed('.', 4), paths(...all, ...skills, ...system), 'a depth of 4')
      equal(await codeOf(workspace.list('.', { maxDepth: 2 }).next()), 'EINVAL', 'without `recursive`')
    })
  })
}
