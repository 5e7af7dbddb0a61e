import { component, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { compare } from './generated/compare.ts'
import { drawPatternCase } from './generated/patterns.ts'
import { Random } from './generated/random.ts'
import { drawArithmetic, drawHereDocument, drawLoop, drawParameter, drawPrintf, drawRead } from './generated/shell.ts'

/** The number of cases of the short tier and of the deep one, and the share that may be refused. */
const kinds = [
  { title: 'patterns', draw: drawPatternCase, few: 500, many: 50_000, most: 0.08 },
  { title: 'arithmetic', draw: drawArithmetic, few: 30, many: 5_000, most: 0.08 },
  { title: 'printf', draw: drawPrintf, few: 30, many: 5_000, most: 0.25 },
  { title: 'parameters', draw: drawParameter, few: 30, many: 5_000, most: 0.14 },
  { title: 'read and IFS', draw: drawRead, few: 30, many: 5_000, most: 0.04 },
  { title: 'here-documents', draw: drawHereDocument, few: 30, many: 5_000, most: 0.02 },
  { title: 'loops', draw: drawLoop, few: 30, many: 5_000, most: 0.02 },
]
/** Cases in one bash. */
const part = 2_000

describeWith(component('bash'), 'generated scripts', () => {
  it.each(kinds)('[EX1] $title are as in bash, or refused', { timeout: 120_000 }, async ({ draw, few, most }) => {
    // A small draw may hold some more.
    await run(new Random(1), draw, few, most + 0.1)
  })

  it.each(kinds)(
    '[EX1] many $title are as in bash, or refused',
    { tags: ['deep'], timeout: 1_800_000 },
    async ({ draw, many, most }) => {
      const random = new Random(2)
      for (let left = many; left > 0; left -= part) await run(random, draw, Math.min(left, part), most)
    },
  )
})

async function run(random: Random, draw: (random: Random) => string, count: number, most: number): Promise<void> {
  const cases = Array.from({ length: count }, () => draw(random))
  const { count: readable, refused, differing } = await compare(cases)
  expect(differing.join('\n')).toBe('')
  expect(readable).toBeGreaterThan(count * 0.9)
  expect(refused.length).toBeLessThanOrEqual(count * most)
}
