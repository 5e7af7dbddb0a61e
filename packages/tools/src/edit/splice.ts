import { lineEndNear, type LfView } from './locate/lf-view.ts'
import type { Located } from './locate/locate.ts'
import type { Span } from './types.ts'

/** The bytes of a change. New lines end as the lines around them. */
export function spanOf(content: Buffer, view: LfView, { start, end, newText }: Located): Span {
  const from = view.toContent(start)
  const isCrlf = newText.includes('\n') && lineEndNear(content, from) === '\r\n'
  const text = Buffer.from(isCrlf ? newText.replaceAll('\n', '\r\n') : newText)
  return { start: from, end: view.toContent(end), text }
}
