import type { PDFDocumentProxy } from 'unpdf/pdfjs'

/** Limit of characters read from one page. A printed page has about 3,000. */
const maxPageCharacters = 256 * 1024

/** The text of one page, then its fields and comments. `cut`: the page has more text, which the reader still produces. */
export async function pageText(document: PDFDocumentProxy, number: number): Promise<{ text: string; cut: boolean }> {
  const page = await document.getPage(number)
  const reader = page.streamTextContent().getReader() as ReadableStreamDefaultReader<TextPart>
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) {
        const marks = await page.getAnnotations().then(
          (all: readonly Mark[]) => all.map(lineOf),
          () => [unread],
        )
        const whole = [text.trimEnd(), ...marks].filter((part) => part !== '').join('\n')
        return { text: whole.slice(0, maxPageCharacters).toWellFormed(), cut: whole.length > maxPageCharacters }
      }
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
  } finally {
    page.cleanup()
  }
}

const hiddenFlag = 2
const unread = '[the fields and comments of this page cannot be read]'

interface Mark {
  readonly subtype?: string
  readonly annotationFlags?: number
  readonly password?: boolean
  readonly fieldName?: string
  readonly fieldValue?: unknown
  readonly contentsObj?: { readonly str: string }
}

/** The line of a form field or comment. The line is empty for a blank, hidden or password field, and for a hidden comment. */
function lineOf({ subtype, annotationFlags = 0, password, fieldName, fieldValue, contentsObj }: Mark): string {
  if ((annotationFlags & hiddenFlag) !== 0 || password === true || subtype === 'Popup') return ''
  if (subtype !== 'Widget') return contentsObj?.str ? `[comment: ${contentsObj.str}]` : ''
  const values = [fieldValue].flat().filter((value) => typeof value === 'string' && value !== '')
  return values.length === 0 ? '' : `[field ${fieldName}: ${values.join(', ')}]`
}

interface TextPart {
  readonly items: readonly { readonly str?: string; readonly hasEOL?: boolean }[]
}
