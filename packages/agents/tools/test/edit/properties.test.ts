import { propertyRounds } from '@ws/test-fixtures'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { applyEdits } from '../../src/edit/apply-edits.ts'
import { findBytes } from '../../src/edit/locate/find-bytes.ts'
import { EditProblem, type TextEdit } from '../../src/edit/types.ts'

/** The content after the edits; `undefined` where they are refused. */
function after(content: string, ...edits: readonly TextEdit[]): string | undefined {
  try {
    return Buffer.from(applyEdits(Buffer.from(content), edits).content).toString()
  } catch (error) {
    if (error instanceof EditProblem) return undefined
    throw error
  }
}

function countOf(content: string, text: string): number {
  let count = 0
  for (let at = content.indexOf(text); at !== -1; at = content.indexOf(text, at + 1)) count += 1
  return count
}

// few characters, so that texts repeat and overlap
const text = (characters: string, maxLength: number) =>
  fc.array(fc.constantFrom(...characters), { maxLength }).map((all) => all.join(''))

describe('edits', { tags: 'rounds' }, () => {
  it('[FS7] finds the same places as a plain search', () => {
    fc.assert(
      fc.property(text('ab', 400), text('ab', 40), (content, wanted) => {
        fc.pre(wanted !== '')
        const places: number[] = []
        for (let at = content.indexOf(wanted); at !== -1; at = content.indexOf(wanted, at + 1)) places.push(at)
        expect([...findBytes(Buffer.from(content), Buffer.from(wanted))]).toEqual(places)
      }),
      propertyRounds({ quick: 1000, seconds: 10 }),
    )
  })

  it('[FS7] gives the bytes of a plain replacement, or refuses', () => {
    fc.assert(
      fc.property(text('ab \n', 30), text('ab \n', 8), text('abc \n', 8), (content, old, next) => {
        fc.pre(old !== '' && old !== next && content.includes(old))
        const count = countOf(content, old)
        const expected = count === 1 ? content.replace(old, () => next) : undefined
        expect(after(content, { old, new: next })).toBe(expected)
      }),
      propertyRounds({ quick: 1000, seconds: 10 }),
    )
  })

  it('[FS7] gives the bytes of a plain replacement of all places', () => {
    fc.assert(
      fc.property(text('ab\n', 30), text('ab\n', 3), text('abc\n', 4), (content, old, next) => {
        fc.pre(old !== '' && old !== next && content.includes(old))
        expect(after(content, { old, new: next, all: true })).toBe(content.replaceAll(old, () => next))
      }),
      propertyRounds({ quick: 1000, seconds: 10 }),
    )
  })

  it('[FS7] does the same in a file with CRLF, and with a mark', () => {
    const crlf = (content: string): string => content.replaceAll('\n', '\r\n')
    fc.assert(
      fc.property(text('ab\n', 30), text('ab\n', 6), text('abc\n', 6), (content, old, next) => {
        fc.pre(old !== '' && old !== next && countOf(content, old) === 1 && content.includes('\n'))
        const expected = content.replace(old, () => next)
        expect(after(crlf(content), { old, new: next })).toBe(crlf(expected))
        expect(after(`\uFEFF${content}`, { old, new: next })).toBe(`\uFEFF${expected}`)
      }),
      propertyRounds({ quick: 1000, seconds: 10 }),
    )
  })
})
