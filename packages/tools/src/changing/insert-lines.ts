import { quotePath } from '@ws/core'
import type { VirtualPath } from '@ws/core'

import { ToolProblem } from '../answers/problem.ts'

/**
 * The content with a text as lines of its own behind a line; 0 is the beginning. Line ends are those of the file, and the
 * bytes around stay as they are.
 *
 * @throws ToolProblem for a line behind the end
 */
export function insertLines(path: VirtualPath, bytes: Uint8Array, line: number, text: string): Uint8Array {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let end = 0
  let passed = 0
  while (passed < line && end < content.length) {
    const feed = content.indexOf(10, end)
    end = feed < 0 ? content.length : feed + 1
    passed += 1
  }
  if (passed < line) {
    throw new ToolProblem({
      sentence: `\`insert_line\` must be from 0 to ${passed}, the lines of ${quotePath(path)}, got \`${line}\``,
      remedy: 'nothing was changed; read the file first',
      next: { operation: 'read', arguments: { path } },
      data: { code: 'EINVAL', argument: 'insert_line', path },
    })
  }
  const lineEnd = content.includes('\r\n') ? '\r\n' : '\n'
  const isOpen = end > 0 && content[end - 1] !== 10
  const lines = text.replaceAll(/\r?\n/gu, lineEnd)
  const closed = isOpen || lines.endsWith(lineEnd) ? lines : `${lines}${lineEnd}`
  const added = Buffer.from(`${isOpen ? lineEnd : ''}${closed}`)
  return Buffer.concat([content.subarray(0, end), added, content.subarray(end)])
}
