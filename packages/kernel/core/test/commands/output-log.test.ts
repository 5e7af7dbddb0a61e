import fc from 'fast-check'
import { expect, it } from 'vitest'
import { OutputLog } from '../../src/commands/sessions/output-log.ts'

it('keeps the last bytes, and its offsets and counts add up, however the output is cut', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 12, max: 64 }),
      (text, cuts, limit) => {
        const bytes = Buffer.from(text.isWellFormed() ? text : 'é€😀')
        const log = new OutputLog(limit)
        let seen = ''
        let dropped = 0
        let since = 0
        for (let at = 0, n = 0; at < bytes.length; n += 1) {
          const length = cuts[n % cuts.length] ?? 1
          log.push(bytes.subarray(at, at + length))
          at += length
          const read = log.read(since)
          seen += read.text
          dropped += read.dropped
          expect(since + read.dropped + Buffer.byteLength(read.text)).toBe(read.next)
          since = read.next
        }
        log.finish()
        // Read as it came, nothing is lost and nothing is cut.
        expect(seen + log.read(since).text).toBe(bytes.toString())
        expect(dropped).toBe(0)
        const late = log.read()
        expect(bytes.toString().endsWith(late.text)).toBe(true)
        expect(Buffer.byteLength(late.text)).toBeLessThanOrEqual(limit)
        expect(late.dropped + Buffer.byteLength(late.text)).toBe(bytes.length)
      },
    ),
    { numRuns: 300, seed: 7 },
  )
})

it('an offset that is still to come gives nothing, and stays', () => {
  const log = new OutputLog(10)
  log.push(Buffer.from('abc'))
  expect(log.read(5)).toEqual({ text: '', next: 5, dropped: 0 })
})
