import { z } from 'zod'
import { isWorkspaceError } from '@ws/core'
import { looksBinary } from '@ws/documents'

import { isPdf, typeOf } from '../reading/content.ts'
import { decode } from '../reading/decode.ts'
import { linesOf } from '../text/lines.ts'
import { clipLine, numberLine } from '../text/numbered.ts'
import { path } from './fields.ts'
import { operation } from './operation.ts'

/** Bytes that are looked at. */
const lookedAt = 65_536

export const inspect = operation({
  name: 'inspect',
  description:
    'Shows the first lines of a file (10 by default) with its size, type, encoding, line ends and version. Works for binary files too.',
  input: z.strictObject({
    path,
    lines: z.int().min(1).max(200).optional().describe('First lines to show. Default 10'),
  }),
  example: { path: '/src/app.ts' },
  readOnly: true,
  destructive: false,
  idempotent: true,
  async handle(call, { path: given, lines: wanted = 10 }) {
    const target = await call.resolve('inspect', given)
    return call.alone([target], async () => {
      const { bytes, stat } = await readHead()
      const facts = factsOf(bytes, stat.size)
      const shared = { path: target, size: stat.size, version: stat.version, type: facts.type }
      const modified = stat.modifiedAt === undefined ? '' : `, changed ${new Date(stat.modifiedAt).toISOString()}`
      const first = `${target}: ${facts.type}, ${stat.size} bytes${modified}`
      if (facts.text === undefined) {
        return {
          text: `${first}\n[version ${stat.version}]`,
          data: shared,
          ...(facts.isPdf && { next: pdfCall(target) }),
        }
      }
      const { encoding, bom, lineEnding, finalNewline } = facts.text
      const all = linesOf(facts.text.text)
      const head = all.slice(0, wanted).map((line, index) => numberLine(index + 1, clipLine(line).text))
      const isWhole = bytes.length >= stat.size
      const ends = isWhole && stat.size > 0 && !finalNewline ? ', no newline at the end' : ''
      const total = isWhole ? `, ${all.length} line${all.length === 1 ? '' : 's'}` : ''
      const about = `encoding ${encoding}${bom ? ' with byte order mark' : ''}, line ends ${lineEnding}${ends}${total}`
      return {
        text: [first, about, ...head, `[version ${stat.version}]`].join('\n'),
        data: { ...shared, encoding, bom, line_ending: lineEnding, ...(isWhole && { lines: all.length }) },
      }
    })

    async function readHead() {
      const { signal, workspace } = call
      try {
        return await workspace.read(target, { range: { offset: 0, length: lookedAt }, signal })
      } catch (error) {
        // the store has no ranges
        if (!isWorkspaceError(error, 'ENOTSUP')) throw error
        return workspace.read(target, { signal })
      }
    }
  },
})

function pdfCall(path: string) {
  return { operation: 'read_chunked', arguments: { path, pages: '1-5' } }
}

function factsOf(bytes: Uint8Array, size: number) {
  if (size === 0) return { type: 'empty file', isPdf: false, text: decode(bytes) }
  if (isPdf(bytes)) return { type: 'application/pdf', isPdf: true, text: undefined }
  const text = decode(size > bytes.length ? withoutCutCharacter(bytes) : bytes)
  const isWide = text !== undefined && text.encoding !== 'utf-8'
  if (!isWide && looksBinary(bytes.subarray(0, 8192))) {
    return { type: `binary (${typeOf(bytes)})`, isPdf: false, text: undefined }
  }
  return { type: text === undefined ? 'text that is not UTF-8' : 'text', isPdf: false, text }
}

/** The bytes without a character at their end that may be cut. */
function withoutCutCharacter(bytes: Uint8Array): Uint8Array {
  let end = bytes.length
  while (end > bytes.length - 4 && end > 0 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1
  return (bytes[end - 1] ?? 0) >= 0xc0 ? bytes.subarray(0, end - 1) : bytes
}
