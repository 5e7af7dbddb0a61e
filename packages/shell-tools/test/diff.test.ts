import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createScratchDirectory, rounds } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { changesOf } from '../src/tools/diff/compare.ts'
import { normal, unified } from '../src/tools/diff/format.ts'

/** A repeatable generator of numbers from 0 to below `most`. */
function numbers(seed: number): (most: number) => number {
  let state = seed
  return (most) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return Math.floor(state / 65_536) % most
  }
}

it('[EX1] never shows a difference other than the real one', { tags: ['rounds'] }, async () => {
  await using scratch = await createScratchDirectory()
  const next = numbers(41)
  let [count, shown] = [0, 0]
  for (const round of rounds({ quick: 40, seconds: 5 })) {
    count++
    const letters = 'abcdefghijklmnop'.slice(0, 2 + next(14))
    const line = () => `${letters[next(letters.length)]}\n`
    const a = Array.from({ length: next(round % 3 === 0 ? 60 : 14) }, line)
    const b = a.filter(() => next(5) > 0).flatMap((kept) => (next(6) > 0 ? [kept] : [kept, line()]))
    if (next(4) === 0) b.push('open')
    writeFileSync(join(scratch.path, 'a'), a.join(''))
    writeFileSync(join(scratch.path, 'b'), b.join(''))
    const changes = changesOf(a, b)
    if (changes === undefined) continue
    shown++
    const context = next(4)
    const options = next(2) === 0 ? [] : [`-U${context}`, '--label=a', '--label=b']
    const { stdout } = spawnSync('diff', [...options, 'a', 'b'], { cwd: scratch.path, encoding: 'utf8' })
    const heading = options.length === 0 || changes.length === 0 ? '' : '--- a\n+++ b\n'
    const own = options.length === 0 ? normal(a, b, changes) : unified(a, b, changes, context)
    expect({ a, b, options, text: heading + own }).toEqual({ a, b, options, text: stdout })
  }
  expect(shown).toBeGreaterThan(count / 3)
})
