import { createTools } from '@ws/tools'
import { describe, expect, it } from 'vitest'

import { files } from './support/calls.ts'
import { createPdf } from './support/pdf.ts'
import { stores, workspaceOn } from './support/stores.ts'

describe.each(stores)('file_system on $name', (store) => {
  async function open(given: Readonly<Record<string, string | Uint8Array>> = {}) {
    const workspace = await workspaceOn(store, given)
    return { workspace, ...files(createTools(workspace)) }
  }

  it('[FS2] reads numbered lines, and says where to go on', async () => {
    const { done } = await open({ '/a.txt': 'one\ntwo\nthree\n' })
    const answer = await done('read', { path: '/a.txt', limit: 2 })
    expect(answer.text).toMatch(/^ {5}1\tone\n {5}2\ttwo\n\[lines 1–2 of 3; next: offset 2; version .+\]$/u)
    expect(answer.next).toEqual({
      tool: 'file_system',
      arguments: { operation: 'read', path: '/a.txt', offset: 2, limit: 2 },
    })
  })

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

  it('[FS2] refuses a binary file, and names the PDF reader for a PDF', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d4948445200000001000000010806000000', 'hex')
    const { refused } = await open({ '/a.bin': png, '/a.pdf': createPdf(['page']) })
    expect((await refused('read', { path: '/a.bin' })).text).toContain('binary file (image/png, 29 bytes)')
    const pdf = await refused('read', { path: '/a.pdf' })
    expect(pdf.text).toContain('read_chunked')
    expect(pdf.next?.arguments).toMatchObject({ operation: 'read_chunked', path: '/a.pdf' })
  })

  it('[FS3] takes a NUL or more than 5 % control characters for binary, and an empty file for text', async () => {
    const few = `${'x'.repeat(95)}${'\u0001'.repeat(5)}`
    const many = `${'x'.repeat(94)}${'\u0001'.repeat(6)}`
    const { done, refused } = await open({
      '/few': few,
      '/many': many,
      '/nul': 'a\0b',
      '/empty': '',
      '/tabs': '\t\r\n\f',
    })
    await done('read', { path: '/few' })
    await done('read', { path: '/tabs' })
    expect((await done('read', { path: '/empty' })).text).toContain('(the file is empty)')
    await refused('read', { path: '/many' })
    await refused('read', { path: '/nul' })
  })

  it('[FS4] reads parts by bytes that together are the file, never cutting a character', async () => {
    const text = 'aé€😀'.repeat(40)
    const { done } = await open({ '/a.txt': text })
    let whole = ''
    for (let offset = 0; ; ) {
      const { text: part, data, next } = await done('read_chunked', { path: '/a.txt', offset_bytes: offset, size: 17 })
      whole += part.slice(0, part.lastIndexOf('\n[bytes'))
      if (next === undefined) break
      offset = Number(data?.['end'])
    }
    expect(whole).toBe(text)
  })

  it('[FS4] reads a PDF by pages from 1, and notes a page out of range', async () => {
    const { done, refused } = await open({ '/a.pdf': createPdf(['first', 'second', 'third']) })
    const two = await done('read_chunked', { path: '/a.pdf', pages: '1-2' })
    expect(two.text).toMatch(/--- page 1 ---\nfirst\s*\n--- page 2 ---\nsecond\s*\n\[pages 1–2 of 3; next: pages 3-3;/u)
    expect((await done('read_chunked', { path: '/a.pdf' })).text).toContain('third')
    expect((await done('read_chunked', { path: '/a.pdf', pages: '9' })).text).toContain('of 3')
    for (const pages of ['0', '2-1', 'all', '1-2000']) await refused('read_chunked', { path: '/a.pdf', pages })
  }, 60_000)

  it('[FS12] shows the signatures of Python and TypeScript sources', async () => {
    const { done } = await open({
      '/a.py': 'def f(x):\n  pass\n',
      '/b.ts': 'export function g(): void {}\n',
      '/c.md': 'def f',
    })
    const { text } = await done('list')
    expect(text).toContain('def f(x)')
    expect(text).toContain('function g(): void')
    expect((await done('list', { signatures: false })).text).not.toContain('def f')
  }, 60_000)

  it('[FS5] inspects the first ten lines', async () => {
    const { done } = await open({
      '/a.txt': Array.from({ length: 30 }, (_, index) => `line ${index + 1}\r\n`).join(''),
    })
    const { text } = await done('inspect', { path: '/a.txt' })
    expect(text).toContain('line ends crlf')
    expect(text).toContain('30 lines')
    expect(text).toContain('    10\tline 10\n')
    expect(text).not.toContain('line 11')
    expect((await done('inspect', { path: '/a.txt', lines: 2 })).text).not.toContain('line 3')
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

  it('[PC25] defines windows: 2,000 lines, an empty file, an offset behind the end, no final newline', async () => {
    const lines = Array.from({ length: 2001 }, (_, index) => `l${index}`).join('\n')
    const { done } = await open({ '/many': lines, '/one': 'only' })
    const first = await done('read', { path: '/many' })
    expect(first.text).toContain('  2000\tl1999\n[lines 1–2000 of 2001; next: offset 2000; no newline at the end;')
    expect((await done('read', { path: '/many', offset: 2000 })).text).toContain(
      '  2001\tl2000\n[lines 2001–2001 of 2001;',
    )
    expect((await done('read', { path: '/many', start_line: 2001 })).text).toContain('  2001\tl2000\n')
    const behind = await done('read', { path: '/one', offset: 5 })
    expect(behind.text).toContain('lies behind the end; the file has 1 line')
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

  it('[FS11] copies, renames, moves and deletes, and never overwrites', async () => {
    const { workspace, done, refused } = await open({ '/a.txt': 'a', '/b.txt': 'b', '/dir/c.txt': 'c' })
    for (const operation of ['copy', 'move', 'rename']) {
      expect((await refused(operation, { from: '/a.txt', to: '/b.txt' })).text).toContain('never overwrites')
      const into = await refused(operation, { from: '/a.txt', to: '/dir' })
      expect(into.next?.arguments).toMatchObject({ operation, from: '/a.txt', to: '/dir/a.txt' })
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
    expect(full.next?.arguments).toEqual({ operation: 'delete', path: '/dir', recursive: true })
    await done('delete', { path: '/dir', recursive: true })
    expect(await workspace.exists('/dir')).toBe(false)
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
    const { workspace, done, refused } = await open({ '/x': 'root', '/workspaces/x': 's', '/workspace_backup/x': 'b' })
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

  it('[X14] writes a missing file for an empty `old`', async () => {
    const { workspace, done, refused } = await open({ '/full': 'x' })
    await done('replace', { path: '/new.txt', old: '', new: 'made' })
    expect(await workspace.readText('/new.txt')).toBe('made')
    await refused('replace', { path: '/full', old: '', new: 'made' })
    expect(await workspace.readText('/full')).toBe('x')
  })
})
