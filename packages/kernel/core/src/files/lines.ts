import { Pace } from '../adapter/pace.ts'
import { virtualError } from '../mount/errors.ts'
import { notTextError } from './text.ts'

/** Maximum length of a returned line, in UTF-16 units. */
export const maxLineLength = 1_048_576
/** Length in UTF-16 units at which a window ends before its limit of lines. */
export const maxWindowLength = 8_388_608

export interface LineWindow {
  readonly lines: readonly string[]
  readonly offset: number
  readonly nextOffset?: number | undefined
}

export interface WindowOptions {
  readonly offset: number
  readonly limit: number
  readonly path: string
  readonly signal?: AbortSignal | undefined
}

/** Reads a window of lines from a stream, and keeps only the window. @throws WorkspaceError `EFBIG`: line above {@link maxLineLength} */
export async function readWindow(
  stream: AsyncIterable<Uint8Array>,
  { offset, limit, path, signal }: WindowOptions,
): Promise<LineWindow> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const pace = new Pace(signal)
  const window = new Window(offset, limit, path)
  try {
    for await (const chunk of stream) {
      window.take(decoder.decode(chunk, { stream: true }))
      if (window.goesOn) return { lines: window.lines, offset, nextOffset: offset + window.lines.length }
      if (pace.isDue) await pace.rest()
    }
    window.take(decoder.decode())
  } catch (error) {
    if (error instanceof TypeError) throw notTextError(path)
    throw error
  }
  window.end()
  return { lines: window.lines, offset: Math.min(offset, window.count) }
}

class Window {
  readonly lines: string[] = []
  count = 0
  goesOn = false
  readonly #offset: number
  readonly #limit: number
  readonly #path: string
  /** The text of the unfinished line within the window, and whether this line has begun. */
  #line = ''
  #hasBegun = false
  #length = 0

  constructor(offset: number, limit: number, path: string) {
    this.#offset = offset
    this.#limit = limit
    this.#path = path
  }

  take(text: string): void {
    let start = 0
    while (start < text.length) {
      const full = this.lines.length === this.#limit || this.#length >= maxWindowLength
      if (full && this.count >= this.#offset) {
        this.goesOn = true
        return
      }
      const feed = text.indexOf('\n', start)
      const end = feed < 0 ? text.length : feed
      if (this.count >= this.#offset) this.#add(text.slice(start, end))
      this.#hasBegun = true
      if (feed < 0) return
      this.end()
      start = feed + 1
    }
  }

  end(): void {
    if (!this.#hasBegun) return
    if (this.count >= this.#offset) {
      this.lines.push(this.#line.endsWith('\r') ? this.#line.slice(0, -1) : this.#line)
      this.#length += this.#line.length
    }
    this.count += 1
    this.#line = ''
    this.#hasBegun = false
  }

  #add(text: string): void {
    if (this.#line.length + text.length > maxLineLength) throw longLineError(this.#path, this.count + 1)
    this.#line += text
  }
}

/** @param line from 1 */
export function longLineError(path: string, line: number): Error {
  return virtualError({
    code: 'EFBIG',
    operation: 'read',
    path,
    reason: `has a line of more than ${maxLineLength} characters (line ${line})`,
    remedy: 'read a part of it by `read` with `range`, or all of it by `readStream`',
  })
}
