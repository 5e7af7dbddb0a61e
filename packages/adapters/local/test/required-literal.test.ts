import { isWorkspaceError } from '@ws/core'
import { deep } from '@ws/test-fixtures'
import { createLineMatcher } from '@ws/text-search'
import { describe, expect, it } from 'vitest'

import { requiredLiteral } from '../src/search/required-literal.ts'

const seed = Number(process.env['WS_SEED'] ?? (deep ? Math.floor(Math.random() * 2 ** 31) : 1))

/** A part of an expression, and a text that it matches. */
type Part = readonly [expression: string, text: string]

function drawer(start: number) {
  let state = start
  let names = 0
  const draw = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
  const pick = <Item>(items: readonly Item[]): Item => items[draw(items.length)] as Item
  const letter = (): string => pick(['a', 'b', 'k', 'S', '_', '7', 'é', '🙂', '-', ' ', '"'])
  const atom = (depth: number): Part => {
    const kind = draw(depth > 2 ? 8 : 10)
    const one = letter()
    if (kind < 3) return [one, one]
    if (kind === 3)
      return pick<Part>([
        ['\\.', '.'],
        ['\\(', '('],
        ['\\\\', '\\'],
        ['\\]', ']'],
        ['\\{', '{'],
        [']', ']'],
      ])
    const isRare = draw(12) === 0
    if (kind === 4)
      return pick<Part>(
        isRare
          ? [
              ['\\x61', 'a'],
              ['\\p{L}', 'b'],
            ]
          : [
              ['.', one],
              ['\\d', '4'],
              ['\\w', 'b'],
              ['\\s', ' '],
            ],
      )
    if (kind === 5)
      return pick<Part>([
        ['[ab]', 'b'],
        ['[^x]', one],
        ['[]a]', ']'],
        ['[[:alpha:]b]', 'a'],
        ['[\\]a-]', '-'],
        ['[a|(]', '|'],
      ])
    if (kind === 6)
      return pick<Part>(
        isRare
          ? [
              ['\\Qa.\\E', 'a.'],
              ['(?i)k', 'K'],
            ]
          : [
              ['\\b', ''],
              ['(?:)', ''],
              ['(?i:S)', 's'],
            ],
      )
    if (kind === 7) return [`${one}{2}`, one + one]
    const [inner, text] = sequence(depth + 1)
    const open = isRare ? '(?i:' : pick(['(', '(?:', `(?P<n${(names += 1)}>`])
    return kind === 8 ? [`${open}${inner})`, text] : [`${open}${sequence(depth + 1)[0]}|${inner})`, text]
  }
  const repeated = (depth: number): Part => {
    const [expression, text] = atom(depth)
    if (/^\\b$|^\(\?i\)|\{2\}$|\\Q/.test(expression)) return [expression, text]
    return pick<() => Part>([
      ...Array.from({ length: 6 }, () => (): Part => [expression, text]),
      () => [`${expression}*`, pick(['', text, text + text])],
      () => [`${expression}?`, pick(['', text])],
      () => [`${expression}+?`, pick([text, text + text])],
      () => [`${expression}{0,2}`, pick(['', text])],
      () => [`${expression}{1,}`, text],
    ])()
  }
  const sequence = (depth: number): Part => {
    const parts = Array.from({ length: depth === 0 ? 3 + draw(6) : 1 + draw(3) }, () => repeated(depth))
    return [parts.map(([expression]) => expression).join(''), parts.map(([, text]) => text).join('')]
  }
  const whole = (): Part => {
    const [expression, text] = sequence(0)
    return draw(8) === 0 ? [`${sequence(0)[0]}|${expression}`, text] : [expression, text]
  }
  return { whole, draw, letter }
}

/** None for an expression that is refused. */
async function* hits(query: Parameters<typeof createLineMatcher>[0], line: string) {
  try {
    yield* createLineMatcher(query).searchBytes(Buffer.from(line))
  } catch (error) {
    if (!isWorkspaceError(error, 'EINVAL')) throw error
  }
}

describe('the text that each match of an expression contains', () => {
  it.each([
    ['createWorkspace\\(', 'createWorkspace('],
    ['import .* from', 'import '],
    ['^export (?:const|function) \\w+Options', 'export '],
    ['a+bc', 'bc'],
    ['abc?de', 'ab'],
    ['TODO|FIXME', undefined],
    ['(?i)todo', undefined],
    ['\\w+foo?', 'fo'],
    ['[0-9]+', undefined],
    ['x{2}y', undefined],
    ['\\Qab\\E', undefined],
    ['ab{,3}', undefined],
  ])('of %s is %s', (pattern, literal) => {
    expect(requiredLiteral(pattern)).toBe(literal)
  })

  it(`[PC22] is in every match of any expression (WS_SEED=${seed})`, { tags: 'rounds', timeout: 900_000 }, async () => {
    const { whole, draw, letter } = drawer(seed)
    let known = 0
    let found = 0
    for (let round = 0; round < (deep ? 100_000 : 1_500); round += 1) {
      const [pattern, text] = whole()
      const literal = requiredLiteral(pattern)
      if (literal === undefined) continue
      known += 1
      for (const caseSensitive of [true, false]) {
        const line = `${letter()}${caseSensitive || draw(2) === 0 ? text : text.toUpperCase()}${letter()}`
        for await (const _ of hits({ pattern, regex: true, caseSensitive }, line)) {
          found += 1
          const fold = (value: string) => (caseSensitive ? value : value.toLowerCase())
          expect(fold(line), `seed ${seed}, round ${round}: ${pattern}`).toContain(fold(literal))
        }
      }
    }
    expect(known).toBeGreaterThan(100)
    expect(found).toBeGreaterThan(100)
  })
})
