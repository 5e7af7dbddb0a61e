import { createTools } from '@ws/tools'
import { describe, expect, it } from 'vitest'

import { files } from '../support/calls.ts'
import { stores, workspaceOn } from '../support/stores.ts'

for (const store of stores) {
  describe(`changing by file_system on ${store.name}`, { tags: store.tags }, () => {
    async function open(given: Readonly<Record<string, string | Uint8Array>> = {}) {
      const workspace = await workspaceOn(store, given)
      return { workspace, ...files(createTools(workspace)) }
    }

    it('[FS6] keeps a fence around the content of a file whose language has fences, and of its templates', async () => {
      const { done, workspace } = await open()
      const content = '```sh\nls\n```\n'
      const names = 'md MDX mdc Rmd qmd markdoc livemd myst txt rst typ md.j2 md.tmpl tmpl md.erb hbs jinja2'.split(' ')
      for (const name of names) {
        await done('write', { path: `/a.${name}`, content })
        expect(await workspace.readText(`/a.${name}`), name).toBe(content)
      }
      for (const name of ['sh', 'py', 'json5', 'markdownlint.yml']) {
        await done('write', { path: `/a.${name}`, content })
        expect(await workspace.readText(`/a.${name}`), name).toBe('ls\n')
      }
    })

    it('[FS6] writes objects as JSON, takes a fence off code and data, and sums data files up', async () => {
      const { workspace, done } = await open()
      const json = await done('write', { path: '/new/dir/a.json', content: { name: 'x', list: [1] } })
      expect(json.text).toContain('Data: an object with 2 keys: name, list.')
      expect(await workspace.readText('/new/dir/a.json')).toBe('{\n  "name": "x",\n  "list": [\n    1\n  ]\n}\n')
      const csv = await done('write', { path: '/a.csv', content: 'id,text\n1,"a\nb"\n2,c\n' })
      expect(csv.text).toContain('Data: 2 rows, 2 columns: id, text.')
      await done('write', { path: '/a.ts', content: '```ts\nconst a = 1\n```' })
      expect(await workspace.readText('/a.ts')).toBe('const a = 1\n')
      await done('write', { path: '/a.md', content: '```ts\nconst a = 1\n```' })
      expect(await workspace.readText('/a.md')).toBe('```ts\nconst a = 1\n```')
    })

    it('[FS6] looks for a fence in time that does not multiply', async () => {
      const { workspace, done } = await open()
      const start = performance.now()
      for (const content of [
        `~~~\n~~~${' '.repeat(200_000)}x`,
        `~~~\n${'~~~ '.repeat(50_000)}x`,
        '~'.repeat(200_000),
      ]) {
        await done('write', { path: '/a.ts', content })
        expect(await workspace.readText('/a.ts')).toBe(content)
      }
      expect(performance.now() - start).toBeLessThan(10_000)
    })

    it('[FS6] refuses a lone surrogate, and leaves the file as it was', async () => {
      const { workspace, refused } = await open({ '/a.txt': 'old' })
      await refused('write', { path: '/a.txt', content: 'x\ud800' })
      expect(await workspace.readText('/a.txt')).toBe('old')
    })

    it('[FS7] replaces a unique text, keeps CRLF and `$&`, and shows the nearest passage', async () => {
      const { workspace, done, refused } = await open({ '/a.txt': 'one\r\ntwo\r\nthree' })
      await done('replace', { path: '/a.txt', old: 'one\ntwo', new: '$& 1\n$1' })
      expect(await workspace.readText('/a.txt')).toBe('$& 1\r\n$1\r\nthree')
      const { text } = await refused('replace', { path: '/a.txt', old: '  thr ee', new: 'x' })
      expect(text).toContain('nearest')
      expect(await workspace.readText('/a.txt')).toBe('$& 1\r\n$1\r\nthree')
    })

    it('[PC23] refuses no match and, without `all`, several with their number', async () => {
      const { workspace, done, refused } = await open({ '/a.txt': 'x\ny\nx\n' })
      expect((await refused('replace', { path: '/a.txt', old: 'z', new: 'q' })).text).toContain('not found')
      const several = await refused('replace', { path: '/a.txt', old: 'x', new: 'q' })
      expect(several.text).toContain('2 times')
      expect(several.text).toContain('1, 3')
      expect(await workspace.readText('/a.txt')).toBe('x\ny\nx\n')
      await done('replace', { path: '/a.txt', old: 'x', new: 'q', all: true })
      expect(await workspace.readText('/a.txt')).toBe('q\ny\nq\n')
    })

    it('[FS7] makes several edits together, or none of them', async () => {
      const { workspace, done, refused } = await open({ '/a.txt': 'a b c' })
      await refused('replace', {
        path: '/a.txt',
        edits: [
          { old: 'a', new: '1' },
          { old: 'zzz', new: '2' },
        ],
      })
      expect(await workspace.readText('/a.txt')).toBe('a b c')
      await done('replace', {
        path: '/a.txt',
        edits: [
          { old: 'c', new: 'a' },
          { old: 'a', new: 'c' },
        ],
      })
      expect(await workspace.readText('/a.txt')).toBe('c b a')
    })

    it('[PC24] takes content larger than an argument list', async () => {
      const { workspace, done } = await open()
      const content = 'x'.repeat(3 * 1024 * 1024)
      await done('write', { path: '/big.txt', content })
      expect((await workspace.stat('/big.txt')).size).toBe(content.length)
    })

    it('[FS11] copies, renames, moves and deletes, and never overwrites', async () => {
      const { workspace, done, refused } = await open({ '/a.txt': 'a', '/b.txt': 'b', '/dir/c.txt': 'c' })
      for (const operation of ['copy', 'move', 'rename']) {
        expect((await refused(operation, { from: '/a.txt', to: '/b.txt' })).text).toContain('never overwrites')
        const into = await refused(operation, { from: '/a.txt', to: '/dir' })
        expect(into.next?.arguments).toMatchObject({ operation: 'list', path: '/dir' })
        expect(into.text).toContain('such as `/dir/a.txt`')
        for (const root of ['/', '.', '/workspace', 'workspace/']) {
          expect((await refused(operation, { from: root, to: '/x' })).text).toContain('root')
          expect((await refused(operation, { from: '/a.txt', to: root })).text).toContain('root')
        }
      }
      for (const root of ['/', '/workspace', '/dir/..']) await refused('delete', { path: root, recursive: true })
      expect(await workspace.readText('/b.txt')).toBe('b')
      await done('copy', { from: '/a.txt', to: '/new/a.txt' })
      await done('rename', { from: '/new/a.txt', to: 'z.txt' })
      await done('move', { from: '/new/z.txt', to: '/other/z.txt' })
      expect(await workspace.readText('/other/z.txt')).toBe('a')
      const full = await refused('delete', { path: '/dir' })
      expect(full.next?.arguments).toEqual({ operation: 'list', path: '/dir', depth: 1 })
      await done('delete', { path: '/dir', recursive: true })
      expect(await workspace.exists('/dir')).toBe(false)
    }, 30_000)

    it('[X14] writes a missing file for an empty `old`', async () => {
      const { workspace, done, refused } = await open({ '/full': 'x' })
      await done('replace', { path: '/new.txt', old: '', new: 'made' })
      expect(await workspace.readText('/new.txt')).toBe('made')
      await refused('replace', { path: '/full', old: '', new: 'made' })
      expect(await workspace.readText('/full')).toBe('x')
    })
  })
}
