import type { PageAnswer, PdfRequest } from '../protocol.ts'
import { DocumentFault, openPdf } from './open.ts'
import { pageMarks } from './page-marks.ts'
import { maxPageCharacters, pageText } from './page-text.ts'

const maxCharacters = 16 * 1024 * 1024

/**
 * Yields each page, then its fields and comments. A page that never ends thus does not lose the earlier pages, and a huge form does not
 * lose the text of its page. @throws DocumentFault
 */
export async function* readPages({ bytes, first, last, maxPages }: PdfRequest): AsyncGenerator<PageAnswer, undefined> {
  const { document, notes } = await openPdf(bytes)
  const pageCount = document.numPages
  const end = Math.min(last ?? pageCount, first + maxPages - 1, pageCount)
  const shared = { kind: 'page', pageCount, broken: false, notes: [], done: false, spent: false } as const
  let total = 0
  let readable = 0
  for (let number = first; number <= end; number++) {
    const page = await document.getPage(number).catch(() => undefined) // the answer names the page as broken
    const read = page && (await pageText(page).catch(() => undefined)) // the answer names the page as broken
    const { text, cut } = read ?? { text: '', cut: false }
    if (read !== undefined) readable += 1
    total += text.length
    if (cut) notes.push(`page ${number} is cut after ${text.length} characters, and the rest of it is left out`)
    if (cut) noteStop(number)
    yield {
      ...shared,
      page: { number, text },
      broken: read === undefined,
      notes: notes.splice(0),
      done: cut,
      spent: cut,
    }
    if (cut) return
    if (page === undefined || read === undefined) continue
    const { marks, left } = within(await pageMarks(page), maxPageCharacters)
    page.cleanup()
    if (left > 0) notes.push(`${left} more fields and comments of page ${number} are left out`)
    total += marks.length
    const full = total >= maxCharacters
    if (full) noteStop(number)
    yield { ...shared, marks, notes: notes.splice(0), done: full, spent: full }
    if (full) return
  }
  if (first <= end && readable === 0) {
    throw new DocumentFault('EINVAL', 'has no page that can be read', 'get the file again, or ask for other pages')
  }
  await document.loadingTask.destroy()
  yield { ...shared, notes, done: true }

  function noteStop(number: number): void {
    if (number < end) notes.push(`reading stopped after ${total} characters; continue with pages from ${number + 1}`)
  }
}

function within(lines: readonly string[], limit: number): { readonly marks: string; readonly left: number } {
  let length = 0
  const given = lines.filter((line) => (length += line.length + 1) <= limit)
  return { marks: given.join('\n').toWellFormed(), left: lines.length - given.length }
}
