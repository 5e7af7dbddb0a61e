import { textPdf } from '@ws/test-fixtures/pdf'
import { createTools } from '@ws/tools'
import { describe, expect, it } from 'vitest'

import { files } from '../support/calls.ts'
import { stores, workspaceOn } from '../support/stores.ts'

for (const store of stores) {
  describe(`reading by file_system on ${store.name}`, { tags: store.tags }, () => {
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

    it('[FS2] refuses a binary file, and names the PDF reader for a PDF', async () => {
      const gzip = Buffer.from('1f8b0800000000000003030000000000', 'hex')
      const { refused } = await open({ '/a.bin': gzip, '/a.pdf': textPdf(['page']) })
      expect((await refused('read', { path: '/a.bin' })).text).toContain('binary file (application/gzip, 16 bytes)')
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
        const {
          text: part,
          data,
          next,
        } = await done('read_chunked', { path: '/a.txt', offset_bytes: offset, size: 17 })
        whole += part.slice(0, part.lastIndexOf('\n[bytes'))
        if (next === undefined) break
        offset = Number(data?.['end'])
      }
      expect(whole).toBe(text)
    })

    it('[FS4] reads a PDF by pages from 1, and notes a page out of range', async () => {
      const { done, refused } = await open({ '/a.pdf': textPdf(['first', 'second', 'third']) })
      const two = await done('read_chunked', { path: '/a.pdf', pages: '1-2' })
      expect(two.text).toMatch(
        /--- page 1 ---\nfirst\s*\n--- page 2 ---\nsecond\s*\n\[pages 1–2 of 3; next: pages 3-3;/u,
      )
      expect((await done('read_chunked', { path: '/a.pdf' })).text).toContain('third')
      expect((await done('read_chunked', { path: '/a.pdf', pages: '9' })).text).toContain('of 3')
      for (const pages of ['0', '2-1', 'all', '1-2000']) await refused('read_chunked', { path: '/a.pdf', pages })
    }, 60_000)

    it('[FS4] says nothing about pages of a short PDF that nobody asked for', async () => {
      const { done, refused } = await open({ '/a.pdf': textPdf(['first', 'second', 'third']) })
      const told = async (given: object) =>
        (await done('read_chunked', { path: '/a.pdf', ...given })).text
          .replace(/^[^]*\n\[/u, '')
          .replace(/; version .*/u, '')
      const { next } = await refused('read', { path: '/a.pdf' })
      expect(next?.arguments).toMatchObject({ pages: '1-' })
      expect(await told({ pages: '1-' })).toBe('pages 1–3 of 3')
      expect(await told({})).toBe('pages 1–3 of 3')
      expect(await told({ pages: '2 - ' })).toBe('pages 2–3 of 3')
      expect(await told({ pages: '2-9' })).toBe(
        'pages 2–3 of 3; pages 4–9 are beyond the end: the document has 3 pages',
      )
    }, 60_000)

    it('[FS4] goes on behind the usual 20 pages', async () => {
      const { done } = await open({ '/a.pdf': textPdf(Array.from({ length: 45 }, (_, index) => `line ${index + 1}`)) })
      const { text, next } = await done('read_chunked', { path: '/a.pdf' })
      expect(text).toContain('[pages 1–20 of 45; next: pages 21-40;')
      expect(next?.arguments).toMatchObject({ pages: '21-40' })
      expect((await done('read_chunked', { path: '/a.pdf', pages: '41-' })).text).toContain('[pages 41–45 of 45;')
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

    it('[FS4] reads a PDF behind a blank, a mark or a header, and a text that names its mark as a text', async () => {
      const pdf = textPdf(['behind'])
      const files: Record<string, Uint8Array | string> = { '/about.md': 'A PDF begins with %PDF-1.7.\n' }
      for (const [name, head] of Object.entries({ line: '\r\n', blank: ' ', bom: '\ufeff', raw: '\0\u0001HEAD\0' }))
        files[`/${name}.pdf`] = Buffer.concat([Buffer.from(head), pdf])
      const { done } = await open(files)
      for (const name of ['line', 'blank', 'bom', 'raw']) {
        expect((await done('read_chunked', { path: `/${name}.pdf` })).text, name).toContain('behind')
      }
      expect((await done('read', { path: '/about.md' })).text).toContain('%PDF-1.7')
      // a text in front of a PDF of text alone: `pages` decides
      const { done: read } = await open({
        '/mail': Buffer.concat([Buffer.from('From: Ann\n\n'), textPdf(['a letter'])]),
      })
      expect((await read('read', { path: '/mail' })).text).toContain('From: Ann')
      expect((await read('read_chunked', { path: '/mail', pages: '1' })).text).toContain('a letter')
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
  })
}
