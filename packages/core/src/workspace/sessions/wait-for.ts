import { virtualError } from '../errors.ts'
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
  const find = finder(pattern)
  signal?.throwIfAborted()
  return await new Promise<PatternMatch>((resolve, reject) => {
    let pending: ReturnType<typeof setTimeout> | undefined
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
      const { text, dropped } = log.read(since)
      const found = find(text)
      if (found !== undefined) {
        stop()
        const { match, groups, at } = found
        resolve({
          match,
          groups,
          before: text.slice(0, at),
          next: log.offsetOf(since + dropped, at + match.length),
        })
      } else if (ended()) {
        fail(waitError('ECLOSED', 'the session ended before its output had it', 'read the output to see why'))
      }
    }
    // Many chunks at once are looked at once.
    const unsubscribe = onChange(() => {
      pending ??= setTimeout(check, 0)
    })
    const timer = setTimeout(() => {
      const reason = `the output did not have it within ${timeout} ms`
      fail(waitError('ETIMEDOUT', reason, 'read the output to see what came instead, or wait longer with `timeout`'))
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

function finder(pattern: string | RegExp): (text: string) => Found | undefined {
  if (pattern instanceof RegExp) {
    // `g` and `y` would remember where the last search ended.
    const own = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, ''))
    return (text) => {
      const found = own.exec(text)
      return found === null ? undefined : { match: found[0], groups: found.slice(1), at: found.index }
    }
  }
  if (typeof pattern !== 'string' || pattern === '') {
    throw waitError('EINVAL', 'the pattern must be a RegExp, or a string that is not empty', 'pass what to wait for')
  }
  return (text) => {
    const at = text.indexOf(pattern)
    return at < 0 ? undefined : { match: pattern, groups: [], at }
  }
}

function waitError(code: 'ETIMEDOUT' | 'ECLOSED' | 'EINVAL', reason: string, remedy: string): Error {
  return virtualError({ code, operation: 'waitFor', reason, remedy })
}
