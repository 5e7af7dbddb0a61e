import { WorkspaceError } from '@ws/core'
import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js'

export interface PatternOptions {
  /** Data, never shell text. Literal text, or with `regex` an RE2 regular expression. */
  readonly pattern: string
  /** Default false. */
  readonly regex?: boolean | undefined
  /** Default true. */
  readonly caseSensitive?: boolean | undefined
}

/** A compiled pattern. */
export interface Pattern {
  /** The first match at or behind `from`, as an index in UTF-16 units, or -1. */
  find(text: string, from: number): number
  /** A match never reaches over a line's end, so that many lines may be looked at in one go. */
  readonly staysInLine: boolean
}

/** Characters of a pattern at most: what is longer is no pattern, and compiling it would block. */
const maxPatternLength = 10_000

/**
 * Compiles a pattern. Regular expressions are matched in linear time: there are no backreferences and no lookaround.
 *
 * @throws WorkspaceError `EINVAL` for a pattern that is no valid RE2 expression (the reason says what is wrong, and where),
 * that is over-long, no string or no well-formed Unicode, and for a literal one with a line break, which no line holds.
 */
export function compilePattern({ pattern, regex = false, caseSensitive = true }: PatternOptions): Pattern {
  if (typeof pattern !== 'string') throw invalid('must be a string', 'pass text to search for')
  if (pattern.length > maxPatternLength) {
    throw invalid(`has ${pattern.length} characters; the limit is ${maxPatternLength}`, 'use a shorter pattern')
  }
  if (!pattern.isWellFormed()) throw invalid('contains a lone surrogate, which no text holds', 'remove it')
  if (regex) return compileRegex(pattern, caseSensitive)
  if (pattern.includes('\n')) throw invalid('contains a line break', 'search for one line: matches lie within a line')
  const staysInLine = pattern !== '' && !pattern.includes('\r')
  if (caseSensitive) return { find: (text, from) => text.indexOf(pattern, from), staysInLine }
  // Escaped text holds no repetition, so the engine of the language is linear too, and much faster.
  const folded = new RegExp(pattern.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&'), 'giu')
  const find = (text: string, from: number): number => {
    folded.lastIndex = from
    return folded.exec(text)?.index ?? -1
  }
  return { find, staysInLine }
}

function compileRegex(pattern: string, caseSensitive: boolean): Pattern {
  const compiled = compileRe2(pattern, caseSensitive)
  const find = (text: string, from: number): number => {
    if (!compiled.test(text)) return -1
    const matcher = compiled.matcher(text)
    return matcher.find(from) ? matcher.start() : -1
  }
  return { find, staysInLine: false }
}

function compileRe2(pattern: string, caseSensitive: boolean): RE2JS {
  try {
    return RE2JS.compile(pattern, caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    const remedy = 'use RE2 syntax (no lookaround, no backreferences), or search for literal text without `regex`'
    throw invalid(`is no valid regular expression: ${describe(error, pattern)}`, remedy, error)
  }
}

/** What is wrong and where, since a long expression cannot be searched by eye. */
function describe(error: RE2JSException, pattern: string): string {
  if (!(error instanceof RE2JSSyntaxException)) return error.message
  const fragment = error.getPattern() ?? ''
  const what = error.getDescription()
  if (fragment === '') return `${what} (at character ${pattern.length})`
  const position = pattern.indexOf(fragment)
  return position < 0 ? `${what}: ${fragment}` : `${what}: ${fragment} (at character ${position + 1})`
}

function invalid(reason: string, remedy: string, native?: unknown): WorkspaceError {
  return new WorkspaceError({ code: 'EINVAL', operation: 'search', reason: `the pattern ${reason}`, remedy, native })
}
