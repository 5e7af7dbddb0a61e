import type { VirtualPath } from '@ws/core'

import { ToolProblem } from '../answers/problem.ts'
import type { Outcome } from '../answers/problem.ts'
import type { Call } from '../session/session.ts'
import { fenced } from '../text/frame.ts'

export interface PagesRequest {
  readonly path: VirtualPath
  readonly given: string
  readonly wanted: string | undefined
}

const usualPages = 20
/** The largest number of pages in one answer [FS4]. */
const mostPages = 1000

export async function readPages(call: Call, { path, given, wanted }: PagesRequest): Promise<Outcome> {
  const { first, last } = rangeOf(wanted, given)
  const { bytes, stat } = await call.workspace.read(path, { signal: call.signal })
  const { pageCount, pages, notes } = await call.session.documents.pdfPages(bytes, {
    pages: { first, last },
    maxPages: mostPages,
    signal: call.signal,
  })
  const parts: string[] = []
  let length = 0
  let end = first - 1
  for (const { number, text } of pages) {
    const part = `--- page ${number} ---\n${fenced(text.slice(0, call.maxCharacters).toWellFormed())}`
    if (parts.length > 0 && length + part.length > call.maxCharacters) break
    parts.push(part)
    length += part.length
    end = number
  }
  const isEnd = end >= pageCount || pages.length === 0
  const next = `${end + 1}-${Math.min(pageCount, end + 1 + last - first)}`
  const shown = parts.length === 0 ? `no pages of ${pageCount}` : `pages ${first}–${end} of ${pageCount}`
  const footer = [
    shown,
    ...(isEnd ? [] : [`next: pages ${next}`]),
    ...notes,
    call.versioned(`version ${stat.version}`),
  ].filter(Boolean)
  return {
    text: [...parts, `[${footer.join('; ')}]`].join('\n'),
    data: { path, pages: pageCount, first, last: end, version: stat.version },
    ...(!isEnd && { next: { operation: 'read_chunked', arguments: { path: given, pages: next } } }),
  }
}

function rangeOf(wanted: string | undefined, path: string): { readonly first: number; readonly last: number } {
  if (wanted === undefined) return { first: 1, last: usualPages }
  const [, from = '', to = from] = /^\s*(\d{1,6})(?:\s*-\s*(\d{1,6}))?\s*$/u.exec(wanted) ?? []
  const [first, last] = [Number(from), Number(to)]
  if (from !== '' && first >= 1 && last >= first && last - first < mostPages) return { first, last }
  throw new ToolProblem({
    sentence: `\`pages\` must be a page from 1, or a range of at most 1,000 such as \`1-5\`, got \`${wanted.slice(0, 40).toWellFormed()}\``,
    remedy: 'give such a range',
    next: { operation: 'read_chunked', arguments: { path, pages: '1-5' } },
    data: { code: 'EINVAL', argument: 'pages' },
  })
}
