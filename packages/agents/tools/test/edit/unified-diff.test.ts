import { describe, expect, it } from 'vitest'

import { unifiedDiff } from '../../src/edit/unified-diff.ts'

const diff = (before: string, after: string, maxLength?: number): string =>
  unifiedDiff(Buffer.from(before), Buffer.from(after), { path: '/a', maxLength })
const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`)

describe('unifiedDiff', () => {
  it('shows a change with three lines around it, and its place in the file', () => {
    const lines = numbered(100)
    const after = lines.with(49, 'new\n').join('')
    expect(diff(lines.join(''), after)).toBe(
      [
        '--- /a',
        '+++ /a',
        '@@ -47,7 +47,7 @@',
        ...[' line 47', ' line 48', ' line 49', '-line 50', '+new', ' line 51', ' line 52', ' line 53', ''],
      ].join('\n'),
    )
  })

  it.each([
    ['at the start', 'a\nb\n', 'x\nb\n', '@@ -1,2 +1,2 @@'],
    ['at the end, without a final newline', 'a\nb', 'a\nc', '\\ No newline at end of file'],
    ['of an empty file', '', 'a\n', '@@ -0,0 +1,1 @@'],
    ['that empties a file', 'a\n', '', '-a'],
  ])('shows a change %s', (_, before, after, expected) => {
    expect(diff(before, after)).toContain(expected)
  })

  it('is cut, and sums up a change that is too large', () => {
    const lines = numbered(2000)
    expect(diff(lines.join(''), lines.map((line) => `x${line}`).join(''), 500)).toMatch(
      /cut: the change begins in line 1\n$|too large/,
    )
    const large = 'a\n'.repeat(1_000_000)
    expect(diff(large, large.replaceAll('a', 'b'))).toBe('the change begins in line 1; it is too large to show\n')
  })
})
