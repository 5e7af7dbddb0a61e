import type { concurrency, SearchHit } from '@ws/core/adapter'
import type { Pattern } from './pattern.ts'
import { columnAt, windowOf } from './text.ts'

/** Number of first bytes in which a NUL makes a file binary. The search skips binary files. */
export const binarySniffBytes = 8192

/** Maximum bytes of a line that are searched, for constant memory. */
export const maxLineBytes = 1024 * 1024

export interface LineHit {
  /** Line number, from 1. */
  readonly line: number
  /** Position of the first match in the line, in Unicode code points from 1. */
  readonly column: number
  /** The line without its end. For a longer line: 2,000 characters around the match. */
  readonly text: string
  /** Set if `text` is only a part of the line. */
  readonly part?: NonNullable<SearchHit['part']>
}

/**
 * A match, or a line whose search would block the event loop. A thread searches such a line: pass the index of its match, or -1, to `next`.
 * `undefined` means that the event loop should run.
 */
export type ScanResult = LineHit | LongLine | undefined

export interface LongLine {
  readonly longLine: string
  /** Line number, from 1. */
  readonly line: number
}

const lineFeed = 10
const byteOrderMark = 0xfeff
const encoder = new TextEncoder()

/** A part that a scan cannot search: the end of a long line, or letters in an encoding other than UTF-8. */
export type Gap = 'long-line' | 'encoding'

/** The scan of one file. The caller may reuse a chunk after iterating the result of `push`. */
export class FileScan {
  readonly #pattern: Pattern
  readonly #pace: concurrency.Pace
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  /** Pending bytes. They are kept until the check for NUL, and later until the end of their line. */
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #sniffed = false
  #binary = false
  #line = 1
  /** The number of pushed bytes, and the offset of the first pending byte. */
  #pushed = 0
  #waitingAt = 0
  #utf16: InstanceType<typeof TextDecoder> | undefined
  readonly #onGap: (gap: Gap, line: number) => void

  constructor(pattern: Pattern, pace: concurrency.Pace, onGap: (gap: Gap, line: number) => void) {
    this.#pattern = pattern
    this.#pace = pace
    this.#onGap = onGap
  }

  /** True if the first {@link binarySniffBytes} bytes contain a NUL. The scan then needs no more chunks. */
  get binary(): boolean {
    return this.#binary
  }

