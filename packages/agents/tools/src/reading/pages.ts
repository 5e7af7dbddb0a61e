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

/** The pages of an answer without an end of the range. */
const usualPages = 20
/** A range that names no page which the PDF may lack. */
export const allPages = '1-'
/** The largest number of pages in one answer [FS4]. */
const mostPages = 1000

export async function readPages(call: Call, { path, given, wanted }: PagesRequest): Promise<Outcome> {
  const { first, last } = rangeOf(wanted, given)
  const { bytes, stat } = await call.workspace.read(path, { signal: call.signal })
  const {
    pageCount,
    pages,
    notes: told,
  } = await call.session.documents.pdfPages(bytes, {
    pages: { first, last },
    maxPages: last === undefined ? usualPages : mostPages,
    signal: call.signal,
  })
  const parts: string[] = []
  const notes = [...told]
  let length = 0
  let end = first - 1
  for (const { number, text } of pages) {
    const whole = text.slice(0, call.maxCharacters).toWellFormed()
    const part = `--- page ${number} ---\n${fenced(whole)}`
    if (parts.length > 0 && length + part.length > call.maxCharacters) break
    if (whole.length < text.length)
      notes.push(`the rest of page ${number}, ${text.length - whole.length} characters, is left out`)
    parts.push(part)
    length += part.length
    end = number
  }
  const isEnd = end >= pageCount || pages.length === 0
  const next = `${end + 1}-${Math.min(pageCount, end + 1 + (last ?? first + usualPages - 1) - first)}`
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

/** `last` is absent for the usual number of pages. */
function rangeOf(wanted = allPages, path: string): { readonly first: number; readonly last: number | undefined } {
  const [, from = '', dash, to = dash === undefined ? from : ''] =
    /^\s*(\d{1,6})(?:\s*(-)\s*(\d{1,6})?)?\s*$/u.exec(wanted) ?? []
  const first = Number(from)
  const last = to === '' ? undefined : Number(to)
  const isRange = last === undefined || (last >= first && last - first < mostPages)
  if (from !== '' && first >= 1 && isRange) return { first, last }
  throw new ToolProblem({
    sentence: `\`pages\` must be a page from 1, or a range of at most 1,000 such as \`1-5\` or \`4-\`, got \`${wanted.slice(0, 40).toWellFormed()}\``,
    remedy: 'give such a range',
    next: { operation: 'read_chunked', arguments: { path, pages: allPages } },
    data: { code: 'EINVAL', argument: 'pages' },
  })
}
