import { FileScan, type LineHit } from './file-scan.ts'
import { compilePattern, type PatternOptions } from './pattern.ts'
import { columnAt } from './text.ts'

/** Bytes that a file held in memory is searched in at a time: so much of it is decoded at once. */
const blockBytes = 64 * 1024

/** Finds the lines of files that match one pattern. Holds no state: one serves any number of files, also at once. */
export interface LineMatcher {
  /** The matching lines of a file that is in memory, one by one: whoever stops early has searched no further. */
  searchBytes(bytes: Uint8Array): Generator<LineHit, void, undefined>
  /**
   * The matching lines of a file that comes in chunks of any size, with constant memory. Leaving the loop early ends the
   * chunks too (`return()`); their errors pass through.
   */
  searchChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LineHit, void, undefined>
  /** The column, in characters from 1, of the first match in one line (without its end), or `undefined`. */
  matchLine(line: string): number | undefined
}

/**
 * A matcher for one pattern: literal text, or an RE2 regular expression in linear time.
 *
 * Lines end with LF or CRLF, and are numbered from 1. Bytes that are no UTF-8 are U+FFFD, a byte order mark at the start is
 * no part of the first line. Files with a NUL in their first 8,192 bytes are binary and match nothing. What lies behind
 * 1 MiB in one line is not searched.
 *
 * @throws WorkspaceError `EINVAL` for an invalid pattern, with what is wrong and where.
 */
export function createLineMatcher(options: PatternOptions): LineMatcher {
  const pattern = compilePattern(options)
  return {
    *searchBytes(bytes) {
      const scan = new FileScan(pattern)
      for (let start = 0; start < bytes.length && !scan.binary; start += blockBytes) {
        yield* scan.push(bytes.subarray(start, start + blockBytes))
      }
      yield* scan.finish()
    },
    async *searchChunks(chunks) {
      const scan = new FileScan(pattern)
      for await (const chunk of chunks) {
        for (let start = 0; start < chunk.length && !scan.binary; start += blockBytes) {
          yield* scan.push(chunk.subarray(start, start + blockBytes))
        }
        if (scan.binary) return
      }
      yield* scan.finish()
    },
    matchLine(line) {
      const index = pattern.find(line, 0)
      return index < 0 ? undefined : columnAt(line, index)
    },
  }
}
