import { z } from 'zod'
import { isWorkspaceError } from '@ws/core'
import { looksBinary } from '@ws/documents'

import { headBytes, isPdf, tryDecode, tryDecodeHead, typeOf } from '../reading/content.ts'
import { imageSizeOf, imageTypeOf } from '../images/header.ts'
import { allPages } from '../reading/pages.ts'
import { linesOf } from '../text/lines.ts'
import { clipLine, numberLine } from '../text/numbered.ts'
import { path } from './fields.ts'
import { operation } from './operation.ts'

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
      const facts = await factsOf(bytes, stat.size)
      const shared = { path: target, size: stat.size, version: stat.version, type: facts.type }
      const modified = stat.modifiedAt === undefined ? '' : `, changed ${new Date(stat.modifiedAt).toISOString()}`
      const first = `${call.show(target)}: ${facts.type}, ${stat.size} bytes${modified}`
      if (facts.text === undefined) {
        return {
          text: `${first}${call.versioned(`\n[version ${stat.version}]`)}`,
          data: shared,
          ...(facts.isPdf && { next: pdfCall(target) }),
        }
      }
      const { encoding, bom, detection, lineEnding, finalNewline } = facts.text
      const all = linesOf(facts.text.text)
      const head = all.slice(0, wanted).map((line, index) => numberLine(index + 1, clipLine(line).text))
      const isWhole = bytes.length >= stat.size
      const ends = isWhole && stat.size > 0 && !finalNewline ? ', no newline at the end' : ''
      const total = isWhole ? `, ${all.length} line${all.length === 1 ? '' : 's'}` : ''
      const about = `encoding ${encoding}${bom ? ' with byte order mark' : detection === 'guess' ? ' (a guess)' : ''}, line ends ${lineEnding}${ends}${total}`
      return {
        text: `${[first, about, ...head].join('\n')}${call.versioned(`\n[version ${stat.version}]`)}`,
        data: { ...shared, encoding, bom, line_ending: lineEnding, ...(isWhole && { lines: all.length }) },
      }
    })

    async function readHead() {
      const { signal, workspace } = call
      try {
        return await workspace.read(target, { range: { offset: 0, length: lookedAt }, signal })
      } catch (error) {
        if (!isWorkspaceError(error, 'ENOTSUP')) throw error
        return workspace.read(target, { signal })
      }
    }
  },
})

function pdfCall(path: string) {
  return { operation: 'read_chunked', arguments: { path, pages: allPages } }
}

async function factsOf(bytes: Uint8Array, size: number) {
  if (size === 0) return { type: 'empty file', isPdf: false, text: tryDecode(bytes) }
  if (isPdf(bytes)) return { type: 'application/pdf', isPdf: true, text: undefined }
  if (looksBinary(bytes.subarray(0, headBytes))) {
    const image = imageTypeOf(bytes)
    const { width, height } = (image && imageSizeOf(image, bytes)) ?? {}
    const pixels = width === undefined ? '' : `, ${width} × ${height} pixels`
    return { type: `binary (${image ?? (await typeOf(bytes))}${pixels})`, isPdf: false, text: undefined }
  }
  const text = size > bytes.length ? tryDecodeHead(bytes) : tryDecode(bytes)
  return { type: text === undefined ? 'text in no known encoding' : 'text', isPdf: false, text }
}
