import { component, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { drawArithmetic, drawDeclaration } from './generated/arithmetic.ts'
import { compare } from './generated/compare.ts'
import { drawGlobCase, globFiles } from './generated/globs.ts'
import { drawPatternCase } from './generated/patterns.ts'
import { Random } from './generated/random.ts'
import { drawHereDocument, drawLoop, drawParameter, drawPrintf, drawRead } from './generated/shell.ts'
import { drawStreams } from './generated/streams.ts'

interface Kind {
  readonly title: string
  readonly draw: (random: Random) => string
  /** The number of cases of the short tier. */
  readonly few: number
  /** The number of cases of the deep tier. */
  readonly many: number
  /** The share that may be refused. */
  readonly most: number
  readonly names?: readonly string[]
}

const kinds: readonly Kind[] = [
  { title: 'patterns', draw: drawPatternCase, few: 500, many: 50_000, most: 0.08 },
  { title: 'words and names of files', draw: drawGlobCase, few: 40, many: 10_000, most: 0.06, names: globFiles },
  { title: 'arithmetic', draw: drawArithmetic, few: 30, many: 5_000, most: 0.08 },
  { title: 'declarations', draw: drawDeclaration, few: 30, many: 5_000, most: 0.16 },
  { title: 'printf', draw: drawPrintf, few: 30, many: 5_000, most: 0.25 },
  { title: 'parameters', draw: drawParameter, few: 30, many: 5_000, most: 0.14 },
  { title: 'read and IFS', draw: drawRead, few: 30, many: 5_000, most: 0.04 },
  { title: 'here-documents', draw: drawHereDocument, few: 30, many: 5_000, most: 0.02 },
  { title: 'loops', draw: drawLoop, few: 30, many: 5_000, most: 0.02 },
  { title: 'both outputs', draw: drawStreams, few: 30, many: 5_000, most: 0.06 },
]
/** Cases in one bash. */
const part = 2_000
/** Cases in one test, each with a seed of its own: more would not end in time on a slow machine. */
const atOnce = 10_000
const parts = kinds.flatMap((kind) =>
  Array.from({ length: Math.ceil(kind.many / atOnce) }, (_, index) => ({
    ...kind,
    many: Math.min(kind.many, atOnce),
    seed: index + 2,
  })),
)

describeWith(component('bash'), 'generated scripts', () => {
  it.each(kinds)('[EX1] $title are as in bash, or refused', { timeout: 120_000 }, async (kind) => {
    // A small draw may hold some more.
    await run(new Random(1), kind, kind.few, kind.most + 0.1)
  })

  it.each(parts)(
    '[EX1] many $title are as in bash, or refused: seed $seed',
    { tags: ['deep'], timeout: 1_800_000 },
    async (kind) => {
      const random = new Random(kind.seed)
      for (let left = kind.many; left > 0; left -= part) await run(random, kind, Math.min(left, part), kind.most)
    },
  )
})

async function run(random: Random, { draw, names }: Kind, count: number, most: number): Promise<void> {
  const cases = Array.from({ length: count }, () => draw(random))
  const { count: readable, refused, differing } = await compare(cases, names)
  expect(differing.join('\n')).toBe('')
  expect(readable).toBeGreaterThan(count * 0.9)
  expect(refused.length).toBeLessThanOrEqual(count * most)
}
