import { longestTurn } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { createLineMatcher, type LineHit } from '../src/index.ts'
import type { PatternOptions } from '../src/pattern.ts'
import { findInLongLine } from '../src/long-lines-in-browsers.ts'

const encoder = new TextEncoder()

/** The longest turn in milliseconds of processor time, and what came out. */
async function measured(
  text: string,
  options: PatternOptions,
  signal?: AbortSignal,
): Promise<{ hits: LineHit[]; error: unknown; turn: number }> {
  const bytes = encoder.encode(text)
  const { result, longest } = await longestTurn(async () => {
    const hits: LineHit[] = []
    let error: unknown
    try {
      for await (const hit of createLineMatcher(options).searchBytes(bytes, { signal, path: '/f' })) hits.push(hit)
    } catch (caught) {
      error = caught
    }
    return { hits, error }
  })
  return { ...result, turn: longest }
}

const long = 'a'.repeat(600_000)
const code = 'const a = f(b, 12); é function x() { return "c" };'.repeat(12_000)

describe('[RU8] a search', () => {
  it.each<[what: string, text: string, options: PatternOptions, column: number | undefined]>([
    ['a literal in a long line', `${long}b`, { pattern: 'ab' }, 600_000],
    ['a long literal that nearly matches', long, { pattern: `b${'a'.repeat(999)}` }, undefined],
    ['one in any case', long, { pattern: `${'A'.repeat(999)}b`, caseSensitive: false }, undefined],
    ['an expression in a long line', `${code.slice(0, 100_000)} zq`, { pattern: '\\bz[o-r]$', regex: true }, 100_002],
    ['one that has no match there', code, { pattern: 'function\\s+y', regex: true }, undefined],
    ['many lines', 'ab\n'.repeat(300_000), { pattern: 'a[c-z]', regex: true }, undefined],
    ['empty lines', '\n'.repeat(1_000_000), { pattern: '^x', regex: true }, undefined],
  ])('finds %s, and leaves the loop its turn', async (_, text, options, column) => {
    const { hits, error, turn } = await measured(text, options)
    expect(error).toBeUndefined()
    expect(hits.map((hit) => hit.column)).toEqual(column === undefined ? [] : [column])
    expect(turn).toBeLessThan(20)
  })

  it('refuses an expression that takes too long in a line, and says which', async () => {
    const { error, turn } = await measured(`x\n${'ab'.repeat(400_000)}c`, {
      pattern: '(?:[ab]{1,9}){1,20}[^ab]',
      regex: true,
    })
    expect(error).toMatchObject({
      code: 'EINVAL',
      path: '/f',
      message: expect.stringContaining('line 2, with 800001 characters'),
      remedy: expect.stringContaining('simpler'),
    })
    expect(turn).toBeLessThan(20)
  })

  it('without threads, searches a long line at once, unless that would take too long', async () => {
    const request = { pattern: '(?:[ab]{1,9}){1,20}[^ab]', caseSensitive: true }
    expect(await findInLongLine({ ...request, line: `${'ab'.repeat(200)}c` })).toBe(220)
    expect(await findInLongLine({ ...request, line: 'ab'.repeat(200) })).toBe(-1)
    const started = performance.now()
    expect(await findInLongLine({ ...request, line: `${'ab'.repeat(400_000)}c` })).toBeUndefined()
    expect(performance.now() - started).toBeLessThan(500)
  })

  it('ends within 100 ms of an abort, in a line that takes long too', async () => {
    for (const text of ['ab\n'.repeat(5_000_000), `${'ab'.repeat(500_000)}\n`.repeat(30)]) {
      const controller = new AbortController()
      let aborted = 0
      setTimeout(() => {
        aborted = performance.now()
        controller.abort(new Error('enough'))
      }, 60)
      const options = { pattern: '(a|b)*?(b|a)*?[^ab]', regex: true }
      const { error } = await measured(text, options, controller.signal)
      expect(error).toBe(controller.signal.reason)
      expect(performance.now() - aborted).toBeLessThan(100)
    }
  })
})
