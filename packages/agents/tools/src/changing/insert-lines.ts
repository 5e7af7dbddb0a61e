import { quotePath } from '@ws/core'
import type { VirtualPath } from '@ws/core'

import { ToolProblem } from '../answers/problem.ts'
import { checkEncoding } from '../edit/encoding.ts'
import { Source } from '../edit/source.ts'
import { EditProblem } from '../edit/types.ts'

/** Inserts whole lines after a line; 0 is the beginning. Inserted lines take the line end of the line before. @throws ToolProblem */
export function insertLines(path: VirtualPath, bytes: Uint8Array, line: number, text: string): Uint8Array {
  const source = new Source(bytes)
  const { content, lineCount } = source
  if (line > lineCount) {
    throw new ToolProblem({
      sentence: `\`insert_line\` must be from 0 to ${lineCount}, the lines of ${quotePath(path)}, got \`${line}\``,
      remedy: 'nothing was changed; read the file first',
      next: { operation: 'read', arguments: { path } },
      data: { code: 'EINVAL', argument: 'insert_line', path, lines: lineCount },
    })
  }
  refuseForeign(path, source, text)
  const isOpen = line > 0 && line === lineCount && source.isOpen
  const lineEnd = source.lineEndAt(source.line(Math.max(line - 1, 0)).start) ?? '\n'
  const lines = source.toLf(text).replaceAll('\n', lineEnd)
  const closed = isOpen || lines.endsWith(lineEnd) ? lines : `${lines}${lineEnd}`
  const added = Buffer.from(`${isOpen ? lineEnd : ''}${closed}`)
  const at = source.toContent(source.line(line).start)
  return Buffer.concat([content.subarray(0, at), added, content.subarray(at)])
}

function refuseForeign(path: VirtualPath, source: Source, text: string): void {
  try {
    checkEncoding(source, [text], 0)
  } catch (error) {
    if (!(error instanceof EditProblem)) throw error
    throw new ToolProblem({
      sentence: `The text for ${quotePath(path)} ${error.details.reason}`,
      remedy: `nothing was changed; ${error.details.remedy}`,
      next: { operation: 'read', arguments: { path } },
      data: { code: 'EINVAL', path },
    })
  }
}
