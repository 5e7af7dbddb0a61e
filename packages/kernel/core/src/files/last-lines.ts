import { Pace } from '../adapter/pace.ts'
import { longLineError, maxLineLength, maxWindowLength } from './lines.ts'
import type { LineWindow } from './lines.ts'
import { notTextError } from './text.ts'

const feed = 10
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** Bytes that are enough for any window: a UTF-16 unit takes at most three bytes of UTF-8. */
const mostBytes = 3 * (maxWindowLength + maxLineLength) + 4

export interface LastLinesOptions {
  readonly last: number
  readonly path: string
  readonly signal?: AbortSignal | undefined
}

/** Reads the last lines of a stream, with the memory of one window. @throws as {@link readWindow}, and `EINVAL` for invalid UTF-8 */
export async function readLastLines(
  stream: AsyncIterable<Uint8Array>,
  { last, path, signal }: LastLinesOptions,
): Promise<LineWindow> {
  const pace = new Pace(signal)
  const tail = new Tail(last)
  for await (const chunk of stream) {
    tail.take(chunk)
    if (pace.isDue) await pace.rest()
  }
  return tail.end(path, pace)
}

/** The last chunks of a stream, enough for the requested lines. */
class Tail {
  readonly #last: number
  readonly #chunks: { readonly bytes: Uint8Array; readonly feeds: number }[] = []
  #bytes = 0
  #feeds = 0
  /** Number of line ends in dropped chunks, and whether a chunk was dropped. */
  #dropped = 0
  #hasDropped = false

  constructor(last: number) {
    this.#last = last
  }

  take(bytes: Uint8Array): void {
    const feeds = countFeeds(bytes)
    this.#chunks.push({ bytes, feeds })
    this.#bytes += bytes.length
    this.#feeds += feeds
    for (let [first] = this.#chunks; first !== undefined && this.#canDrop(first); [first] = this.#chunks) {
      this.#chunks.shift()
      this.#bytes -= first.bytes.length
      this.#feeds -= first.feeds
      this.#dropped += first.feeds
      this.#hasDropped = true
    }
  }

  /** Returns whether the chunks after the first are enough. */
  #canDrop({ bytes, feeds }: { readonly bytes: Uint8Array; readonly feeds: number }): boolean {
    return this.#feeds - feeds > this.#last || this.#bytes - bytes.length > mostBytes
  }

  async end(path: string, pace: Pace): Promise<LineWindow> {
    const bytes = joined(this.#chunks, this.#bytes)
    const ended = bytes.length === 0 || bytes.at(-1) === feed
    const total = this.#dropped + this.#feeds + (ended ? 0 : 1)
    // The beginning of the first kept line may be missing.
    const first = bytes.indexOf(feed)
    const least = this.#hasDropped ? (first < 0 ? bytes.length + 1 : first + 1) : 0
    const lines: string[] = []
    let length = 0
    let end = ended ? bytes.length - 1 : bytes.length
    while (lines.length < this.#last && length < maxWindowLength && end >= least) {
      const start = end === 0 ? 0 : bytes.lastIndexOf(feed, end - 1) + 1
      const line = start === end ? '' : decode(bytes.subarray(start, end), path)
      if (line.length > maxLineLength) throw longLineError(path, total - lines.length)
      lines.push(line.endsWith('\r') ? line.slice(0, -1) : line)
      length += line.length + 1
      end = start - 1
      if (lines.length % 1000 === 0 && pace.isDue) await pace.rest()
    }
    // There is room for more lines, but dropped bytes belong to the next line, which is therefore too long.
    if (this.#hasDropped && lines.length < this.#last && length < maxWindowLength)
      throw longLineError(path, total - lines.length)
    return { lines: lines.toReversed(), offset: total - lines.length }
  }
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw notTextError(path)
  }
}

function countFeeds(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(feed); at >= 0; at = bytes.indexOf(feed, at + 1)) count += 1
  return count
}

function joined(chunks: readonly { readonly bytes: Uint8Array }[], length: number): Uint8Array {
  const all = new Uint8Array(length)
  let at = 0
  for (const { bytes } of chunks) {
    all.set(bytes, at)
    at += bytes.length
  }
  return all
}
