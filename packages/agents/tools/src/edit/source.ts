import { isUtf8 } from 'node:buffer'

export interface Line {
  readonly start: number
  readonly end: number
}

export type LineEnd = '\n' | '\r\n' | '\r'

const lf = 10
const cr = 13
const mark = Buffer.from('\uFEFF')

/** A content without byte order mark, with LF as line ends. A lone CR ends a line only in content without any LF. */
export class Source {
  readonly content: Buffer
  /** The content itself, if the content has no mark and only LF line ends. */
  readonly text: Buffer
  readonly markBytes: number
  readonly #isCrOnly: boolean
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

  toLf(text: string): string {
    return this.#isCrOnly ? text.replaceAll(/\r\n?/gu, '\n') : text.replaceAll('\r\n', '\n')
  }

  /** Maps an offset of the text to the content; at a CRLF, to its CR. */
  toContent(offset: number): number {
    return this.markBytes + offset + countBelow(this.#crlf, offset)
  }

  /** True if the last line lacks a line end. False for an empty text. */
  get isOpen(): boolean {
    return this.text.length > 0 && this.text.at(-1) !== lf
  }

  get lineCount(): number {
    return this.#lineStarts().length
  }

  line(index: number): Line {
    const starts = this.#lineStarts()
    const next = starts[index + 1]
    const end = next === undefined ? this.text.length - (this.isOpen ? 0 : 1) : next - 1
    return { start: starts[index] ?? this.text.length, end: Math.max(end, 0) }
  }

  /** The number of the line at an offset, from 1. Cheap for ascending offsets. */
  lineNumber(offset: number): number {
    let { offset: from, line } = this.#lastLine
    if (offset < from) [from, line] = [0, 1]
    for (let at = this.text.indexOf(lf, from); at !== -1 && at < offset; at = this.text.indexOf(lf, at + 1)) line += 1
    this.#lastLine = { offset, line }
    return line
  }

  /** The line end at or after an offset, else the last line end; `undefined` without any. */
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
