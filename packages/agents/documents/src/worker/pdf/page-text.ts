import type { PDFPageProxy } from 'unpdf/pdfjs'

/** Limit of characters read from one page, and of its fields and comments. A printed page has about 3,000. */
export const maxPageCharacters = 256 * 1024

/** The text of one page. `cut`: the page has more text, which the reader still produces. */
export async function pageText(page: PDFPageProxy): Promise<{ text: string; cut: boolean }> {
  const reader = page.streamTextContent().getReader() as ReadableStreamDefaultReader<TextPart>
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return { text: text.trimEnd().toWellFormed(), cut: false }
    for (const item of value.items) {
      if (item.str === undefined) continue
      text += item.str
      if (item.hasEOL) text += '\n'
    }
    if (text.length > maxPageCharacters) {
      void reader.cancel(new Error('long enough')).catch(() => undefined) // a failure does not matter: no more text is needed
      return { text: text.slice(0, maxPageCharacters).toWellFormed(), cut: true }
    }
  }
}

interface TextPart {
  readonly items: readonly { readonly str?: string; readonly hasEOL?: boolean }[]
}
