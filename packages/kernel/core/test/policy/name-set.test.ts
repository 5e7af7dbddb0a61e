/** @module-tag rounds */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { propertyRounds } from '@ws/test-fixtures'
import { compileGlob } from '../../src/glob/glob.ts'
import { nameOf } from '../../src/glob/names.ts'
import { NameSet } from '../../src/policy/name-set.ts'
import { protectHooks, protectSecrets } from '../../src/policy/protect.ts'

const names = ['a', 'B', '.a', 'a.b', 'ß', 'SS', 'ſ', 'S', 'K', 'k', 'é', 'e\u0301', 'ab', '*', 'x*', '?', '[ab]', '**']
const parts = fc.constantFrom(...names, '{a,b}', '{a,.a}.b', 'A*', '*B', 'a*b', '.?', '\\a', 'a[.]B', 's*', '*K')
const patterns = fc
  .tuple(fc.boolean(), fc.array(parts, { minLength: 1, maxLength: 3 }), fc.constantFrom('', '', '', '/'))
  .map(([whole, list, end]) => (whole ? '/' : '') + list.join('/') + end)
const paths = fc
  .array(fc.constantFrom(...names.filter((name) => !/[*?[]/.test(name))), { minLength: 1, maxLength: 4 })
  .map((list) => `/${list.join('/')}`)

describe('globs that are asked together', () => {
  it('[RU4] match as each of them by itself', () => {
    fc.assert(
      fc.property(fc.array(patterns, { minLength: 1, maxLength: 4 }), paths, (list, path) => {
        const each = list.some((pattern) => compileGlob(pattern, { foldCase: true }).matches(path))
        const set = new NameSet(list)
        expect(find(set, path) !== undefined).toBe(each)
        if (each) expect(set.mayMatchName(path.slice(path.lastIndexOf('/') + 1))).toBe(true)
      }),
      { ...propertyRounds({ quick: 1000, seconds: 5 }) },
    )
  })

  it('[RU4] take no longer for the sets of names than listing many entries does', () => {
    const sets = [protectSecrets(), protectHooks()].map(({ patterns: list }) => new NameSet(list))
    const start = process.threadCpuUsage()
    for (let index = 0; index < 20_000; index += 1) {
      for (const set of sets) expect(find(set, `/src/deep/directory/file-${index}.ts`)).toBeUndefined()
    }
    const { user, system } = process.threadCpuUsage(start)
    expect((user + system) / 1000).toBeLessThan(4000)
  })
})

function find(set: NameSet, path: string): string | undefined {
  const names = path
    .split('/')
    .slice(1)
    .map((name) => nameOf(name, true))
  const above = names.slice(0, -1).reduce((directory, name) => set.enter(directory, name), set.start)
  return set.match(above, names.at(-1) ?? nameOf('', true))
}
