import { createTools } from '@ws/tools'
import { describe, expect, it } from 'vitest'

import { files } from './support/calls.ts'
import { workspaceWith } from './support/stores.ts'

const latin1 = Buffer.from('Größe: fünf Meter, Höhe: zwölf Meter, außen grün\nzweite Zeile\n', 'latin1')
const wide = Buffer.from('\uFEFFeins\nzwei\n', 'utf16le')

describe('a text that is not UTF-8', () => {
  it('is read with its encoding as a named guess, and inspected with it', async () => {
    const { done } = files(createTools(await workspaceWith({ '/a.txt': latin1 })))
    const { text, data } = await done('read', { path: '/a.txt' })
    expect(text).toContain('Größe: fünf Meter')
    expect(text).toMatch(/encoding (?:windows-1252|iso-8859-\d+) is a guess: do not write this text back/u)
    expect(data).toMatchObject({ encoding: expect.stringMatching(/1252|8859/u), total_lines: 2 })
    expect((await done('inspect', { path: '/a.txt' })).text).toMatch(/encoding \S+ \(a guess\)/u)
  })

  it('keeps its bytes in an edit of ASCII', async () => {
    const workspace = await workspaceWith({ '/a.txt': latin1 })
    const { done } = files(createTools(workspace))
    await done('replace', { path: '/a.txt', old: 'zweite Zeile', new: 'dritte Zeile' })
    const { bytes } = await workspace.read('/a.txt')
    expect(Buffer.from(bytes).toString('latin1')).toBe(latin1.toString('latin1').replace('zweite', 'dritte'))
  })

  it('is read by its byte order mark', async () => {
    const { done } = files(createTools(await workspaceWith({ '/a.txt': wide })))
    const { text } = await done('read', { path: '/a.txt' })
    expect(text).toContain('zwei')
    expect(text).toContain('encoding utf-16le;')
  })

  it('is searched and read in parts as `read` reads it, and the answer says so', async () => {
    const line = '93fa967b8cea82cc8374834083438b8b82f093c782de82b182c682aa82c582ab82dc82b78142'
    const japanese = Buffer.from(`${`${line}0a`.repeat(8)}6e6565646c650a`, 'hex')
    const { done } = files(createTools(await workspaceWith({ '/l.txt': latin1, '/w.txt': wide, '/j.txt': japanese })))
    expect((await done('search', { pattern: 'zwei$', path: '/w.txt' })).text).toBe('/w.txt:2:zwei')
    const found = await done('search', { pattern: 'Meter', path: '/l.txt' })
    expect(found.text).toContain('/l.txt:1:Größe: fünf Meter')
    expect(found.text).toMatch(/\[note: \/l\.txt is shown as \S+, which is a guess/u)
    for (const pattern of ['für', 'f\\x{fc}r', 'f\\374r', 'f\\pLr', 'f[ü]r'])
      expect((await done('search', { pattern, path: '/l.txt' })).text).toContain(
        'letters other than ASCII were not found',
      )
    expect((await done('search', { pattern: 'f\\x{6f}r', path: '/l.txt' })).text).toBe('No matches.')
    expect((await done('read_chunked', { path: '/w.txt' })).text).toMatch(
      /^eins\nzwei\n+\[bytes 0–22 of 22; encoding utf-16le/u,
    )
    expect((await done('read_chunked', { path: '/l.txt', size: 16 })).text).toMatch(/^Größe: fünf Met\n?/u)
    for (const [path, text] of [
      ['/j.txt', new TextDecoder('shift_jis').decode(japanese)],
      ['/w.txt', 'eins\nzwei\n'],
    ] as const) {
      let all = ''
      for (let at: number | undefined = 0; at !== undefined; ) {
        const part = await done('read_chunked', { path, offset_bytes: at, size: 17 })
        all += part.text.slice(0, part.text.lastIndexOf('\n['))
        at = part.next?.arguments['offset_bytes'] as number | undefined
      }
      expect(all).toBe(text)
    }
  })

  it('is shown with a note on what cannot be shown, where it is large', { tags: 'all' }, async () => {
    const large = Buffer.concat([latin1, Buffer.alloc(1024 * 1024, 'x\n'), latin1])
    const { done, refused } = files(createTools(await workspaceWith({ '/a.txt': large, '/b.txt': large })))
    const { text } = await done('search', { pattern: 'Meter' })
    expect(text).toContain('/a.txt:1:Gr\uFFFD\uFFFDe')
    expect(text).toMatch(/In \/a\.txt and 1 more, \uFFFD is a byte that is not UTF-8\./u)
    expect((await refused('read', { path: '/a.txt' })).text).toContain('over 1 MiB only UTF-8 is read')
  })

  it('[FS8] shows the match in a long line with its column, and a call that reads its place', async () => {
    const code = `${'var a=1;'.repeat(20_000)}needle(x)${'var b=2;'.repeat(20_000)}`
    const toolset = createTools(await workspaceWith({ '/dist.min.js': code }))
    const { done } = files(toolset)
    const { text, next } = await done('search', { pattern: 'needle' })
    expect(text).toMatch(/^\/dist\.min\.js:1:…[^…]*needle\(x\)[^…]*… \[column 160001 of a long line\]/u)
    expect(text.length).toBeLessThan(2300)
    expect((await toolset.run(next?.tool ?? '', next?.arguments)).text).toContain('needle(x)')
    const grep = createTools(await workspaceWith({ '/dist.min.js': code }), { face: 'claude-code' })
    const answer = await grep.run('Grep', { pattern: 'needle', output_mode: 'content', '-C': 1 })
    expect(answer.text).toContain('needle(x)')
  })

  it.each([
    ['UTF-16', Buffer.concat([wide, Buffer.from('drei\n'.repeat(200_000), 'utf16le')]), 'is utf-16le'],
    ['guessed', Buffer.concat([latin1, Buffer.alloc(1_100_000, 'vier\n')]), 'only UTF-8 is read'],
  ])('is refused over 1 MiB, where it would be read as UTF-8: %s', async (_name, content, said) => {
    const { refused, done } = files(createTools(await workspaceWith({ '/a.txt': content })))
    const { text, next } = await refused('read', { path: '/a.txt' })
    expect(text).toContain(said)
    expect(next?.arguments).toMatchObject({ operation: 'read_chunked', path: '/a.txt' })
    expect((await done('inspect', { path: '/a.txt' })).text).toMatch(/encoding (?:utf-16le|\S+ \(a guess\))/u)
  })

  it('is refused where its bytes are not what its mark says', async () => {
    const { refused } = files(createTools(await workspaceWith({ '/a.txt': new Uint8Array([0xff, 0xfe, 0x41]) })))
    expect((await refused('read', { path: '/a.txt' })).text).toContain(
      'is not in the encoding that its byte order mark names',
    )
  })
})
