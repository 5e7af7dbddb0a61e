import type { SearchHit, AdapterOptions } from '@ws/core/adapter'
import { check, equal, rejects } from '../assert.ts'
import { at, encode, offered, type Case } from './case.ts'
import type { Suite } from './suite.ts'

type Query = Omit<AdapterOptions.Query, 'in'> & { readonly in?: string }

async function search({ adapter }: Case, { in: path = '/', ...query }: Query): Promise<SearchHit[]> {
  const run = offered(adapter.search, 'search').bind(adapter)
  return Array.fromAsync(run({ ...query, in: at(path) }))
}

async function found(it: Case, query: Query): Promise<string[]> {
  return (await search(it, query)).map(({ path, line }) => `${path}:${line}`).toSorted()
}

export function searchTests({ describe, test }: Suite): void {
  const needs = { search: true }

  describe('search', () => {
    test('gives path, line, column and text of the first match in each line', needs, async (it) => {
      await it.put('/dir/a', 'no\n  needle needle\nneedle\n')
      const hits = (await search(it, { pattern: 'needle' })).toSorted((a, b) => a.line - b.line)
      equal(hits, [
        { path: '/dir/a', line: 2, column: 3, text: '  needle needle' },
        { path: '/dir/a', line: 3, column: 1, text: 'needle' },
      ])
      equal(await search(it, { pattern: 'absent' }), [])
    })

    test('[PC22] takes a literal pattern as data, one that starts with - included', needs, async (it) => {
      await it.put('/a', '-e x\n$(id)\na.c\nabc\n--help | "q" \\\n')
      for (const [pattern, lines] of [
        ['-e', ['/a:1']],
        ['$(id)', ['/a:2']],
        ['a.c', ['/a:3']],
        ['--help | "q" \\', ['/a:5']],
        ['[', []],
      ] as const) {
        equal(await found(it, { pattern }), lines, pattern)
      }
    })

    test('takes regular expressions, and case when asked to', needs, async (it) => {
      await it.put('/a', 'Alpha\nbeta\nalphabeta\n')
      equal(await found(it, { pattern: '^a.*a$', regex: true }), ['/a:3'])
      equal(await found(it, { pattern: '^a.*a$', regex: true, caseSensitive: false }), ['/a:1', '/a:3'])
      equal(await found(it, { pattern: 'ALPHA', caseSensitive: false }), ['/a:1', '/a:3'])
      equal(await found(it, { pattern: '(alpha|beta){2}', regex: true }), ['/a:3'])
      equal(await found(it, { pattern: '-x|^b', regex: true }), ['/a:2'])
    })

    test('refuses an invalid expression, and one that is not linear', needs, async (it) => {
      await it.put('/a', 'x')
      for (const pattern of ['(', '[z-a]', 'a(?=b)', '(a)\\1']) {
        await rejects(search(it, { pattern, regex: true }), 'EINVAL', { what: pattern })
      }
    })

    test('gives lines without their ends, CRLF too, and columns in characters', needs, async (it) => {
      await it.put('/a', '😀é needle\r\nnéedle needle')
      const hits = (await search(it, { pattern: 'needle' })).toSorted((a, b) => a.line - b.line)
      equal(
        hits.map(({ line, column, text }) => [line, column, text]),
        [
          [1, 4, '😀é needle'],
          [2, 8, 'néedle needle'],
        ],
      )
      equal(await found(it, { pattern: 'needle$', regex: true }), ['/a:1', '/a:2'], 'at the end of lines')
    })

    test('gives 2,000 characters of a longer line, with the match', needs, async (it) => {
      await it.put('/a', `one\n${'é'.repeat(5000)}needle${'é'.repeat(5000)}\n`)
      const [hit] = await search(it, { pattern: 'needle' })
      equal([hit?.line, hit?.column, [...(hit?.text ?? '')].length], [2, 5001, 2000])
      const start = hit?.part?.column ?? 0
      equal(hit?.text.slice(5001 - start, 5007 - start), 'needle')
      equal(hit?.part?.offset ?? 10_004, 10_004, 'the byte of the match')
    })

    test('searches UTF-16 by its byte order mark', needs, async (it) => {
      const text = `\uFEFF${'x\n'.repeat(5000)}eins néedle\n`
      const units = new Uint8Array(text.length * 2)
      for (let at = 0; at < text.length; at += 1) {
        units[at * 2] = text.charCodeAt(at) & 0xff
        units[at * 2 + 1] = text.charCodeAt(at) >> 8
      }
      await it.put('/a', units)
      equal(await found(it, { pattern: 'néedle' }), ['/a:5001'])
    })

    test('looks at no binary file', needs, async (it) => {
      await it.put('/binary', encode('needle\0\nneedle\n'))
      await it.put('/text', encode('needle\u0001\n'))
      equal(await found(it, { pattern: 'needle' }), ['/text:1'])
    })

    test('finds text between bytes that are not UTF-8', needs, async (it) => {
      await it.put('/a', Uint8Array.from([0xe9, 0xff, 0x20, ...encode('needle'), 0xe9, 0x0a]))
      equal(await found(it, { pattern: 'needle' }), ['/a:1'])
    })

    test('looks below a directory, into dotfiles too, or at one file', needs, async (it) => {
      for (const path of ['/in/a', '/in/.hidden/.b', '/in2/c', '/d']) await it.put(path, 'needle')
      equal(await found(it, { pattern: 'needle', in: '/in' }), ['/in/.hidden/.b:1', '/in/a:1'])
      equal(await found(it, { pattern: 'needle', in: '/in/a' }), ['/in/a:1'])
      equal((await found(it, { pattern: 'needle' })).length, 4, 'the number of hits')
    })

    test('ignores no file for what stands in an ignore file', needs, async (it) => {
      await it.put('/.gitignore', 'a\n')
      await it.put('/.ignore', 'a\n')
      await it.put('/.git/config', '')
      await it.put('/a', 'needle')
      equal(await found(it, { pattern: 'needle' }), ['/a:1'])
    })

    test('selects by globs below `in`', needs, async (it) => {
      for (const path of ['/in/a.ts', '/in/src/b.ts', '/in/src/.c.ts', '/in/d.js', '/in/node_modules/e.ts']) {
        await it.put(path, 'x')
      }
      const select = async (...glob: string[]): Promise<string[]> =>
        (await found(it, { pattern: 'x', in: '/in', glob })).map((hit) => hit.slice('/in/'.length, -2))
      equal(await select('*.ts', '!node_modules'), ['a.ts', 'src/.c.ts', 'src/b.ts'])
      equal(await select('src/*.ts'), ['src/.c.ts', 'src/b.ts'])
      equal(await select('in/src/*'), [])
      equal(await select('**/b.*'), ['src/b.ts'])
      equal(await select('*.{js,md}'), ['d.js'])
      equal(await select('!*.ts'), ['d.js'])
      equal(await select('*', '!src/**', '!**/node_modules/**'), ['a.ts', 'd.js'])
    })

    test('searches a file that `in` names whatever the globs say, and refuses invalid globs', needs, async (it) => {
      await it.put('/in/a.ts', 'x')
      equal(await found(it, { pattern: 'x', in: '/in/a.ts', glob: ['*.js'] }), ['/in/a.ts:1'])
      for (const glob of ['', '!', '[a', '{a', 'a\\']) {
        await rejects(search(it, { pattern: 'x', glob: [glob] }), 'EINVAL', { what: glob })
      }
    })

    test('does not enter excluded subtrees', needs, async (it) => {
      for (const path of ['/a/b', '/ab/c', '/d/e/f', '/g']) await it.put(path, 'x')
      equal(await found(it, { pattern: 'x', exclude: [at('/a'), at('/d/e'), at('/g')] }), ['/ab/c:1'])
      equal(await found(it, { pattern: 'x', in: '/d', exclude: [at('/d')] }), [])
    })

    test('stops at its limits', needs, async (it) => {
      await it.put('/many', 'x\n'.repeat(3000))
      await it.put('/large', `x${' '.repeat(5000)}\n`)
      equal((await search(it, { pattern: 'x', in: '/many', maxHits: 7 })).length, 7)
      equal((await search(it, { pattern: 'x', in: '/many' })).length, 1000, 'the default')
      equal(await found(it, { pattern: 'x', in: '/large', maxFileBytes: 5000 }), [])
      equal(await found(it, { pattern: 'x', in: '/large', maxFileBytes: 5002 }), ['/large:1'])
    })

    test('can be left early', needs, async (it) => {
      for (let index = 0; index < 10; index += 1) await it.put(`/${index}`, 'x\n'.repeat(100))
      const run = offered(it.adapter.search, 'search').bind(it.adapter)
      for (let round = 0; round < 10; round += 1) {
        const hits = run({ pattern: 'x', in: at('/') })
        for await (const { line } of hits) if (line > 0) break
        check((await hits.next()).done === true, 'it goes on')
      }
    })

    test('of a missing path is ENOENT, at the first next()', needs, async (it) => {
      await rejects(search(it, { pattern: 'x', in: '/none' }), 'ENOENT', { path: '/none' })
    })
  })
}
