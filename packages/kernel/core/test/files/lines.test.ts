import { describe, expect, it } from 'vitest'
import { maxLineLength, maxWindowLength, readWindow } from '../../src/files/lines.ts'

const encoder = new TextEncoder()

async function* repeated(chunk: Uint8Array, times: number, end = ''): AsyncGenerator<Uint8Array> {
  for (let count = 0; count < times; count += 1) yield chunk
  yield encoder.encode(end)
}

const window = { offset: 0, limit: 2000, path: '/f' }
const zeros = new Uint8Array(65_536)
const endless = () => repeated(zeros, Number.POSITIVE_INFINITY)

describe('[RU8] a window of lines', () => {
  it('ends with EFBIG at a line that is too long, before it has been read', async () => {
    const failure = await readWindow(endless(), { ...window, limit: 1 }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'EFBIG', path: '/f', remedy: expect.stringContaining('readStream') })
    expect(String(failure)).toContain('line 1')
  })

  it('gives a line that is just as long as may be', async () => {
    const exact = encoder.encode('é'.repeat(maxLineLength / 16))
    const { lines } = await readWindow(repeated(exact, 16, '\r\n'.slice(1)), window)
    expect(lines.map(({ length }) => length)).toEqual([maxLineLength])
    await expect(readWindow(repeated(exact, 16, 'x'), window)).rejects.toMatchObject({ code: 'EFBIG' })
  })

  it('needs no more of a file than its window, and no memory for what lies before it', async () => {
    async function* file(): AsyncGenerator<Uint8Array> {
      yield* repeated(zeros, 2000, '\nsecond\nthird\n')
      yield* endless()
    }
    expect(await readWindow(file(), { ...window, offset: 1, limit: 2 })).toEqual({
      lines: ['second', 'third'],
      offset: 1,
      nextOffset: 3,
    })
  })

  it('ends before its limit when its lines are long, and says where to go on', async () => {
    const line = encoder.encode(`${'x'.repeat(1_000_000)}\n`)
    const first = await readWindow(repeated(line, 20), window)
    expect(first.lines.length).toBeLessThan(20)
    expect(first.lines.length * 1_000_000).toBeGreaterThanOrEqual(maxWindowLength)
    expect(first.nextOffset).toBe(first.lines.length)
    const rest = await readWindow(repeated(line, 20), { ...window, offset: first.nextOffset ?? 0 })
    expect(rest.lines.length).toBeGreaterThan(0)
  })

  it('leaves the loop its turn, and ends when its signal is aborted', async () => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(new Error('enough')), 20)
    const options = { ...window, offset: 1, signal: controller.signal }
    await expect(readWindow(endless(), options)).rejects.toThrow('enough')
  })

  it.each([
    ['', { lines: [], offset: 0 }],
    ['a', { lines: ['a'], offset: 0 }],
    ['a\n', { lines: ['a'], offset: 0 }],
    ['\n\n', { lines: ['', ''], offset: 0 }],
    ['a\r\n\r\nb\r', { lines: ['a', '', 'b'], offset: 0 }],
  ])('of %j in any pieces is %j', async (text, expected) => {
    for (const size of [1, 2, 100]) {
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
      async function* stream(): AsyncGenerator<Uint8Array> {
        for (const piece of pieces) yield encoder.encode(piece)
      }
      expect(await readWindow(stream(), window)).toEqual(expected)
      const two = await readWindow(stream(), { ...window, limit: 2 })
      expect(two).toEqual(expected.lines.length > 2 ? { ...two, nextOffset: 2 } : expected)
      expect(await readWindow(stream(), { ...window, offset: 9 })).toEqual({ lines: [], offset: expected.lines.length })
    }
  })
})
