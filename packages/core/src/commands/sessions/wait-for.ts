import { virtualError } from '../../mount/errors.ts'
import type { OutputLog } from './output-log.ts'
import type { PatternMatch, WaitForOptions } from './types.ts'

const defaultTimeout = 30_000

export interface Waited {
  readonly log: OutputLog
  /** Calls whenever something has come, and once at the end. */
  readonly onChange: (listener: () => void) => () => void
  readonly ended: () => boolean
  /** Where to look from; it can move on while start-up files still print. */
  readonly begin: () => number
}

/** @throws WorkspaceError `ETIMEDOUT`, `ECLOSED`, `EINVAL`; `signal.reason` */
export async function waitFor(
  { log, onChange, ended, begin }: Waited,
  pattern: string | RegExp,
  { timeout = defaultTimeout, signal }: WaitForOptions,
): Promise<PatternMatch> {
  const { find, reach } = finder(pattern)
  signal?.throwIfAborted()
  return await new Promise<PatternMatch>((resolve, reject) => {
    let pending: ReturnType<typeof setTimeout> | undefined
    /** The byte offset up to which all has been looked at. */
    let seen = 0
    const stop = (): void => {
      clearTimeout(timer)
      clearTimeout(pending)
      unsubscribe()
      signal?.removeEventListener('abort', onAbort)
    }
    const fail = (error: unknown): void => {
      stop()
      reject(error)
    }
    const onAbort = (): void => fail(signal?.reason)
    const check = (): void => {
      pending = undefined
      const since = begin()
      const from = Math.max(since, seen - reach)
      const { text, next, dropped } = log.read(from)
      const start = from + dropped
      // A text that is cut off at its beginning could begin with a part of a character, and `^` does not match there.
      const first = from > since ? Math.min(4, text.length) : 0
      const known = text.length - log.read(Math.max(from, seen)).text.length
      const { found, end } = find(text, first, known)
      if (found !== undefined) {
        stop()
        const { match, groups, at } = found
        const matchStart = log.offsetOf(start, at)
        resolve({
          match,
          groups,
          before: log.textUpTo(since, matchStart),
          next: log.offsetOf(start, at + match.length),
        })
      } else if (end < text.length) {
        seen = log.offsetOf(start, end)
        pending = setTimeout(check, 0)
      } else {
        seen = next
        if (ended())
          fail(waitError('ECLOSED', 'the session ended before its output had it', 'read the output to see why'))
      }
    }
    // Many chunks at once are looked at once.
    const unsubscribe = onChange(() => {
      pending ??= setTimeout(check, 0)
    })
    const timer = setTimeout(() => {
      const reason = `the output did not have it within ${timeout} ms`
      const hint = pattern instanceof RegExp ? `; a RegExp finds what begins in the last ${regExpReach} bytes` : ''
      const remedy = `read the output to see what came instead, or wait longer with \`timeout\`${hint}`
      fail(waitError('ETIMEDOUT', reason, remedy))
    }, timeout)
    signal?.addEventListener('abort', onAbort, { once: true })
    check()
  })
}

interface Found {
  readonly match: string
  readonly groups: readonly (string | undefined)[]
  readonly at: number
}

interface Finder {
  /**
   * Looks for what begins at `first` or behind, in a text that was looked at up to `known`. `end` is as far as it got
   * before others should have their turn.
   */
  find(text: string, first: number, known: number): { readonly found: Found | undefined; readonly end: number }
  /** Bytes before what is new in which a match may begin. */
  readonly reach: number
}

/** Bytes before the end of the output in which a match of a RegExp may begin: some take the square of that in time. */
const regExpReach = 4096
/** Characters that come to a RegExp at once, at most. */
const regExpPiece = 2048

function finder(pattern: string | RegExp): Finder {
  if (pattern instanceof RegExp) {
    // `y` would remember where the last search ended, and `g` lets the search begin within the text.
    const own = new RegExp(pattern.source, `${pattern.flags.replace(/[gy]/g, '')}g`)
    return { reach: regExpReach, find: (text, first, known) => inPieces(own, text, first, known) }
  }
  if (typeof pattern !== 'string' || pattern === '') {
    throw waitError('EINVAL', 'the pattern must be a RegExp, or a string that is not empty', 'pass what to wait for')
  }
  return {
    // Four bytes more, since a character could be cut off at the beginning.
    reach: new TextEncoder().encode(pattern).length + 4,
    find(text, first) {
      const at = text.indexOf(pattern, first)
      return { found: at < 0 ? undefined : { match: pattern, groups: [], at }, end: text.length }
    },
  }
}

/**
 * As if the output had come in pieces of whole lines, for any chunks: the time for each is bounded by its length. A
 * line that is longer than a piece is cut.
 */
function inPieces(own: RegExp, text: string, first: number, known: number): ReturnType<Finder['find']> {
  const started = performance.now()
  let end = Math.max(first, known)
  do {
    const most = Math.min(end + regExpPiece, text.length)
    const line = most < text.length ? text.lastIndexOf('\n', most - 1) + 1 : most
    end = line > end ? line : most
    own.lastIndex = Math.max(first, end - regExpReach)
    const found = own.exec(text.slice(0, end))
    if (found !== null) return { found: { match: found[0], groups: found.slice(1), at: found.index }, end }
  } while (end < text.length && performance.now() - started < 5)
  return { found: undefined, end }
}

function waitError(code: 'ETIMEDOUT' | 'ECLOSED' | 'EINVAL', reason: string, remedy: string): Error {
  return virtualError({ code, operation: 'waitFor', reason, remedy })
}
