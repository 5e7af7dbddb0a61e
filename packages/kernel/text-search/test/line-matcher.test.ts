import { WorkspaceError } from '@ws/core'
import { describe, expect, it } from 'vitest'
import { binarySniffBytes, maxLineBytes } from '../src/file-scan.ts'
import { createLineMatcher, type LineHit } from '../src/index.ts'
import type { PatternOptions } from '../src/pattern.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

function search(text: string | Uint8Array, options: PatternOptions): Promise<LineHit[]> {
  return Array.fromAsync(createLineMatcher(options).searchBytes(typeof text === 'string' ? bytes(text) : text))
}

async function* chunksOf(content: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(size) // reused, as a reader may do it
  for (let start = 0; start < content.length; start += size) {
    const part = content.subarray(start, start + size)
    buffer.set(part)
    yield buffer.subarray(0, part.length)
  }
}

describe('createLineMatcher', () => {
  it('gives line, column and text of the first match in each line', async () => {
    expect(await search('no\nfoo bar foo\n\n bar foo\n', { pattern: 'foo' })).toEqual([
      { line: 2, column: 1, text: 'foo bar foo' },
      { line: 4, column: 6, text: ' bar foo' },
    ])
  })

  it('[PC22] takes a literal pattern as data', async () => {
    expect(await search('a.c\nabc\n-rf $(x)\n', { pattern: 'a.c' })).toHaveLength(1)
    expect(await search('a.c\nabc\n-rf $(x)\n', { pattern: '-rf $(x)' })).toEqual([
      { line: 3, column: 1, text: '-rf $(x)' },
    ])
    expect(await search('A.C\nabc\n', { pattern: 'a.c', caseSensitive: false })).toHaveLength(1)
  })

  it('matches regular expressions line by line, anchors included', async () => {
    const text = 'alpha\nbeta\r\nalphabeta\n'
    expect((await search(text, { pattern: '^[a-z]+beta$', regex: true })).map(({ line }) => line)).toEqual([3])
    expect((await search(text, { pattern: 'beta$', regex: true })).map(({ line }) => line)).toEqual([2, 3])
    expect((await search(text, { pattern: 'a[^x]b', regex: true })).map(({ line }) => line)).toEqual([])
    expect(
      (await search(text, { pattern: 'BETA', regex: true, caseSensitive: false })).map(({ line }) => line),
    ).toEqual([2, 3])
    expect((await search('a\n\nb', { pattern: '^$', regex: true })).map(({ line }) => line)).toEqual([2])
  })

  it('takes LF and CRLF as line ends, and nothing else', async () => {
    expect(await search('one\r\ntwo\rtwo\r\nend\r', { pattern: 'o', regex: false })).toEqual([
      { line: 1, column: 1, text: 'one' },
      { line: 2, column: 3, text: 'two\rtwo' },
    ])
    expect(await search('x\r\n', { pattern: '\r' })).toEqual([])
    expect(await search('x\ry\r\n', { pattern: '\r' })).toEqual([{ line: 1, column: 2, text: 'x\ry' }])
  })

  it('finds the last line without an end, and no line in an empty file', async () => {
    expect(await search('a\nb', { pattern: 'b' })).toEqual([{ line: 2, column: 1, text: 'b' }])
    expect(await search('', { pattern: '' })).toEqual([])
    expect((await search('a\n\n', { pattern: '' })).map(({ line }) => line)).toEqual([1, 2])
  })

  it('counts columns in characters and cuts long lines between characters', async () => {
    expect(await search('😀é foo', { pattern: 'foo' })).toEqual([{ line: 1, column: 4, text: '😀é foo' }])
    expect((await search('😀é foo', { pattern: 'f.o', regex: true }))[0]?.column).toBe(4)
    const [hit] = await search('😀'.repeat(3000) + 'foo', { pattern: 'foo' })
    expect(hit).toEqual({
      line: 1,
      column: 3001,
      text: `${'😀'.repeat(250)}foo`,
      part: { column: 2751, offset: 12_000 },
    })
    const [near] = await search(`é${'x'.repeat(900)}foo${'y'.repeat(5000)}`, { pattern: 'foo' })
    expect(near).toMatchObject({ column: 902, part: { column: 1, offset: 902 } })
    expect(near?.text).toHaveLength(2000)
    const [bad] = await search(new Uint8Array([0xe9, ...bytes(`${'x'.repeat(3000)}foo`)]), { pattern: 'foo' })
    expect(bad?.part).toEqual({ column: 2502, offset: undefined })
  })

  it('decodes UTF-16 by its mark, in chunks of every size, and no other encoding', async () => {
    const text = `\uFEFFone\r\n${'é'.repeat(9000)}\n\u0a0dnéedle\n`
    const little = new Uint8Array(Buffer.from(text, 'utf16le'))
    const big = new Uint8Array(Buffer.from(text, 'utf16le').swap16())
    for (const file of [little, big]) {
      for (const size of [1, 3, 8192, 100_000]) {
        const found: LineHit[] = []
        for await (const hit of createLineMatcher({ pattern: 'née' }).searchChunks(chunksOf(file, size)))
          found.push(hit)
        expect(found, `chunks of ${size}`).toEqual([{ line: 3, column: 2, text: '\u0a0dnéedle' }])
      }
    }
    const latin = new Uint8Array(Buffer.from('a\nGröße\n', 'latin1'))
    const told: string[] = []
    const onPartial = ({ message }: Error): number => told.push(message)
    for await (const hit of createLineMatcher({ pattern: 'ö' }).searchBytes(latin, { path: '/a', onPartial })) void hit
    for await (const hit of createLineMatcher({ pattern: 'Gr' }).searchBytes(latin, { path: '/b', onPartial })) void hit
    expect(told).toEqual([
      expect.stringContaining('`/a` is not UTF-8, so letters other than ASCII were not found in it'),
    ])
  })

  it('shows bytes that are not UTF-8 as U+FFFD, and takes no byte order mark for text', async () => {
    const latin = new Uint8Array([0x63, 0x61, 0x66, 0xe9, 0x0a, 0x78])
    expect(await search(latin, { pattern: 'caf' })).toEqual([{ line: 1, column: 1, text: 'caf\ufffd' }])
    expect(await search('\ufefffoo\n\ufefffoo', { pattern: '^foo', regex: true })).toEqual([
      { line: 1, column: 1, text: 'foo' },
    ])
  })

  it('leaves files out that have a NUL in their first 8,192 bytes, exactly', async () => {
    const file = (nul: number): Uint8Array => {
      const content = new Uint8Array(binarySniffBytes + 10).fill(0x61)
      content[nul] = 0
      return content
    }
    expect(await search(file(binarySniffBytes - 1), { pattern: 'a' })).toEqual([])
    expect(await search(file(binarySniffBytes), { pattern: 'a' })).toHaveLength(1)
    expect(await search(new Uint8Array([0x61, 0]), { pattern: 'a' })).toEqual([])
  })

  it('finds the same in chunks of every size', async () => {
    const text = `😀 first foo\r\n${'x'.repeat(9000)} foo\nno\nfoo é\r\nlast foo`
    const expected = await search(text, { pattern: 'foo' })
    expect(expected.map(({ line }) => line)).toEqual([1, 2, 4, 5])
    for (const size of [1, 2, 3, 7, 100, 8191, 8192, 8193, 100_000]) {
      const found: LineHit[] = []
      const options = { pattern: size % 2 === 0 ? 'foo' : 'fo+', regex: size % 2 === 1 }
      for await (const hit of createLineMatcher(options).searchChunks(chunksOf(bytes(text), size))) found.push(hit)
      expect(found, `chunks of ${size}`).toEqual(expected)
    }
  })

  it('holds no more than 1 MiB of one line, and goes on behind it', async () => {
    const long = `${'x'.repeat(maxLineBytes)}foo\nfoo\n`
    expect(await search(long, { pattern: 'foo' })).toEqual([{ line: 2, column: 1, text: 'foo' }])
    const told: string[] = []
    const onPartial = ({ message }: Error): number => told.push(message)
    const block = new Uint8Array(1024 * 1024).fill(0x78)
    async function* gigabyte(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < 64; at += 1) yield block
    }
    for await (const hit of createLineMatcher({ pattern: 'foo' }).searchChunks(gigabyte(), { path: '/a', onPartial }))
      void hit
    expect(told).toEqual([
      expect.stringMatching(/`\/a` has a line of more than 1 MiB \(line 1\), of which the rest was not searched/u),
    ])
  })

  it('ends the chunks when the loop is left', async () => {
    let ended = false
    async function* chunks(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield bytes('foo\n'.repeat(3000))
      } finally {
        ended = true
      }
    }
    for await (const hit of createLineMatcher({ pattern: 'foo' }).searchChunks(chunks())) if (hit.line === 5) break
    expect(ended).toBe(true)
  })

  it('matches in linear time', async () => {
    const started = performance.now()
    expect(await search(`${'a'.repeat(50_000)}c\n`, { pattern: '(a+)+b', regex: true })).toEqual([])
    expect(performance.now() - started).toBeLessThan(5000)
  })

  it.each([
    ['(ab', 'missing closing )'],
    ['(?=x)', '(at character 1)'],
    ['ab[z-a]', '(at character 4)'],
    ['a\\', 'at character 2'],
    ['\\1', 'invalid escape sequence'],
    ['\\pL{1000}', 'repeats too much'],
    ['((a{1,10}){1,10}){10}', 'repeats too much'],
    ['(a?){500}b', 'instructions'],
    ['\\pL'.repeat(17), 'classes'],
    ['(?i)[B-\\x{1E942}]', 'long ranges'],
    ['x'.repeat(1001), 'the limit is 1000'],
  ])('refuses the regular expression %s, and says why', (pattern, part) => {
    const error = caught(() => createLineMatcher({ pattern, regex: true }))
    expect(error).toMatchObject({ code: 'EINVAL', operation: 'search' })
    expect(error.message).toContain(part)
  })

  it.each([
    ['a line break', 'a\nb'],
    ['a lone surrogate', 'a\ud83d'],
    ['too much', 'x'.repeat(1001)],
  ])('refuses a pattern with %s', (_, pattern) => {
    expect(caught(() => createLineMatcher({ pattern }))).toMatchObject({ code: 'EINVAL' })
  })
})

function caught(run: () => unknown): WorkspaceError {
  try {
    run()
  } catch (error) {
    if (error instanceof WorkspaceError) return error
  }
  throw new Error('no WorkspaceError')
}
