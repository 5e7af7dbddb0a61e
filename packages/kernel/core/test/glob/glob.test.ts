import { describe, expect, it } from 'vitest'
import { namesOf } from '../../src/glob/names.ts'
import { compileGlob, isWorkspaceError } from '../../src/index.ts'
import { NameSet } from '../../src/policy/name-set.ts'

describe('[RU4] a glob', () => {
  it.each<[glob: string, matching: string[], others: string[]]>([
    ['*.pem', ['/x.pem', '/.pem', '/.ssh/x.pem', '/a/b/.c.pem'], ['/x.pem/a', '/x.pems', '/X.PEM']],
    ['id_rsa', ['/id_rsa', '/.ssh/id_rsa'], ['/id_rsa.pub', '/id_rsa/a', '/xid_rsa']],
    ['**/.env*', ['/.env', '/.config/.env', '/a/.env.local'], ['/env', '/a.env']],
    ['secret/**', ['/secret/.a', '/b/secret/.a', '/b/secret/c/.d'], ['/secret', '/b/secret', '/secrets/a']],
    ['secret/', ['/secret/a', '/b/secret/c/d'], ['/secret']],
    ['/*.ts', ['/a.ts', '/.ts'], ['/a/b.ts', '/a.tsx']],
    ['/a/**/b', ['/a/b', '/a/x/b', '/a/.x/y/b'], ['/ab', '/a/xb', '/x/a/b', '/a']],
    ['/**', ['/a', '/.a/b'], ['/']],
    ['/', ['/a', '/.a/b'], ['/']],
    ['a**b', ['/ab', '/a/axxb'], ['/a/b']],
    ['/a/**/**/b/**', ['/a/b/c', '/a/x/b/c/d', '/a/b/b'], ['/a/b', '/b/c']],
    ['?.x', ['/a.x', '/😀.x', '/..x'], ['/ab.x', '/.x']],
    ['[a-c]?.[!t]*', ['/ab.js', '/c1.x'], ['/d1.js', '/a1.ts', '/a.js']],
    ['[^]x]y', ['/ay'], ['/]y', '/xy']],
    ['[]x]', ['/]', '/x'], ['/y']],
    ['[a\\-c]', ['/a', '/-', '/c'], ['/b']],
    ['[-a]', ['/-', '/a'], ['/b']],
    ['*[!😀]', ['/a😀b'], ['/😀', '/a😀']],
    ['{a,b{1,2}}.md', ['/a.md', '/x/b1.md', '/b2.md'], ['/b.md', '/b12.md']],
    ['/src/{x/y,z}/*', ['/src/x/y/f', '/src/z/f'], ['/src/x/f', '/a/src/z/f']],
    ['{/a,b}', ['/a', '/b', '/x/b'], ['/x/a']],
    ['{**,x}/a', ['/a', '/x/a', '/y/a'], ['/b']],
    ['a{,.bak}', ['/a', '/a.bak'], ['/a.']],
    ['a[,{]b', ['/a,b', '/a{b'], ['/ab']],
    ['\\!a\\*\\{\\\\', ['/!a*{\\'], ['/!ab{\\']],
    ['a,b}(c)|+^$', ['/a,b}(c)|+^$'], ['/a']],
    ['@(a|b)', ['/@(a|b)'], ['/a', '/b']],
    ['a\nb', ['/a\nb'], ['/a']],
    ['*', ['/\n', '/a/\u2028'], ['/']],
  ])('%j matches what it says', (glob, matching, others) => {
    const { matches } = compileGlob(glob)
    for (const path of matching) expect(matches(path), path).toBe(true)
    for (const path of others) expect(matches(path), path).toBe(false)
  })

  it.each<[glob: string, matching: string[], others: string[]]>([
    ['*.pem', ['/X.PEM', '/.ssh/x.Pem'], ['/x.pe']],
    ['ID_rsa', ['/id_RSA'], ['/id_rs']],
    ['/[A-C][x-z]', ['/aX', '/Bz'], ['/dx', '/ba']],
    ['[!a]', ['/b'], ['/a', '/A']],
    ['Straße?', ['/STRASSEN', '/straßen', '/Strassex'], ['/strase']],
    ['x?.pem', ['/Xß.PEM', '/xÉ.pem', '/xe\u0301.pem'], ['/xab.pem']],
    ['[ß]', ['/ß', '/ẞ'], ['/s']],
    ['caf\u00e9*', ['/CAFE\u0301s', '/CAF\u00c9'], ['/cafe']],
    ['ΟΔΟΣ*', ['/οδος', '/ΟΔΟΣx', '/οδοσX'], ['/οδο']],
    ['[\u212a]', ['/k', '/K'], ['/l']],
  ])('%j with foldCase matches what a case-insensitive file system takes for the same', (glob, matching, others) => {
    const { matches } = compileGlob(glob, { foldCase: true })
    for (const path of matching) expect(matches(path), path).toBe(true)
    for (const path of others) expect(matches(path), path).toBe(false)
  })

  it.each<[glob: string, below: string[], nothingBelow: string[]]>([
    ['*.pem', ['/', '/a', '/a/b'], []],
    ['/a/*.pem', ['/', '/a'], ['/b', '/a/c', '/a/x.pem']],
    ['/a/**', ['/', '/a', '/a/c'], ['/b', '/ab']],
    ['/{a,b/c}/*.x', ['/', '/a', '/b', '/b/c'], ['/c', '/b/d']],
    ['/a/**/b/c', ['/a/x', '/a/b', '/a/b/c'], ['/b']],
  ])('%j says below which directories it may match', (glob, below, nothingBelow) => {
    const { mayMatchBelow } = compileGlob(glob)
    for (const path of below) expect(mayMatchBelow(path), path).toBe(true)
    for (const path of nothingBelow) expect(mayMatchBelow(path), path).toBe(false)
  })

  it.each([
    ['', 'is empty'],
    ['!a', 'begins with `!`'],
    ['[a', '`[` that is not closed'],
    ['[a/b]', '`[` that is not closed'],
    ['[', '`[` that is not closed'],
    ['[]', '`[` that is not closed'],
    ['{a', '`{` that is not closed'],
    ['{a,{b}', 'braces without a comma'],
    ['{}', 'braces without a comma'],
    ['{1..3}', 'braces without a comma'],
    ['{a,}', 'empty glob'],
    ['a\\', 'ends in `\\`'],
    ['[z-a]', 'ends before it begins'],
    ['[[:alpha:]]', '`[:alpha:]`'],
    ['a//b', 'an empty name'],
    ['./a', '`.`'],
    ['/a/../b', '`..`'],
    ['a\0', 'NUL'],
    ['a\ud800', 'surrogate'],
    ['x'.repeat(1001), 'the limit is 1000'],
    ['{a,b}'.repeat(9), 'more than 256 globs'],
    [`{${'a,'.repeat(100)}b}${'x'.repeat(100)}`, 'longer than 4000 characters'],
    [`{${Array.from({ length: 180 }, (_, n) => n.toString(36)).join('*?,')}}/**/x`, 'over 300 wildcards'],
    [`${'{a,'.repeat(9)}b${'}'.repeat(9)}`, 'more than 8 deep'],
  ])('%j is EINVAL, with a remedy', (glob, reason) => {
    const error = caught(() => compileGlob(glob, { operation: 'search' }))
    expect(error).toMatchObject({ code: 'EINVAL', operation: 'search', reason: expect.stringContaining(reason) })
    expect(error).toHaveProperty('remedy', expect.stringMatching(/./))
  })

  it('[RU7] that is not a string is EINVAL', () => {
    for (const glob of [undefined, null, 7, ['*']]) {
      expect(
        isWorkspaceError(
          caught(() => compileGlob(glob as never)),
          'EINVAL',
        ),
      ).toBe(true)
    }
  })
})

