import { WorkspaceError } from '@ws/core'
import { concurrency } from '@ws/core/adapter'
import { FileScan, type Gap, type LineHit, type LongLine, type ScanResult } from './file-scan.ts'
import { compilePattern, type PatternOptions } from './pattern.ts'

/** Number of bytes to decode at once from a file in memory. */
const blockBytes = 64 * 1024

export interface LineSearchOptions {
  /** An abort rejects the search with the signal's reason, within some milliseconds. */
  readonly signal?: AbortSignal | undefined
  readonly path?: string | undefined
  /** Called at most once for a line that was searched only in part, and once if letters may have another encoding. */
  readonly onPartial?: ((error: WorkspaceError) => void) | undefined
}

/** Finds the lines that match one pattern. A matcher has no state, so it can search several files at the same time. */
export interface LineMatcher {
  /** Yields the matching lines of a file in memory. Stopping the iteration stops the search. */
  searchBytes(bytes: Uint8Array, options?: LineSearchOptions): AsyncGenerator<LineHit, void, undefined>
  /** Yields the matching lines of a file in chunks, in constant memory. Stopping closes `chunks`; their errors pass through. */
  searchChunks(chunks: AsyncIterable<Uint8Array>, options?: LineSearchOptions): AsyncGenerator<LineHit, void, undefined>
}

/**
 * Makes a matcher for literal text, or an RE2 expression in linear time. Lets the event loop run; a thread searches overlong lines.
 *
 * Lines end with LF or CRLF, and count from 1. Invalid UTF-8 becomes U+FFFD. Handles byte order marks. Binary: a NUL in 8,192 bytes.
 * Only the first 1 MiB of a line is searched; `onPartial` reports a longer line.
 * @throws WorkspaceError `EINVAL` for an invalid or too large pattern, and during a search if one line takes more than 200 ms
 */
export function createLineMatcher(options: PatternOptions): LineMatcher {
  const pattern = compilePattern(options)
  return {
    async *searchBytes(bytes, where = {}) {
      const pace = new concurrency.Pace(where.signal)
      const scan = new FileScan(pattern, pace, gapTeller(where))
      const run = (steps: Generator<ScanResult, void, number>) => paced(steps, pace, options, where)
      for (let start = 0; start < bytes.length && !scan.binary; start += blockBytes) {
        yield* run(scan.push(bytes.subarray(start, start + blockBytes)))
      }
      yield* run(scan.finish())
    },
    async *searchChunks(chunks, where = {}) {
      const pace = new concurrency.Pace(where.signal)
      const scan = new FileScan(pattern, pace, gapTeller(where))
      const run = (steps: Generator<ScanResult, void, number>) => paced(steps, pace, options, where)
      for await (const chunk of chunks) {
        for (let start = 0; start < chunk.length && !scan.binary; start += blockBytes) {
          yield* run(scan.push(chunk.subarray(start, start + blockBytes)))
        }
        if (scan.binary) return
      }
      yield* run(scan.finish())
    },
  }
}

function gapTeller({ path, onPartial }: LineSearchOptions): (gap: Gap, line: number) => void {
  const told = new Set<Gap>()
  return (gap, line) => {
    if (told.has(gap)) return
    told.add(gap)
    const [code, reason, remedy] =
      gap === 'long-line'
        ? ([
            'EFBIG',
            `has a line of more than 1 MiB (line ${line}), of which the rest was not searched`,
            'search the rest with `grep`',
          ] as const)
        : ([
            'EINVAL',
            'is not UTF-8, so letters other than ASCII were not found in it',
            'search for a part in ASCII',
          ] as const)
    onPartial?.(new WorkspaceError({ code, operation: 'search', path, reason, remedy }))
  }
}

export function tooLargeToSearch(path: string, size: number, maxFileBytes: number): WorkspaceError {
  return new WorkspaceError({
    code: 'EFBIG',
    operation: 'search',
    path,
    reason: `has ${size} bytes, and files above ${maxFileBytes} are not searched`,
    remedy: 'search it with a command',
  })
}

async function* paced(
  steps: Generator<ScanResult, void, number>,
  pace: concurrency.Pace,
  options: PatternOptions,
  where: LineSearchOptions,
): AsyncGenerator<LineHit, void, undefined> {
  let answer = -1
  for (let next = steps.next(answer); next.done !== true; next = steps.next(answer)) {
    const step = next.value
    if (step === undefined) await pace.rest()
    else if ('longLine' in step) answer = await findFar(step, options, where)
    else yield step
    if (pace.isDue) await pace.rest()
  }
}

async function findFar(
  { longLine, line }: LongLine,
  { pattern, caseSensitive = true }: PatternOptions,
  { signal, path }: LineSearchOptions,
): Promise<number> {
  const { findInLongLine } = await import('./long-lines.ts')
  const index = await findInLongLine({ pattern, caseSensitive, line: longLine }, signal)
  if (index !== undefined) return index
  throw new WorkspaceError({
    code: 'EINVAL',
    operation: 'search',
    path,
    reason: `has a line that the pattern takes too long for (line ${line}, with ${longLine.length} characters)`,
    remedy: 'use a simpler expression, or leave the file out with a glob such as `!*.min.js`',
  })
}
