import { describe, expect, it } from 'vitest'
import { createGlobFilter } from '../../src/adapter.ts'

const matches = (globs: string[], path: string): boolean => createGlobFilter(globs).matches(path)

describe('createGlobFilter', () => {
  it.each<[string[], string[], string[]]>([
    [[], ['a', '.b/c'], []],
    [['*.ts'], ['a.ts', 'src/deep/b.ts', '.ts', 'src/.hidden.ts'], ['a.tsx', 'x.ts/a']],
    [['src/*.ts'], ['src/a.ts', 'src/.a.ts'], ['a.ts', 'src/x/a.ts', 'other/src/a.ts']],
    [['/a.ts'], ['a.ts'], ['src/a.ts']],
    [['src/**'], ['src/a', 'src/b/c'], ['src', 'srcs/a']],
    [['src/'], ['src/a', 'src/b/c'], ['src', 'x/src/a']],
    [['**/test/*.ts'], ['test/a.ts', 'a/b/test/a.ts'], ['test/b/a.ts', 'latest/a.ts']],
    [['a/**/b'], ['a/b', 'a/x/b', 'a/x/y/b'], ['ab', 'a/xb']],
    [['{a,b{1,2}}.md'], ['a.md', 'b1.md', 'b2.md'], ['b.md', 'b12.md']],
    [['src/{x/y,z}/*'], ['src/x/y/f', 'src/z/f'], ['src/x/f']],
    [['[a-c]?.[!t]*'], ['ab.js', 'c1.x'], ['d1.js', 'a1.ts', 'a.js']],
    [
      ['[]x]', '[^]x]y'],
      [']', 'x', 'ay'],
      ['y', ']y'],
    ],
    [['*', '!*.log'], ['a'], ['a.log', 'x/b.log']],
    [['!node_modules'], ['src/a', 'node_modules2/a'], ['node_modules/a', 'x/node_modules/y/z', 'node_modules']],
    [['!src/gen'], ['gen/a', 'x/src/gen/a'], ['src/gen/a', 'src/gen']],
    [['!*.ts', '*.ts'], [], ['a.ts']],
  ])('%j', (globs, selected, others) => {
    for (const path of selected) expect(matches(globs, path), path).toBe(true)
    for (const path of others) expect(matches(globs, path), path).toBe(false)
  })

  it('[PC21] [PC22] takes everything else in a glob as data', () => {
    for (const name of [
      'a(1).txt',
      '"q"',
      "it's",
      'a|b',
      'a+b',
      '$(x)',
      '^',
      'a\nb',
      '-rf',
      'ü',
      '}',
      ']',
      'a,b',
      '😀',
    ]) {
      expect(matches([name], `dir/${name}`), name).toBe(true)
    }
    for (const name of ['[x]', '{a}', '*', '?', '\\', '!a']) {
      const escaped = name.replace(/[[\]{}*?\\!]/gu, '\\$&')
      expect(matches([escaped], name), name).toBe(true)
      expect(matches([escaped], 'x'), name).toBe(false)
    }
    expect(matches(['a(b)'], 'ab')).toBe(false)
    expect(matches(['?'], '😀')).toBe(true)
  })

  it('says which directories need not be entered', () => {
    const filter = createGlobFilter(['*.ts', '!node_modules', '!src/gen/**'])
    expect(filter.excludes('node_modules')).toBe(true)
    expect(filter.excludes('a/node_modules/b')).toBe(true)
    expect(filter.excludes('src/gen/x')).toBe(true)
    expect(filter.excludes('src')).toBe(false)
  })

  it('matches in linear time', () => {
    const started = performance.now()
    expect(matches([`${'*a'.repeat(30)}*b`], 'a'.repeat(255))).toBe(false)
    expect(matches([`${'**/a/'.repeat(20)}b`], 'a/'.repeat(100) + 'c')).toBe(false)
    expect(performance.now() - started).toBeLessThan(2000)
  })

  it.each(['', '!', '[a', '{a', 'a\\', '[z-a]', 'x'.repeat(1001)])('refuses %j', (glob) => {
    expect(() => createGlobFilter([glob])).toThrow(expect.objectContaining({ code: 'EINVAL', operation: 'search' }))
  })
})
