import { z } from 'zod'

import { ToolProblem } from '../answers/problem.ts'
import { readPages } from '../reading/pages.ts'
import { headBytes, hasPdfMark, isPdf, refuseBinary } from '../reading/content.ts'
import { openForeign } from '../reading/foreign.ts'
import { fenced } from '../text/frame.ts'
import { path } from './fields.ts'
import { operation } from './operation.ts'

const defaultSize = 16_384

export const readChunked = operation({
  name: 'read_chunked',
  description:
    'Reads a PDF by `pages` (1,000 at most), or a large text file by bytes: `size` bytes from `offset_bytes`, never cutting a ' +
    'character; `overlap` repeats the end of the part before.',
  input: z.strictObject({
    path,
    pages: z.string().min(1).optional().describe('Pages of a PDF, from 1: `3`, `1-5` or `4-`'),
    offset_bytes: z.int().min(0).optional().describe('First byte, from 0. Default 0'),
    size: z.int().min(16).max(65_536).optional().describe('Bytes to give. Default 16,384'),
    overlap: z.int().min(0).max(32_768).optional().describe('Bytes that the next part repeats. Default 0'),
  }),
  example: { path: '/data/log.txt', offset_bytes: 0 },
  readOnly: true,
  destructive: false,
  idempotent: true,
  async handle(call, { path: given, pages, offset_bytes: offset = 0, size = defaultSize, overlap = 0 }) {
    const target = await call.resolve('read_chunked', given)
    const next = { operation: 'read_chunked', arguments: { path: given, offset_bytes: offset, size } }
    if (overlap * 2 > size) {
      throw new ToolProblem({
        sentence: `\`overlap\` must be at most half of \`size\` (${size}), got \`${overlap}\``,
        remedy: 'give a smaller overlap',
        next,
        data: { code: 'EINVAL', argument: 'overlap' },
      })
    }
    return call.alone([target], async () => {
      const { signal, workspace } = call
      const head = await workspace.read(target, { range: { offset: 0, length: headBytes }, signal })
      if (isPdf(head.bytes) || (pages !== undefined && hasPdfMark(head.bytes))) {
        return readPages(call, { path: target, given, wanted: pages })
      }
      await refuseBinary(call, target, head.bytes, head.stat)
      const foreign = await openForeign(call, target, head.bytes)
      const total = head.stat.size
      // a character has at most four bytes: read three more on each side to find its ends
      const from = Math.max(0, offset - 3)
      const length = Math.min(size, call.maxCharacters) + (offset - from) + 3
      const { bytes, stat } = await workspace.read(target, { range: { offset: from, length }, signal })
      const ends = [offset - from, Math.min(bytes.length, offset - from + Math.min(size, call.maxCharacters))]
      const align = foreign?.align ?? alignStart
      const [first = 0, last = 0] = ends.map((end) => align(bytes, end, from))
      const text = new TextDecoder(foreign?.encoding, { ignoreBOM: foreign === undefined }).decode(
        bytes.subarray(first, last),
      )
      const start = Math.min(from + first, total)
      const end = from + last
      const ignored = pages === undefined ? [] : ['`pages` is for PDFs, and was ignored']
      if (first >= last) {
        const note = `(no bytes: offset_bytes ${offset} lies behind the end; the file has ${total} bytes)`
        return { text: note, data: { path: target, start, end: start, size: total, version: stat.version } }
      }
      const isEnd = end >= total
      const goOn = isEnd ? [] : [`next: offset_bytes ${end - overlap}`]
      return {
        text: `${fenced(text)}\n[${[`bytes ${start}–${end} of ${total}`, ...goOn, ...ignored, ...(foreign?.notes ?? []), call.versioned(`version ${stat.version}`)].filter(Boolean).join('; ')}]`,
        data: { path: target, start, end, size: total, version: stat.version },
        ...(!isEnd && {
          next: { operation: 'read_chunked', arguments: { path: given, offset_bytes: end - overlap, size, overlap } },
        }),
      }
    })
  },
})

/** The start of the character at the index; the index itself where no character is found. */
function alignStart(bytes: Uint8Array, index: number): number {
  if (index >= bytes.length) return bytes.length
  for (let start = index; start >= 0 && start > index - 4; start -= 1) {
    const byte = bytes[start] ?? 0
    if ((byte & 0xc0) === 0x80) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return start + length > index ? start : index
  }
  return index
}
