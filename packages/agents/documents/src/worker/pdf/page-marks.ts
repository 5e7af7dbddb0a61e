import type { PDFPageProxy } from 'unpdf/pdfjs'

const hiddenFlags = 2 + 32
/** Values of check boxes that say no more than that the box is checked. */
const plainValues = /^(?:yes|on|true|1|checked)$/iu
const unread = '[the fields and comments of this page cannot be read]'

interface Mark {
  readonly subtype?: string | null
  readonly annotationFlags?: number
  readonly contentsObj?: { readonly str: string }
  readonly richText?: { readonly str: string }
  readonly titleObj?: { readonly str: string }
  /** The text of the page below a highlight. */
  readonly overlaidText?: string
  /** The lines of free text. */
  readonly textContent?: readonly string[]
  readonly inReplyTo?: string | null
  readonly file?: { readonly filename: string }
  readonly fieldType?: string
  readonly fieldName?: string
  readonly fieldValue?: unknown
  readonly password?: boolean
  readonly checkBox?: boolean
  readonly radioButton?: boolean
  readonly exportValue?: string
  readonly buttonValue?: string | null
  readonly options?: readonly { readonly exportValue: unknown; readonly displayValue: unknown }[]
}

/** The lines about form fields, comments and highlights of a page, each marked as such. */
export async function pageMarks(page: PDFPageProxy): Promise<string[]> {
  let all: readonly Mark[]
  try {
    all = (await page.getAnnotations()) as readonly Mark[]
  } catch {
    return [unread]
  }
  const seen = all.filter(
    ({ subtype, annotationFlags = 0 }) => (annotationFlags & hiddenFlags) === 0 && subtype !== 'Popup',
  )
  const groups = Map.groupBy(
    seen.filter(({ radioButton }) => radioButton === true),
    ({ fieldName }) => fieldName,
  )
  return seen.flatMap((mark) => {
    if (mark.subtype !== 'Widget') return commentLine(mark)
    if (mark.radioButton !== true) return fieldLine(mark)
    const group = groups.get(mark.fieldName) ?? []
    return group[0] === mark ? [radioLine(group)] : []
  })
}

function fieldLine({
  fieldType,
  fieldName,
  fieldValue,
  password,
  checkBox,
  exportValue = '',
  options = [],
}: Mark): string[] {
  if (password === true) return []
  if (checkBox === true) {
    const state = fieldValue === exportValue && exportValue !== 'Off' ? 'checked' : 'not checked'
    return [`[check box ${fieldName}${plainValues.test(exportValue) ? '' : ` (${exportValue})`}: ${state}]`]
  }
  if (fieldType === 'Sig') return [`[signature field ${fieldName}]`]
  const kind = fieldType === 'Ch' ? 'choice' : 'field'
  if (kind === 'field' && fieldType !== 'Tx') return []
  const values = [fieldValue]
    .flat()
    .filter((value) => typeof value === 'string' && value !== '')
    .map((value) => options.find((one) => one.exportValue === value)?.displayValue ?? value)
  return [values.length === 0 ? `[blank ${kind} ${fieldName}]` : `[${kind} ${fieldName}: ${values.join(', ')}]`]
}

function radioLine(group: readonly Mark[]): string {
  const [{ fieldName, fieldValue } = {}] = group
  const chosen = group.some(({ buttonValue }) => buttonValue === fieldValue)
  const of = group.map(({ buttonValue }) => buttonValue).join(', ')
  return chosen ? `[choice ${fieldName}: ${String(fieldValue)} (of ${of})]` : `[blank choice ${fieldName} (of ${of})]`
}

const highlights: Readonly<Record<string, string>> = {
  Highlight: 'highlight',
  Underline: 'underline',
  Squiggly: 'underline',
  StrikeOut: 'deletion',
}

function commentLine({
  subtype,
  contentsObj,
  richText,
  titleObj,
  overlaidText = '',
  textContent = [],
  inReplyTo,
  file,
}: Mark): string[] {
  const text = contentsObj?.str || richText?.str || textContent.join('\n')
  const by = titleObj?.str ? ` by ${titleObj.str}` : ''
  const said = text === '' ? '' : `: ${text}`
  if (file !== undefined) return [`[attached file ${file.filename}${by}${said}]`]
  const kind = highlights[subtype ?? '']
  const quoted = overlaidText.replaceAll(/\s+/gu, ' ').trim()
  if (kind !== undefined && quoted !== '') return [`[${kind} of "${quoted}"${by}${said}]`]
  const name = kind ?? (subtype === 'FreeText' ? 'free text' : inReplyTo ? 'reply' : 'comment')
  return text === '' ? [] : [`[${name}${by}${said}]`]
}