  *push(given: Uint8Array): Generator<ScanResult, void, number> {
    let chunk = given
    let at = this.#pushed
    this.#pushed += given.length
    if (!this.#sniffed) {
      this.#hold(chunk, at)
      if (this.#waitingBytes < binarySniffBytes) return
      chunk = this.#sniff()
      at = 0
    } else if (this.#utf16 !== undefined) chunk = encoder.encode(this.#utf16.decode(chunk, { stream: true }))
    if (this.#binary) return
    if (this.#waitingBytes > 0) {
      const rest = chunk.indexOf(lineFeed) + 1
      this.#hold(rest === 0 ? chunk : chunk.subarray(0, rest), at)
      if (rest === 0) return
      yield* this.#search(this.#take(), this.#waitingAt)
      chunk = chunk.subarray(rest)
      at += rest
    }
    const end = chunk.lastIndexOf(lineFeed) + 1
    this.#hold(chunk.subarray(end), at + end)
    if (end > 0) yield* this.#search(chunk.subarray(0, end), at)
  }

  *finish(): Generator<ScanResult, void, number> {
    const rest = this.#sniffed ? this.#take() : this.#sniff()
    if (!this.#binary && rest.length > 0) yield* this.#search(rest, this.#waitingAt)
  }

  #sniff(): Uint8Array {
    const given = this.#take()
    this.#sniffed = true
    const [first, second] = given
    // UTF-32 begins with the byte order mark of UTF-16. Two NULs follow, so the file is binary.
    if (first === 0xff && second === 0xfe) this.#utf16 = new TextDecoder('utf-16le')
    if (first === 0xfe && second === 0xff) this.#utf16 = new TextDecoder('utf-16be')
    const bytes = this.#utf16 === undefined ? given : encoder.encode(this.#utf16.decode(given, { stream: true }))
    this.#binary = bytes.subarray(0, binarySniffBytes).includes(0)
    return bytes
  }

  #hold(bytes: Uint8Array, at: number): void {
    const kept = bytes.slice(0, maxLineBytes - this.#waitingBytes)
    if (kept.length < bytes.length) this.#onGap('long-line', this.#line)
    if (this.#waitingBytes === 0) this.#waitingAt = at
    if (kept.length === 0) return
    this.#waiting.push(kept)
    this.#waitingBytes += kept.length
  }

  #take(): Uint8Array {
    const taken = new Uint8Array(this.#waitingBytes)
    let offset = 0
    for (const bytes of this.#waiting) {
      taken.set(bytes, offset)
      offset += bytes.length
    }
    this.#waiting = []
    this.#waitingBytes = 0
    return taken
  }

  *#search(bytes: Uint8Array, at: number): Generator<ScanResult, void, number> {
    let text = this.#decoder.decode(bytes)
    if (this.#pattern.beyondAscii && text.includes('\uFFFD')) this.#onGap('encoding', this.#line)
    const marked = this.#line === 1 && text.charCodeAt(0) === byteOrderMark
    if (marked) text = text.slice(1)
    let start = 0
    while (start < text.length) {
      let match: number | undefined
      if (this.#pattern.staysInLine) {
        match = yield* this.#find(text, start)
        if (match < 0) break
        start = this.#skipLines(text, start, match)
      }
      const feed = text.indexOf('\n', start)
      const end = feed < 0 ? text.length : feed
      const line = text.slice(start, feed > start && text[feed - 1] === '\r' ? feed - 1 : end)
      const index = match === undefined ? yield* this.#find(line, 0) : match - start
      if (index >= 0) {
        const { text: shown, start: from } = windowOf(line, index)
        const offset = (): number | undefined => this.#offsetOf(text.slice(0, start + index), marked ? at + 3 : at)
        const part = shown === line ? {} : { part: { column: columnAt(line, from), offset: offset() } }
        yield { line: this.#line, column: columnAt(line, index), text: shown, ...part }
      }
      this.#line += 1
      start = end + 1
      if (this.#pace.isDue) yield undefined
    }
    if (start >= text.length) return
    this.#skipLines(text, start, text.length)
    // an overlong line was cut, so its text has no line end
    if (!text.endsWith('\n')) this.#line += 1
  }

  /** Returns the byte offset after a text; `undefined` if the text's number of bytes is unknown. */
  #offsetOf(text: string, at: number): number | undefined {
    const isKnown = this.#utf16 === undefined && !text.includes('\uFFFD')
    return isKnown ? at + encoder.encode(text).length : undefined
  }

  /** Runs the pattern's `find` in parts, and lets other work run between them. */
  *#find(text: string, from: number): Generator<ScanResult, number, number> {
    const { find, atOnce, matchLength } = this.#pattern
    if (text.length - from <= atOnce) return find(text, from)
    if (matchLength === undefined) return yield { longLine: text, line: this.#line }
    for (let start = from; start < text.length; start += atOnce) {
      const index = find(text.slice(start, start + atOnce + matchLength), 0)
      if (index >= 0) return start + index
      if (this.#pace.isDue) yield undefined
    }
    return -1
  }

  /** Counts line ends up to `to`. Returns the start of the line at `to`. */
  #skipLines(text: string, from: number, to: number): number {
    let start = from
    for (let feed = text.indexOf('\n', from); feed >= 0 && feed < to; feed = text.indexOf('\n', feed + 1)) {
      this.#line += 1
      start = feed + 1
    }
    return start
  }
}
