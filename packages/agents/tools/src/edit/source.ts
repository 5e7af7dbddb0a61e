import { isUtf8 } from 'node:buffer'

/** A line of a text: its bytes without the LF. */
export interface Line {
  readonly start: number
  readonly end: number
}

export type LineEnd = '\n' | '\r\n' | '\r'

const lf = 10
const cr = 13
const mark = Buffer.from('\uFEFF')

/**
 * A content as edits see it: without a byte order mark, and with LF for each line end. A way leads back to its own bytes. A
 * lone CR ends a line only where the content has no LF at all.
 */
export class Source {
  readonly content: Buffer
  /** The content itself where it has neither a mark nor another line end than LF. */
  readonly text: Buffer
  /** Bytes of the byte order mark in front of the text: 0 or 3. */
  readonly markBytes: number
  readonly #isCrOnly: boolean
  /** The offsets in the text of those LF that have a CR in the content. */
  readonly #crlf: readonly number[]
  #starts: readonly number[] | undefined
  #isUtf8: boolean | undefined
  #lastLine = { offset: 0, line: 1 }
  #lastEnd = { from: 0, at: -1 }
  #finalLf: number | undefined

  constructor(given: Uint8Array) {
    this.content = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
    this.markBytes = this.content.subarray(0, mark.length).equals(mark) ? mark.length : 0
    const bytes = this.content.subarray(this.markBytes)
    const hasCr = bytes.includes(cr)
    this.#isCrOnly = hasCr && !bytes.includes(lf)
    const { text, crlf } = this.#isCrOnly ? withLfForCr(bytes) : hasCr ? withoutCr(bytes) : { text: bytes, crlf: [] }
    this.text = text
    this.#crlf = crlf
  }

  get isUtf8(): boolean {
    this.#isUtf8 ??= isUtf8(this.content)
    return this.#isUtf8
  }

  /** The text of an edit, with LF for each line end. */
  toLf(text: string): string {
    return this.#isCrOnly ? text.replaceAll(/\r\n?/gu, '\n') : text.replaceAll('\r\n', '\n')
  }

  /** The offset in the content of an offset in the text. In front of a CRLF it lies in front of its CR. */
  toContent(offset: number): number {
    return this.markBytes + offset + countBelow(this.#crlf, offset)
  }

  /** Whether the last line has no line end. False for an empty text. */
  get isOpen(): boolean {
    return this.text.length > 0 && this.text.at(-1) !== lf
  }

  /** The number of lines. Behind a final LF there is no further line. */
  get lineCount(): number {
    return this.#lineStarts().length
  }

  /** A line of the text, counted from 0. */
  line(index: number): Line {
    const starts = this.#lineStarts()
    const next = starts[index + 1]
    const end = next === undefined ? this.text.length - (this.isOpen ? 0 : 1) : next - 1
    return { start: starts[index] ?? this.text.length, end: Math.max(end, 0) }
  }

  /** The number of the line that an offset of the text lies in, from 1. Ascending offsets are counted once. */
  lineNumber(offset: number): number {
    let { offset: from, line } = this.#lastLine
    if (offset < from) [from, line] = [0, 1]
    for (let at = this.text.indexOf(lf, from); at !== -1 && at < offset; at = this.text.indexOf(lf, at + 1)) line += 1
    this.#lastLine = { offset, line }
    return line
  }

  /** The end of the line in which an offset of the text lies, else the last line end; `undefined` without any. */
  lineEndAt(offset: number): LineEnd | undefined {
    this.#finalLf ??= this.text.lastIndexOf(lf)
    if (this.#finalLf === -1) return undefined
    if (this.#isCrOnly) return '\r'
    const { from, at: before } = this.#lastEnd
    const isSame = from <= offset && offset <= before
    const at = offset > this.#finalLf ? this.#finalLf : isSame ? before : this.text.indexOf(lf, offset)
    this.#lastEnd = { from: Math.min(offset, at), at }
    return this.#crlf[countBelow(this.#crlf, at)] === at ? '\r\n' : '\n'
  }

  #lineStarts(): readonly number[] {
    if (this.#starts !== undefined) return this.#starts
    const starts: number[] = []
    for (let at = 0; at < this.text.length; ) {
      starts.push(at)
      const end = this.text.indexOf(lf, at)
      at = end === -1 ? this.text.length : end + 1
    }
    this.#starts = starts
    return starts
  }
}

function withLfForCr(bytes: Buffer): { readonly text: Buffer; readonly crlf: readonly number[] } {
  const text = Buffer.from(bytes)
  for (let at = text.indexOf(cr); at !== -1; at = text.indexOf(cr, at + 1)) text[at] = lf
  return { text, crlf: [] }
}

function withoutCr(bytes: Buffer): { readonly text: Buffer; readonly crlf: readonly number[] } {
  const removed: number[] = []
  for (let at = bytes.indexOf('\r\n'); at !== -1; at = bytes.indexOf('\r\n', at + 2)) removed.push(at)
  if (removed.length === 0) return { text: bytes, crlf: [] }
  const text = Buffer.allocUnsafe(bytes.length - removed.length)
  let from = 0
  let to = 0
  for (const at of removed) {
    to += bytes.copy(text, to, from, at)
    from = at + 1
  }
  bytes.copy(text, to, from)
  return { text, crlf: removed.map((at, index) => at - index) }
}

/** How many of the ascending numbers are less than a limit. */
function countBelow(ascending: readonly number[], limit: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ascending[middle] ?? 0) < limit) low = middle + 1
    else high = middle
  }
  return low
}
