import { WorkspaceError } from '@ws/core'
import { RE2JSException, RE2JSSyntaxException } from 're2js'
import { tooLarge } from './regex-size.ts'
import { compileRegex } from './regex.ts'

export interface PatternOptions {
  /** Data, never shell text. Literal text, or with `regex` an RE2 regular expression. */
  readonly pattern: string
  /** Default false. */
  readonly regex?: boolean | undefined
  /** Default true. */
  readonly caseSensitive?: boolean | undefined
}

export interface Pattern {
  find(text: string, from: number): number
  /** A match never reaches over a line's end, so that many lines may be looked at in one go. */
  readonly staysInLine: boolean
  /** It has characters that are bytes of other values in other encodings. */
  readonly beyondAscii: boolean
  /** Characters that `find` looks at in some milliseconds, in any text. */
  readonly atOnce: number
  /** Characters of a match at most, for literal text: longer text can be looked at in pieces. */
  readonly matchLength: number | undefined
}

const maxPatternLength = 1000
const maxProgramSize = 2000
/** Comparisons of a character with one of the pattern, or with an instruction, that take some milliseconds. */
const maxComparisons = 2_000_000
/** Characters that are searched in a millisecond or two, however short the pattern. */
const maxCharacters = 200_000
const maxSteps = 60_000

/**
 * Compiles a pattern. Regular expressions match in linear time: no backreferences, no lookaround.
 * @throws WorkspaceError `EINVAL` for an invalid RE2 expression (with reason and place), a pattern that is too large or malformed,
 * and a literal one with a line break
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
  // Escaped text holds no repetition, so the engine of the language does not backtrack, and it is much faster.
  const folded = new RegExp(pattern.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&'), 'giu')
  const find = (text: string, from: number): number => {
    folded.lastIndex = from
    return folded.exec(text)?.index ?? -1
  }
  return { find, ...bounds }
}

const isBeyondAscii = (pattern: string): boolean => /[^ -~\t]/u.test(pattern)

/** `\x{e9}`, `\351` and `\pL`. */
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
    throw invalid(`is not a valid regular expression: ${describe(error, pattern)}`, remedy, error)
  }
}

/** Names the fault and its place, since a long expression cannot be searched by eye. */
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
