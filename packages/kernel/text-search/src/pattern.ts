import { WorkspaceError } from '@ws/core'
import { RE2JSException, RE2JSSyntaxException } from 're2js'
import { tooLarge } from './regex-size.ts'
import { compileRegex } from './regex.ts'

export interface PatternOptions {
  /** Literal text, or an RE2 regular expression if `regex` is true. Never shell text. */
  readonly pattern: string
  /** Default false. */
  readonly regex?: boolean | undefined
  /** Default true. */
  readonly caseSensitive?: boolean | undefined
}

export interface Pattern {
  /** Returns the index of the first match at or after `from`, in UTF-16 units, or -1. */
  find(text: string, from: number): number
  /** True if a match never crosses a line end: many lines can then be searched at once. */
  readonly staysInLine: boolean
  /** True if the pattern contains characters that have other bytes in other encodings. */
  readonly beyondAscii: boolean
  /** Number of characters that `find` can search within a few milliseconds, in any text. */
  readonly atOnce: number
  /** Maximum length of a match of literal text, in characters: the text can then be searched in parts. `undefined` for expressions. */
  readonly matchLength: number | undefined
}

const maxPatternLength = 1000
const maxProgramSize = 2000
/** Number of comparisons, with a character or an instruction, that take a few milliseconds. */
const maxComparisons = 2_000_000
/** Maximum characters per call: even the shortest pattern takes one or two milliseconds for them. */
const maxCharacters = 200_000
const maxSteps = 60_000

/**
 * Compiles a pattern. Backreferences and lookaround are not supported.
 * @throws WorkspaceError `EINVAL` for an invalid or too large pattern (with the position), or a literal line break
 */
export function compilePattern({ pattern, regex = false, caseSensitive = true }: PatternOptions): Pattern {
  if (typeof pattern !== 'string') throw invalid('must be a string', 'pass text to search for')
  if (pattern.length > maxPatternLength) {
    throw invalid(`has ${pattern.length} characters; the limit is ${maxPatternLength}`, 'use a shorter pattern')
  }
  if (!pattern.isWellFormed()) throw invalid('contains a lone surrogate, which no text holds', 'remove it')
  if (regex) return compileExpression(pattern, caseSensitive)
  if (pattern.includes('\n')) throw invalid('contains a line break', 'search for one line: matches lie within a line')
  const bounds = {
    staysInLine: pattern !== '' && !pattern.includes('\r'),
    atOnce: Math.min(Math.floor(maxComparisons / Math.max(pattern.length, 1)), maxCharacters),
    matchLength: pattern.length,
    beyondAscii: isBeyondAscii(pattern),
  }
  if (caseSensitive) return { find: (text, from) => text.indexOf(pattern, from), ...bounds }
  // Escaped text has no repetition, so JavaScript's engine does not backtrack. It is much faster than RE2.
  const folded = new RegExp(pattern.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&'), 'giu')
  const find = (text: string, from: number): number => {
    folded.lastIndex = from
    return folded.exec(text)?.index ?? -1
  }
  return { find, ...bounds }
}

const isBeyondAscii = (pattern: string): boolean => /[^ -~\t]/u.test(pattern)

/** Finds escapes for letters beyond ASCII: `\x{e9}`, `\351` and `\pL`. */
const otherLetters = /\\(?:x\{?0*(?:[89a-f][\da-f]|[1-9a-f][\da-f]{2})|[2-3][0-7]{2}|[pP])/iu

function compileExpression(pattern: string, caseSensitive: boolean): Pattern {
  const reason = tooLarge(pattern, caseSensitive)
  if (reason !== undefined) throw invalid(reason, 'use a simpler expression')
  const { find, size } = compileValid(pattern, caseSensitive)
  if (size > maxProgramSize) throw invalid(`compiles to more than ${maxProgramSize} instructions`, 'lower its counts')
  const beyondAscii = isBeyondAscii(pattern) || otherLetters.test(pattern)
  return { find, staysInLine: false, atOnce: Math.floor(maxSteps / size), matchLength: undefined, beyondAscii }
}

function compileValid(pattern: string, caseSensitive: boolean): ReturnType<typeof compileRegex> {
  try {
    return compileRegex(pattern, caseSensitive)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    const remedy = 'use RE2 syntax (no lookaround, no backreferences), or search for literal text without `regex`'
    throw invalid(`is not a valid regular expression: ${syntaxFault(error, pattern)}`, remedy, error)
  }
}

/** Returns a description of the error and its position. */
function syntaxFault(error: RE2JSException, pattern: string): string {
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
