import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { propertyRounds } from '@ws/test-fixtures'
import { captureOutput } from '../../src/run/command-output.ts'

const text = 'aé€😀z'.repeat(400)

function capture(bytes: Uint8Array, maxBytes: number, chunkSize: number) {
  const output = captureOutput({ maxBytes })
  for (let at = 0; at < bytes.length; at += chunkSize) output.push(bytes.subarray(at, at + chunkSize))
  return output.result()
}

describe('captureOutput', () => {
  it('keeps everything that fits, whatever the chunks', () => {
    const bytes = Buffer.from(text)
    for (const chunkSize of [1, 7, 4096, 1e6]) {
      const result = capture(bytes, bytes.length, chunkSize)
      expect(result).toMatchObject({ text, totalBytes: bytes.length, omittedBytes: 0, truncated: false })
    }
  })

  it('keeps head and tail, counts what lies between, and cuts no character', () => {
    const bytes = Buffer.from(text)
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: bytes.length - 1 }),
        fc.integer({ min: 1, max: 9000 }),
        (maxBytes, chunkSize) => {
          const { head, tail, omittedBytes, totalBytes, truncated, text: shown } = capture(bytes, maxBytes, chunkSize)
          expect(truncated).toBe(true)
          expect(totalBytes).toBe(bytes.length)
          expect(head.length + omittedBytes + tail.length).toBe(totalBytes)
          expect(head.length + tail.length).toBeLessThanOrEqual(maxBytes)
          expect(head.length + tail.length).toBeGreaterThanOrEqual(maxBytes - 6)
          expect(Buffer.from(head)).toEqual(bytes.subarray(0, head.length))
          expect(Buffer.from(tail)).toEqual(bytes.subarray(bytes.length - tail.length))
          expect(shown).not.toContain('\ufffd')
          expect(shown).toContain(`${omittedBytes} bytes omitted`)
        },
      ),
      { ...propertyRounds({ quick: 200, seconds: 5 }), seed: 42 },
    )
  })

  it('shows invalid bytes as U+FFFD and keeps them as bytes', () => {
    const { text: shown, head } = capture(Buffer.from([0x61, 0xff, 0xc3]), 10, 1)
    expect(shown).toBe('a\ufffd\ufffd')
    expect([...head]).toEqual([0x61, 0xff, 0xc3])
  })

  it('does not take invalid bytes for cut characters without end', () => {
    const { head, tail } = capture(Buffer.alloc(1000, 0x80), 100, 10)
    expect([head.length, tail.length]).toEqual([50, 47])
  })

  it('uses constant memory', () => {
    const output = captureOutput({ maxBytes: 100_000 })
    const chunk = Buffer.alloc(65_536, 'x')
    output.push(chunk)
    const before = process.memoryUsage()
    for (let round = 0; round < 4_000; round++) output.push(chunk)
    const after = process.memoryUsage()
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(2e6)
    expect(output.result().totalBytes).toBe(4_001 * 65_536)
  })
})
