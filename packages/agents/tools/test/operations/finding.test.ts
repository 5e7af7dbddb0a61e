import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, paths, WorkspaceError } from '@ws/core'
import { createTools } from '@ws/tools'
import { describe, expect, it } from 'vitest'

import { files } from '../support/calls.ts'
import { stores, workspaceOn } from '../support/stores.ts'

for (const store of stores) {
  describe(`finding by file_system on ${store.name}`, { tags: store.tags }, () => {
    async function open(given: Readonly<Record<string, string | Uint8Array>> = {}) {
      const workspace = await workspaceOn(store, given)
      return { workspace, ...files(createTools(workspace)) }
    }

    it('finds files behind a link that a glob names, and says that a link leads nowhere', async () => {
      const { done, refused, workspace } = await open({ '/real/a.ts': '', '/real/sub/b.ts': '' })
      await workspace.createSymlink('/link', 'real').catch(() => undefined)
      await workspace.createSymlink('/nowhere.txt', 'none.txt').catch(() => undefined)
      // a store without links has nothing to show here
      if (!(await workspace.exists('/link'))) return
      expect((await done('find', { glob: 'link/*.ts' })).data).toMatchObject({ paths: ['/link/a.ts'] })
      expect((await done('find', { glob: '/link/**/b.ts' })).data).toMatchObject({ paths: ['/link/sub/b.ts'] })
      await workspace.createSymlink('/real/up', 'sub')
      expect((await done('find', { glob: 'up/*.ts', path: '/real' })).data).toMatchObject({ paths: ['/real/up/b.ts'] })
      await workspace.createSymlink('/loop', 'loop')
      expect((await done('find', { glob: 'loop/*.ts' })).data).toMatchObject({ paths: [] })
      const write = await refused('write', { path: '/nowhere.txt', content: 'x' })
      expect(write.text).toContain(
        '`/nowhere.txt` is a link that leads nowhere: `none.txt`. Nothing was changed; write to `/none.txt`',
      )
      const edit = await refused('replace', { path: '/nowhere.txt', old: '', new: 'x' })
      expect(edit.text).toContain('is a link that leads nowhere')
    })

    it('[FS8] searches, also for a pattern that begins with `-`, and no match is not an error', async () => {
      const { done } = await open({ '/a.ts': '-x one\ntwo\n', '/b/c.ts': 'nothing\n-x two\n', '/d.md': '-x' })
      expect((await done('search', { pattern: '-x', glob: '*.ts' })).text.split('\n').toSorted()).toEqual([
        '/a.ts:1:-x one',
        '/b/c.ts:2:-x two',
      ])
      expect((await done('search', { pattern: 'nowhere' })).text).toBe('No matches.')
      expect((await done('search', { pattern: '-x', mode: 'count', path: '/b' })).text).toBe('/b/c.ts:1')
      expect((await done('search', { pattern: 'two', path: '/a.ts', context: 1 })).text).toBe(
        '/a.ts-1--x one\n/a.ts:2:two',
      )
    })

    it('[FS8] shows 10 KB of the head and 30 KB of the tail of long results', async () => {
      const { done } = await open({
        '/a.txt': Array.from({ length: 900 }, (_, index) => `hit ${index} ${'x'.repeat(90)}\n`).join(''),
      })
      const { text } = await done('search', { pattern: 'hit' })
      expect(text.length).toBeLessThan(42_000)
      expect(text).toContain('/a.txt:1:hit 0 ')
      expect(text).toContain('/a.txt:900:hit 899 ')
      expect(text).toMatch(/\[… \d+ characters left out …\]/u)
    })

    it('[FS9] finds 100 files at most with the total, without hidden files, `node_modules` and `__pycache__`', async () => {
      const given: Record<string, string> = {
        '/.hidden/a.ts': '',
        '/node_modules/m/a.ts': '',
        '/__pycache__/a.ts': '',
        '/src/a.ts': '',
      }
      for (let index = 0; index < 104; index += 1) given[`/many/f${String(index).padStart(3, '0')}.py`] = ''
      const { done } = await open(given)
      expect((await done('find', { glob: '*.ts' })).text).toBe('/src/a.ts')
      const many = await done('find', { glob: 'many/**/*.py' })
      expect(many.data).toMatchObject({ total: 104, left_out: 4 })
      expect(many.text).toContain('[100 of 104 shown')
      expect(many.text.startsWith('/many/f000.py\n/many/f001.py')).toBe(true)
    }, 30_000)

    it('[FS9] opens hidden and left out places that a glob names, and takes brackets as they are', async () => {
      const { done } = await open({
        '/.github/workflows/ci.yml': '',
        '/.gitignore': 'dist\n',
        '/app/.venv/a.py': '',
        '/app/blog/[slug]/page.tsx': 'export',
        '/app/[[...all]]/page.tsx': 'export',
        '/app/s/page.tsx': '',
        '/app/{id}/page.tsx': '',
        '/dist/a.js': 'export',
        '/node_modules/x/package.json': '{}',
        '/node_modules/x/node_modules/y/package.json': '{}',
        '/src/.hidden/a.js': '',
      })
      for (const [glob, found] of [
        ['.github/workflows/*.yml', ['/.github/workflows/ci.yml']],
        ['**/.github/**/*.yml', ['/.github/workflows/ci.yml']],
        ['{.github,.gitlab}/**/*.yml', ['/.github/workflows/ci.yml']],
        ['.gitignore', ['/.gitignore']],
        ['/.git*', ['/.github/', '/.gitignore']],
        ['node_modules/x/package.json', ['/node_modules/x/package.json']],
        ['/node_modules/*/package.json', ['/node_modules/x/package.json']],
        ['app/.venv/*.py', ['/app/.venv/a.py']],
        ['dist/*.js', ['/dist/a.js']],
        ['app/blog/[slug]/page.tsx', ['/app/blog/[slug]/page.tsx']],
        ['/app/blog/[slug]/*', ['/app/blog/[slug]/page.tsx']],
        ['app/[[...all]]/page.tsx', ['/app/[[...all]]/page.tsx']],
        ['app/[rst]/page.tsx', ['/app/s/page.tsx']],
        ['app/{id}/*.tsx', ['/app/{id}/page.tsx']],
      ] as const) {
        expect((await done('find', { glob })).data, glob).toMatchObject({ paths: found })
      }
      expect((await done('search', { pattern: 'export', glob: 'app/blog/[slug]/page.tsx' })).text).toContain(
        'page.tsx:1:',
      )
      expect((await done('find', { glob: '*.js' })).text).toBe(
        'No file matches "*.js" below /. Left out: /.github, /dist, /node_modules and 2 more; look there with `hidden: true` and `ignored: true`.',
      )
      expect((await done('find', { glob: '*.js', ignored: true })).data).toMatchObject({ paths: ['/dist/a.js'] })
      expect((await done('find', { glob: 'a.js', hidden: true })).data).toMatchObject({ paths: ['/src/.hidden/a.js'] })
      expect((await done('search', { pattern: 'export', path: 'dist' })).text).toBe('/dist/a.js:1:export')
      expect((await done('search', { pattern: 'export', glob: '*.js' })).text).toBe(
        'No matches. Left out: /dist; look there with `ignored: true`.',
      )
      expect((await done('search', { pattern: 'export', glob: '*.js', ignored: true })).text).toBe(
        '/dist/a.js:1:export',
      )
    }, 30_000)

    it('[FS12] lists 200 files at most by path, and says how many were left out', async () => {
      const given: Record<string, string> = {}
      for (let index = 0; index < 210; index += 1) given[`/d/f${String(index).padStart(3, '0')}`] = 'x'
      const { done } = await open(given)
      const { text, data } = await done('list', { path: '/d' })
      expect(data).toMatchObject({ entries: 200, total: 210, left_out: 10 })
      expect(text.startsWith('/d/\n  f000')).toBe(true)
      expect(text).toContain('[10 more left out')
    }, 30_000)

    it('[FS13] takes one leading `workspace` for the root, and refuses to climb out', async () => {
      const { workspace, done, refused } = await open({
        '/x': 'root',
        '/workspaces/x': 's',
        '/workspace_backup/x': 'b',
      })
      expect((await done('read', { path: '/workspace/x' })).text).toContain('root')
      expect((await done('read', { path: 'workspace/x' })).text).toContain('root')
      expect((await done('read', { path: 'x' })).text).toContain('root')
      expect((await done('read', { path: '/workspaces/x' })).text).toContain('\ts\n')
      expect((await done('read', { path: '/workspace_backup/x' })).text).toContain('\tb\n')
      for (const path of ['/workspace/../escape', '/workspace/../../x', '../x', '/../x']) {
        expect((await refused('write', { path, content: 'no' })).data).toMatchObject({ code: 'EOUTSIDE' })
      }
      await refused('read', { path: '/workspace/workspace/x' })
      await done('write', { path: '/workspace/new.txt', content: 'here' })
      expect(await workspace.readText('/new.txt')).toBe('here')
    })

    it('[FS14] searches and finds in the view of the workspace, and refuses a path outside', async () => {
      const { workspace, done, refused } = await open({ '/src/a.ts': 'needle\n' })
      expect((await done('search', { pattern: 'needle', path: '/workspace/src' })).text).toBe('/src/a.ts:1:needle')
      expect((await done('find', { glob: '*.ts', path: 'workspace' })).text).toBe('/src/a.ts')
      await workspace.write('/src/a.ts', 'changed\n')
      expect((await done('search', { pattern: 'changed' })).text).toBe('/src/a.ts:1:changed')
      for (const operation of ['search', 'find']) {
        const given = operation === 'search' ? { pattern: 'x' } : { glob: '*' }
        expect((await refused(operation, { ...given, path: '../elsewhere' })).data).toMatchObject({ code: 'EOUTSIDE' })
        expect((await refused(operation, { ...given, path: '/missing' })).data).toMatchObject({ code: 'ENOENT' })
      }
    })
  })
}

it('[HO6] a search names the files that other processes hold', async () => {
  const adapter = createMemoryAdapter({ files: { '/d/a.txt': 'needle', '/d/held.txt': 'needle' } })
  const search = adapter.search?.bind(adapter)
  if (search === undefined) throw new Error('memory is searched')
  adapter.search = (query, options) => {
    const path = paths.parseMount('/d/held.txt')
    const reason = 'is in use by another process'
    options?.onUnreadable?.(
      path,
      new WorkspaceError({ code: 'EBUSY', operation: 'search', path, reason, remedy: 'try again' }),
    )
    return search({ ...query, exclude: [path] })
  }
  const { done } = files(createTools(await createWorkspace({ mounts: [{ at: '/here', adapter }] })))
  const { text } = await done('search', { pattern: 'needle' })
  expect(text).toContain('/here/d/a.txt:1:needle')
  expect(text).toMatch(
    /\[note: Left out: EBUSY: search: `\/here\/d\/held\.txt` is in use by another process; try again\]/u,
  )
})
