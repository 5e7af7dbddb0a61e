import type { NextOperation } from '../answers/problem.ts'
import { inLine } from '../text/frame.ts'
import type { Hit } from './hits.ts'

/** Reading starts this many bytes before a match, and takes `bytesRead` bytes. */
const bytesBefore = 200
const bytesRead = 4096

/** The line of a hit; for a long line, the part around the match with its column. */
export function showHit({ text, column, part }: Hit): string {
  if (part === undefined) return inLine(text)
  return `${part.column > 1 ? '…' : ''}${inLine(text)}… [column ${column} of a long line]`
}

export function nextAtPlace(hits: readonly Hit[]): NextOperation | undefined {
  const hit = hits.find(({ part }) => part?.offset !== undefined)
  if (hit?.part?.offset === undefined) return undefined
  const start = Math.max(0, hit.part.offset - bytesBefore)
  return { operation: 'read_chunked', arguments: { path: hit.path, offset_bytes: start, size: bytesRead } }
}
