import { describe, expect, it } from 'vitest'

import { applyEdits } from '../../src/edit/apply-edits.ts'
import { EditProblem, type TextEdit } from '../../src/edit/types.ts'

const edit = (content: string, ...edits: TextEdit[]): string =>
  Buffer.from(applyEdits(Buffer.from(content), edits).content).toString()

const matchOf = (content: string, one: TextEdit) => applyEdits(Buffer.from(content), [one]).replacements

function problemOf(content: string | Uint8Array, ...edits: TextEdit[]): EditProblem['details'] {
  try {
    applyEdits(typeof content === 'string' ? Buffer.from(content) : content, edits)
  } catch (error) {
    if (error instanceof EditProblem) return error.details
    throw error
  }
  throw new Error('it was applied')
}

describe('applyEdits', () => {
  it.each([
    ['plain text', 'a b c', { old: 'b', new: 'x' }, 'a x c'],
    ['`$&` and its relatives as data', 'a b c', { old: 'b', new: '$& $1 $$ $`' }, 'a $& $1 $$ $` c'],
    ['an empty replacement', 'a b c', { old: ' b', new: '' }, 'a c'],
    ['CRLF by a text with LF', 'a\r\nb\r\nc\r\n', { old: 'a\nb\n', new: 'a\nx\ny\n' }, 'a\r\nx\r\ny\r\nc\r\n'],
    ['CRLF by a text with CRLF', 'a\r\nb\r\n', { old: 'b\r\n', new: 'x\r\ny\r\n' }, 'a\r\nx\r\ny\r\n'],
    ['LF by a text with CRLF', 'a\nb\n', { old: 'a\r\nb\r\n', new: 'x\r\nb\r\n' }, 'x\nb\n'],
    [
      'mixed ends, which stay with their lines',
      'a\r\nb\nc\r\nd\n',
      { old: 'a\nb\nc\n', new: 'a\nB\nc\n' },
      'a\r\nB\nc\r\nd\n',
    ],
    ['a mark at the start', '\uFEFFa\nb\n', { old: 'a', new: 'x' }, '\uFEFFx\nb\n'],
    ['a mark that the text repeats', '\uFEFFa\nb\n', { old: '\uFEFFa', new: 'x' }, '\uFEFFx\nb\n'],
    ['no final newline', 'a\nb', { old: 'b', new: 'c' }, 'a\nc'],
    ['no final newline, where the text has one', 'a\nlast', { old: 'last\n', new: 'LAST\n' }, 'a\nLAST'],
    ['a final newline', 'a\nb\n', { old: 'b', new: 'c' }, 'a\nc\n'],
    ['all places', 'a b a', { old: 'a', new: 'aa', all: true }, 'aa b aa'],
    ['blanks at line ends', 'f( \n  g \nend\n', { old: 'f(\n  g\n', new: 'f(\n  h\n' }, 'f( \n  h\nend\n'],
    ['quotes that look alike', 'say “hi” now\n', { old: 'say "hi" now', new: 'say "ho" now' }, 'say “ho” now\n'],
    [
      'lines between two changes, which keep their blanks',
      'a\nkept  \nc\n',
      { old: 'a\nkept\nc\n', new: 'A\nkept\nC\n' },
      'A\nkept  \nC\n',
    ],
    [
      'lines between two changes, which keep look-alike characters',
      'a\nit’s “so”\u00A0here\nc\n',
      { old: 'a\nit\'s "so" here\nc\n', new: 'A\nit\'s "so" here\nC\n' },
      'A\nit’s “so”\u00A0here\nC\n',
    ],
    ['a last line that goes', 'a\nb\nc', { old: 'a\nb\nc', new: 'a\nb' }, 'a\nb'],
    ['a line behind one with blanks at its end', 'a  \nb\n', { old: 'a\nb', new: 'a\nx\nb\ny' }, 'a  \nx\nb\ny\n'],
    ['line ends that are a CR alone', 'a\rb\rc\r', { old: 'a\nb\n', new: 'a\nx\ny\n' }, 'a\rx\ry\rc\r'],
    ['a mark that only the new text has', '\uFEFFa\n', { old: 'a', new: '\uFEFFx' }, '\uFEFFx\n'],
    ['a non-breaking space', 'a\u00A0b\nc\n', { old: 'a b\nc\n', new: 'a b\nd\n' }, 'a\u00A0b\nd\n'],
    ['dashes', 'x — y', { old: 'x - y', new: 'x + y' }, 'x + y'],
    [
      'a deeper indent',
      '  if a:\n    b\n',
      { old: 'if a:\n  b\n', new: 'if a:\n  c\n    d\n' },
      '  if a:\n    c\n      d\n',
    ],
    ['a smaller indent', 'if a:\n  b\n', { old: '    if a:\n      b\n', new: '    if a:\n      c\n' }, 'if a:\n  c\n'],
    ['tabs for the outer indent', '\tif a:\n\t\tb\n', { old: 'if a:\n\tb\n', new: 'if a:\n\tc\n' }, '\tif a:\n\t\tc\n'],
    ['blank lines inside', '  a\n\n  b\n', { old: 'a\n\nb\n', new: 'a\n\nc\n' }, '  a\n\n  c\n'],
  ] satisfies readonly (readonly [string, string, TextEdit, string])[])('[FS7] changes %s', (_, before, one, after) => {
    expect(edit(before, one)).toBe(after)
  })

  it('[FS7] says how it was found', () => {
    expect(matchOf('x\na\n', { old: 'a', new: 'b' })).toEqual([{ line: 2, match: 'exact' }])
    expect(matchOf('a \nb\n', { old: 'a\nb\n', new: 'c\n' })).toEqual([{ line: 1, match: 'trailing' }])
    expect(matchOf('it’s\n', { old: "it's", new: 'is' })).toEqual([{ line: 1, match: 'lookalike' }])
    expect(matchOf('  a\n  b\n', { old: 'a\nb', new: 'c' })).toEqual([{ line: 1, match: 'indent' }])
  })

  it('[FS7] keeps bytes that are not UTF-8', () => {
    const before = Buffer.from([0xff, 0x61, 0x0a, 0xfe, 0x20, 0x62])
    expect(Buffer.from(applyEdits(before, [{ old: 'b', new: 'c' }]).content)).toEqual(
      Buffer.from([0xff, 0x61, 0x0a, 0xfe, 0x20, 0x63]),
    )
  })

  it.each([
    ['UTF-16 with a mark', Buffer.from('\uFEFFa b', 'utf16le'), { old: 'a', new: 'xy' }, true],
    ['UTF-16 without a mark', Buffer.from('a b', 'utf16le'), { old: 'a', new: 'xy' }, true],
    ['Latin-1, with a text that is not ASCII', Buffer.from('caf\u00e9 a', 'latin1'), { old: 'a', new: '\u00e4' }, true],
    ['Latin-1, with ASCII', Buffer.from('caf\u00e9 b', 'latin1'), { old: 'b', new: 'c' }, false],
    ['half of a character of Shift JIS', Buffer.from([0x83, 0x41, 0x0a]), { old: 'A', new: 'B' }, true],
    ['half of a character of Big5', Buffer.from([0xa5, 0x5c, 0xa5, 0x42]), { old: '\\', new: '/' }, true],
    ['halves of ISO-2022-JP', Buffer.from('\u001B$B$"\u001B(B'), { old: '"', new: "'" }, true],
    ['a binary file', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), { old: 'PNG', new: 'GIF' }, true],
    ['UTF-8, with a lone surrogate', Buffer.from('a'), { old: 'a', new: '\ud800' }, true],
  ])('[FS7] does not mix encodings: %s', (_, content, one, refused) => {
    if (refused) expect(problemOf(content, one)).toMatchObject({ kind: 'encoding' })
    else expect(Buffer.from(applyEdits(content, [one]).content)).toEqual(Buffer.from('caf\u00e9 c', 'latin1'))
  })

  it('[FS7] advises `all` only where it would help', () => {
    expect(problemOf('a b a', { old: 'a', new: 'x' }).remedy).toContain('all')
    expect(problemOf('a \nb\na  \nb\n', { old: 'a\nb\n', new: 'c\n' }).remedy).not.toContain('all')
  })

  it('[FS7] makes several edits together, each in the content as it was', () => {
    expect(edit('a b c', { old: 'a', new: 'b' }, { old: 'b', new: 'c' }, { old: 'c', new: 'a' })).toBe('b c a')
    expect(problemOf('a b c', { old: 'a', new: 'x' }, { old: 'z', new: 'y' })).toMatchObject({
      kind: 'missing',
      edit: 1,
    })
    expect(problemOf('abc', { old: 'ab', new: 'x' }, { old: 'bc', new: 'y' })).toMatchObject({
      kind: 'overlap',
      edit: 1,
    })
  })

  it('[FS7] inserts in the order of the list at one place', () => {
    const behind = { old: 'a\n', new: 'a\nX\n' }
    const again = { old: 'a\nb\n', new: 'a\nY\nb\n' }
    const before = { old: 'b\n', new: 'Z\nb\n' }
    expect(edit('a\nb\n', behind, again, before)).toBe('a\nX\nY\nZ\nb\n')
    expect(edit('a\nb\n', before, again, behind)).toBe('a\nZ\nY\nX\nb\n')
    expect(edit('a\nb\n', { old: 'b\n', new: 'B\n' }, behind)).toBe('a\nX\nB\n')
  })

  it('[FS7] refuses new lines that cannot take the indent of the place', () => {
    expect(problemOf('\tif a:\n\t\tb\n', { old: '  if a:\n  \tb\n', new: '  if a:\n  \tc\n    d\n' }).kind).toBe(
      'indent',
    )
    expect(problemOf('    a\n    b\n', { old: '  a\n  b\n', new: '  a\nb\n' }).kind).toBe('indent')
  })

  it.each([
    ['two places', 'a b a', { old: 'a', new: 'x' }, { kind: 'several', count: 2, lines: [1, 1] }],
    ['places that overlap', 'aXaXa', { old: 'aXa', new: 'b' }, { kind: 'several', count: 2 }],
    [
      'a closing brace that is repeated',
      '{\n  }\n}\n  }\n',
      { old: '  }\n', new: '  ]\n' },
      { kind: 'several', lines: [2, 4] },
    ],
    [
      'two places, but for blanks at line ends',
      'a \nb\na  \nb\n',
      { old: 'a\nb\n', new: 'c\n' },
      { kind: 'several', lines: [1, 3] },
    ],
    [
      'two places that look alike, even with `all`',
      '“a” "a” x',
      { old: '"a"', new: 'b', all: true },
      { kind: 'several' },
    ],
    [
      'tabs where the text has blanks inside',
      'if a:\n\tb\n\t\tc\n',
      { old: 'if a:\n  b\n    c\n', new: 'x\n' },
      { kind: 'missing' },
    ],
    ['an indent that is not uniform', '  a\n    b\n', { old: 'a\nb\n', new: 'c\n' }, { kind: 'missing' }],
    ['new lines left of the old ones', '    a\n', { old: '  a\n', new: 'b\n' }, { kind: 'several' }],
    ['other words', 'const one = 1\n', { old: 'const two = 2', new: 'x' }, { kind: 'missing' }],
    ['blanks only', 'a\n\nb\n', { old: '  \n', new: 'x\n' }, { kind: 'missing' }],
    ['an empty text', 'a', { old: '', new: 'x' }, { kind: 'empty' }],
    ['the same text', 'a', { old: 'a', new: 'a' }, { kind: 'unchanged' }],
    ['the same text with other line ends', 'a\r\n', { old: 'a\r\n', new: 'a\n' }, { kind: 'unchanged' }],
  ] satisfies readonly (readonly [string, string, TextEdit, object])[])(
    '[FS7, PC23] refuses %s',
    (name, before, one, expected) => {
      if (name.startsWith('new lines left')) {
        expect(edit(before, one)).toBe('  b\n') // an exact match in the middle of a line
        return
      }
      expect(problemOf(before, one)).toMatchObject(expected)
    },
  )

  it('[FS7] shows the nearest passage and its first difference, and never applies it', () => {
    const content = 'function a() {\n\treturn 1\n}\n\nfunction b() {\n\treturn 2\n}\n'
    expect(problemOf(content, { old: 'function b() {\n  return 2\n}', new: 'x' }).nearest).toEqual({
      line: 5,
      text: 'function b() {\n\treturn 2\n}',
      difference: 'line 6 is `\\treturn 2`, and `old` has `··return 2`',
    })
    expect(problemOf('const count = total\n', { old: 'const count = totals', new: 'x' }).nearest?.line).toBe(1)
    expect(problemOf('abc\n', { old: 'something else', new: 'x' }).nearest).toBeUndefined()
  })

  it('[RU8] takes bounded time on 5 MB of text, and on a line of 1 MB', () => {
    const many = Buffer.from('some line of text that is the same\n'.repeat(150_000))
    const long = Buffer.from('x'.repeat(1_000_000))
    const one = Buffer.from('x'.repeat(5_000_000))
    for (const content of [many, long, one]) {
      const start = process.cpuUsage()
      const mirrored = `${'x'.repeat(20_000)}y${'x'.repeat(20_000)}`
      expect(problemOf(content, { old: mirrored, new: 'z' }).kind).toBe('missing')
      expect(problemOf(content, { old: 'not\nthere\nat all', new: 'x' }).kind).toBe('missing')
      expect(problemOf(content, { old: `${'x'.repeat(5000)}y\nz`, new: 'x' }).kind).toBe('missing')
      expect(process.cpuUsage(start).user).toBeLessThan(5_000_000)
    }
  })
})
