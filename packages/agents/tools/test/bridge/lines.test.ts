import { lineWindow } from '@ws/tools/bridge'
import { expect, it } from 'vitest'

it.each([
  ['a\nb\nc\n', {}, 'a\nb\nc\n', 1, 3, 3, undefined],
  ['a\nb\nc', { offset: 1 }, 'b\nc', 2, 3, 3, undefined],
  ['a\r\nb\r\nc\r\n', { offset: 1, limit: 1 }, 'b\r\n', 2, 2, 3, 2],
  ['a\nb\nc\n', { offset: 2, limit: 9 }, 'c\n', 3, 3, 3, undefined],
  ['a\nb\nc\n', { offset: 3, limit: 9 }, '', 4, 3, 3, undefined],
  ['a\nb\n', { offset: 99 }, '', 3, 2, 2, undefined],
  ['a\nb\n', { limit: 0 }, '', 1, 0, 2, 0],
  ['', {}, '', 1, 0, 0, undefined],
  ['\n\n', { offset: 1, limit: 1 }, '\n', 2, 2, 2, undefined],
])('%j %j', (text, options, window, startLine, endLine, totalLines, nextOffset) => {
  expect(lineWindow(text, options)).toEqual({ text: window, startLine, endLine, totalLines, nextOffset })
})
