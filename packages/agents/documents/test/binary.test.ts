import { looksBinary } from '@ws/documents'
import { describe, expect, it } from 'vitest'

describe('looksBinary', () => {
  it.each([
    ['an empty file', [], false],
    ['one NUL', [0x61, 0, 0x62], true],
    ['tabs, line ends and form feeds', [0x09, 0x0a, 0x0c, 0x0d], false],
    ['exactly 5 % control characters', [0x1b, ...Array<number>(19).fill(0x61)], false],
    ['more than 5 % control characters', [0x1b, ...Array<number>(18).fill(0x61)], true],
    ['UTF-16LE with its mark, cut in a character', [0xff, 0xfe, 0x61, 0, 0x62, 0, 0x63], false],
    ['UTF-16BE with its mark', [0xfe, 0xff, 0, 0x61, 0, 0x62], false],
    ['a mark of UTF-16 and a NUL character', [0xff, 0xfe, 0x61, 0, 0, 0, 0x62, 0], true],
    ['nothing but a mark of UTF-16', [0xff, 0xfe], false],
    ['UTF-16 without a mark', [0x61, 0, 0x62, 0], true],
  ])('[FS3] %s', (_, bytes, expected) => {
    expect(looksBinary(Uint8Array.from(bytes))).toBe(expected)
  })
})
