import type { PDFDocumentProxy } from 'unpdf/pdfjs'

/** Characters of one page. A printed page has some 3,000. */
const maxPageCharacters = 256 * 1024

/** The text of one page as it comes. `cut`: there is more than a page may have, and the reader works on at it. */
export async function pageText(document: PDFDocumentProxy, number: number): Promise<{ text: string; cut: boolean }> {
  const page = await document.getPage(number)
  const reader = page.streamTextContent().getReader() as ReadableStreamDefaultReader<TextPart>
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return { text: text.trimEnd(), cut: false }
      for (const item of value.items) {
        if (item.str === undefined) continue
        text += item.str
        if (item.hasEOL) text += '\n'
      }
      if (text.length > maxPageCharacters) {
        void reader.cancel(new Error('long enough')).catch(() => undefined)
        return { text: text.slice(0, maxPageCharacters).toWellFormed(), cut: true }
      }
    }
  } finally {
    page.cleanup()
  }
}

interface TextPart {
  readonly items: readonly { readonly str?: string; readonly hasEOL?: boolean }[]
}
