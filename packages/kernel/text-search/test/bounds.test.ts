import { longestTurn } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'
import { createLineMatcher, type LineHit } from '../src/index.ts'
import type { PatternOptions } from '../src/pattern.ts'
import { findInLongLine } from '../src/long-lines-in-browsers.ts'

const encoder = new TextEncoder()

/** The hits of a search, and the error that it ends with. */
async function found(bytes: Uint8Array, options: PatternOptions, signal?: AbortSignal) {
  const hits: LineHit[] = []
  try {
    for await (const hit of createLineMatcher(options).searchBytes(bytes, { signal, path: '/f' })) hits.push(hit)
    return { hits, error: undefined }
  } catch (error) {
    return { hits, error }
  }
}

/** The longest turn too, in milliseconds of processor time. */
async function measured(text: string, options: PatternOptions) {
  const bytes = encoder.encode(text)
  const { result, longest } = await longestTurn(() => found(bytes, options))
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
    const started = process.threadCpuUsage()
    expect(await findInLongLine({ ...request, line: `${'ab'.repeat(400_000)}c` })).toBeUndefined()
    const { user, system } = process.threadCpuUsage(started)
    expect((user + system) / 1000).toBeLessThan(500)
  })

  it('ends within 100 ms of an abort, in a line that takes long too', async () => {
    for (const text of ['ab\n'.repeat(5_000_000), `${'ab'.repeat(500_000)}\n`.repeat(30)]) {
      const controller = new AbortController()
      let aborted = process.cpuUsage()
      setTimeout(() => {
        aborted = process.cpuUsage()
        controller.abort(new Error('enough'))
      }, 60)
      const { error } = await found(
        encoder.encode(text),
        { pattern: '(a|b)*?(b|a)*?[^ab]', regex: true },
        controller.signal,
      )
      // of all threads: wall time on a busy machine says nothing about the work
      const { user, system } = process.cpuUsage(aborted)
      expect(error).toBe(controller.signal.reason)
      expect((user + system) / 1000).toBeLessThan(100)
    }
  })
})
