import type { PageAnswer, PdfRequest } from '../protocol.ts'
import { DocumentFault, openPdf } from './open.ts'
import { pageText } from './page-text.ts'

const maxCharacters = 16 * 1024 * 1024

/** Yields pages one at a time, so that a page that never ends does not lose the earlier pages. @throws DocumentFault */
export async function* readPages({ bytes, first, last, maxPages }: PdfRequest): AsyncGenerator<PageAnswer, undefined> {
  const { document, notes } = await openPdf(bytes)
  const pageCount = document.numPages
  const end = Math.min(last ?? pageCount, first + maxPages - 1, pageCount)
  let total = 0
  let readable = 0
  for (let number = first; number <= end; number++) {
    let text = ''
    let broken = false
    let cut = false
    try {
      ;({ text, cut } = await pageText(document, number))
      readable += 1
    } catch {
      broken = true // the answer names the page as broken
    }
    total += text.length
    if (cut) notes.push(`page ${number} is cut after ${text.length} characters, and the rest of it is left out`)
    const done = cut || total >= maxCharacters
    if (done && number < end) {
      notes.push(`reading stopped after ${total} characters; continue with pages from ${number + 1}`)
    }
    yield { kind: 'page', pageCount, page: { number, text }, broken, notes: notes.splice(0), done, spent: done }
    if (done) return
  }
  if (first <= end && readable === 0) {
    throw new DocumentFault('EINVAL', 'has no page that can be read', 'get the file again, or ask for other pages')
  }
  await document.loadingTask.destroy()
  yield { kind: 'page', pageCount, broken: false, notes, done: true, spent: false }
}