function caught(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

it('[RU7] an option that went is refused with what to do', () => {
  expect(() => compileGlob('a', { topDown: true } as never)).toThrow(
    'EINVAL: compileGlob: the glob `a` has the removed option `topDown`; leave it out',
  )
})

it('[RU4] a glob for callers from the top down matches the highest paths that the same glob matches otherwise', () => {
  const paths = ['/', '/a', '/a/x', '/a/x/y', '/b/a', '/b/a/x', '/b/a/x/a', '/b/a/x/a/y', '/c/b/x']
  for (const glob of ['a/**', '/a/', '/**', '**', 'a/**/y', '{a,b}/**', 'x', 'b/**/x/**']) {
    const all = paths.filter(compileGlob(glob).matches)
    const highest = all.filter((path) => !all.some((above) => path !== above && path.startsWith(`${above}/`)))
    const set = new NameSet([glob], true)
    const matches = (path: string): boolean => {
      const names = namesOf(path, true)
      const last = names.pop()
      const above = names.reduce((directory, name) => set.enter(directory, name), set.start)
      return last !== undefined && set.match(above, last) !== undefined
    }
    const asked = paths.filter((path) => !highest.some((above) => path !== above && path.startsWith(`${above}/`)))
    expect(asked.filter(matches), glob).toEqual(highest)
  }
})
