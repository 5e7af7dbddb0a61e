import type { Pace } from '@ws/core/adapter'
import type { Pattern } from './pattern.ts'
import { columnAt, cutLine } from './text.ts'

/** A file with a NUL in so many first bytes is binary, and is not searched. */
export const binarySniffBytes = 8192

/** Bytes of one line that are searched; the rest is not looked at, so that memory stays constant. */
export const maxLineBytes = 1024 * 1024

/** One matching line. */
export interface LineHit {
  /** From 1. */
  readonly line: number
  /** Characters (Unicode code points) from 1, of the first match in the line. */
  readonly column: number
  /** The line without its end, cut at 2,000 characters. */
  readonly text: string
}

/**
 * A step of a search: a line that matches; or a line that would hold the event loop, to be searched elsewhere: the
 * caller goes on with the index of its first match, or -1. `undefined`: the event loop should have its turn.
 */
export type Step = LineHit | LongLine | undefined

export interface LongLine {
  readonly longLine: string
  /** From 1. */
  readonly line: number
}

const lineFeed = 10
const byteOrderMark = 0xfeff

/** The search of one file, chunk by chunk. A chunk may be reused once what `push` gave has been iterated. */
export class FileScan {
  readonly #pattern: Pattern
  readonly #pace: Pace
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  /** Bytes that wait: at the start for the sniff, later for the end of their line. */
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #sniffed = false
  #binary = false
  #line = 1

  constructor(pattern: Pattern, pace: Pace) {
    this.#pattern = pattern
    this.#pace = pace
  }

  /** A NUL was among the first {@link binarySniffBytes} bytes: nothing is found, and no more chunks are needed. */
  get binary(): boolean {
    return this.#binary
  }

  *push(given: Uint8Array): Generator<Step, void, number> {
    let chunk = given
    if (!this.#sniffed) {
      this.#hold(chunk)
      if (this.#waitingBytes < binarySniffBytes) return
      chunk = this.#sniff()
    }
    if (this.#binary) return
    if (this.#waitingBytes > 0) {
      const rest = chunk.indexOf(lineFeed) + 1
      this.#hold(rest === 0 ? chunk : chunk.subarray(0, rest))
      if (rest === 0) return
      yield* this.#search(this.#take())
      chunk = chunk.subarray(rest)
    }
    const end = chunk.lastIndexOf(lineFeed) + 1
    this.#hold(chunk.subarray(end))
    if (end > 0) yield* this.#search(chunk.subarray(0, end))
  }

  /** The end of the file: searches a last line without an end. */
  *finish(): Generator<Step, void, number> {
    const rest = this.#sniffed ? this.#take() : this.#sniff()
    if (!this.#binary && rest.length > 0) yield* this.#search(rest)
  }

  #sniff(): Uint8Array {
    const bytes = this.#take()
    this.#sniffed = true
    this.#binary = bytes.subarray(0, binarySniffBytes).includes(0)
    return bytes
  }

  #hold(bytes: Uint8Array): void {
    const kept = bytes.slice(0, maxLineBytes - this.#waitingBytes)
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

  /** Searches whole lines; the last one may lack its end. */
  *#search(bytes: Uint8Array): Generator<Step, void, number> {
    let text = this.#decoder.decode(bytes)
    if (this.#line === 1 && text.charCodeAt(0) === byteOrderMark) text = text.slice(1)
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
      if (index >= 0) yield { line: this.#line, column: columnAt(line, index), text: cutLine(line) }
      this.#line += 1
      start = end + 1
      if (this.#pace.isDue) yield undefined
    }
    if (start >= text.length) return
    this.#skipLines(text, start, text.length)
    // an over-long line was cut before its end
    if (!text.endsWith('\n')) this.#line += 1
  }

  /** The pattern's `find`, with a turn for others in between. */
  *#find(text: string, from: number): Generator<Step, number, number> {
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

  /** Counts the lines that end between the two, and gives the start of the line that `to` is in. */
  #skipLines(text: string, from: number, to: number): number {
    let start = from
    for (let feed = text.indexOf('\n', from); feed >= 0 && feed < to; feed = text.indexOf('\n', feed + 1)) {
      this.#line += 1
      start = feed + 1
    }
    return start
  }
}
