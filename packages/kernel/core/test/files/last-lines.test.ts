import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readLastLines } from '../../src/files/last-lines.ts'
import { maxLineLength, maxWindowLength, readWindow } from '../../src/files/lines.ts'

const encoder = new TextEncoder()

async function* chunksOf(content: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size)
}

async function* repeated(chunk: Uint8Array, times: number, end = ''): AsyncGenerator<Uint8Array> {
  for (let count = 0; count < times; count += 1) yield chunk
  yield encoder.encode(end)
}

const content = fc.string({ unit: fc.constantFrom('a', 'é', '\n', '\r\n', '\r', '🙂'), maxLength: 60 })

describe('[PC25] the last lines', () => {
  it('are the end of all lines, however the stream is cut', async () => {
    await fc.assert(
      fc.asyncProperty(content, fc.nat(9), fc.integer({ min: 1, max: 70 }), async (text, last, size) => {
        const bytes = encoder.encode(text)
        const all = await readWindow(chunksOf(bytes, 100), { offset: 0, limit: 1000, path: '/f' })
        const end = await readLastLines(chunksOf(bytes, size), { last, path: '/f' })
        expect(end.lines).toEqual(last === 0 ? [] : all.lines.slice(-last))
        expect(end.offset).toBe(all.lines.length - end.lines.length)
      }),
      { seed: 20_261_123 },
    )
  })

  it('[RU8] take no memory for what lies before them', async () => {
    const chunk = new Uint8Array(1_000_000).fill(97)
    const before = process.memoryUsage().arrayBuffers
    const end = await readLastLines(repeated(chunk, 300, '\nlast\n'), { last: 1, path: '/f' })
    expect(end).toEqual({ lines: ['last'], offset: 1 })
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100_000_000)
  })

  it('[RU8] are fewer once they have too many characters, and none of them may be too long', async () => {
    const line = encoder.encode(`${'é'.repeat(1023)}\n`)
    const many = await readLastLines(repeated(line, 20_000), { last: 15_000, path: '/f' })
    expect(many.lines.length).toBe(maxWindowLength / 1024)
    expect(many.offset).toBe(20_000 - many.lines.length)
    const blank = await readLastLines(repeated(new Uint8Array(1_000_000).fill(10), 9), {
      last: 10_000_000,
      path: '/f',
    })
    expect(blank.lines.length).toBe(maxWindowLength)
    const long = new Uint8Array(65_536).fill(97)
    const times = maxLineLength / long.length
    expect((await readLastLines(repeated(long, times, '\n'), { last: 1, path: '/f' })).lines.length).toBe(1)
    for (const count of [times, 2 * times])
      await expect(readLastLines(repeated(long, count, 'x\nend\n'), { last: 2, path: '/f' })).rejects.toMatchObject({
        code: 'EFBIG',
        path: '/f',
        reason: expect.stringContaining('line 1'),
      })
  })
})
