import { looksBinary } from '@ws/documents'
import { describe, expect, it } from 'vitest'

describe('looksBinary', () => {
  it.each([
    ['an empty file', [], false],
    ['one NUL', [0x61, 0, 0x62], true],
    ['tabs, line ends and form feeds', [0x09, 0x0a, 0x0c, 0x0d], false],
    ['exactly 5 % control characters', [0x1b, ...Array<number>(19).fill(0x61)], false],
    ['more than 5 % control characters', [0x1b, ...Array<number>(18).fill(0x61)], true],
  ])('[FS3] %s', (_, bytes, expected) => {
    expect(looksBinary(Uint8Array.from(bytes))).toBe(expected)
  })
})
