import { hasAmbiguousAlternatives } from './regex.ts'
import { bracket, escapeLiteral } from './pattern.ts'

const wordCharacter = '[\\p{L}\\p{N}_]'
const escapes: Readonly<Record<string, string>> = {
  w: wordCharacter,
  W: '[^\\p{L}\\p{N}_\\u{dc80}-\\u{dcff}]',
  s: '[ \\t-\\r]',
  S: '[^ \\t-\\r\\u{dc80}-\\u{dcff}]',
  b: `(?:(?<=${wordCharacter})(?!${wordCharacter})|(?<!${wordCharacter})(?=${wordCharacter}))`,
  '<': `(?<!${wordCharacter})(?=${wordCharacter})`,
  '>': `(?<=${wordCharacter})(?!${wordCharacter})`,
}

export interface Dialect {
  readonly extended: boolean
  /** True if the length of a match matters: alternatives must then differ in their first character. */
  readonly longest: boolean
  /** True if a text may have several lines: `.` then matches a newline. Default false. */
  readonly lines?: boolean
}

/** Converts a basic or extended expression of GNU's grep to JavaScript with the flag `u`. */
export function posixSource(pattern: string, { extended, longest, lines = false }: Dialect): string | undefined {
  if (longest && hasAmbiguousAlternatives(pattern, extended ? '|' : '\\|')) return undefined
  let source = ''
  let rest = pattern
  let open = 0
  let repeatable = false
  let first = true
  while (rest !== '') {
    const raw = String.fromCodePoint(rest.codePointAt(0) ?? 0)
    const escaped = raw === '\\' ? String.fromCodePoint(rest.codePointAt(1) ?? 0) : undefined
    if (escaped === '\0') return undefined
    rest = rest.slice(raw.length + (escaped?.length ?? 0))
    // An operator has a backslash in either the basic or the extended dialect.
    const operator = escaped === undefined ? (extended ? raw : undefined) : extended ? undefined : escaped
    if (raw === '[') {
      // grep reports `[:alpha:]` as an error, since it hardly means these letters.
      if (/^:[^\]]*:\]/.test(rest)) return undefined
      const found = bracket(rest, { negation: '^', escapes: false, unicode: true })
      if (found === undefined) return undefined
      source += found.source
      rest = found.rest
      repeatable = true
      first = false
    } else if (raw === '*') {
      if (!repeatable) {
        if (extended || !first) return undefined
        source += '\\*'
        repeatable = true
      } else {
        source += '*'
        repeatable = false
      }
      first = false
    } else if (operator === '+' || operator === '?') {
      if (!repeatable) return undefined
      source += operator
      repeatable = false
    } else if (operator === '{') {
      const [whole, least = '', comma = '', most = ''] =
        (extended ? /^(\d*)(,?)(\d*)\}/ : /^(\d*)(,?)(\d*)\\\}/).exec(rest) ?? []
      if (whole === undefined || !repeatable || least + most === '') return undefined
      source += `{${least === '' ? '0' : least}${comma}${most}}`
      rest = rest.slice(whole.length)
      repeatable = false
    } else if (operator === '(') {
      source += '('
      open++
      repeatable = false
      first = true
    } else if (operator === ')' && open > 0) {
      source += ')'
      open--
      repeatable = true
    } else if (operator === '|') {
      source += '|'
      repeatable = false
      first = true
    } else if (operator === ')') return undefined
    else if (raw === '^' && (extended || first)) {
      source += '^'
      repeatable = false
    } else if (raw === '$' && (extended || rest === '' || rest.startsWith('\\)') || rest.startsWith('\\|'))) {
      source += '$'
      repeatable = false
    } else if (escaped !== undefined && escapes[escaped] !== undefined) {
      source += escapes[escaped]
      repeatable = /[wWsS]/.test(escaped)
      first = false
    } else if (escaped !== undefined && /[1-9]/.test(escaped)) {
      source += `\\${escaped}(?:)`
      repeatable = false
      first = false
    } else if (escaped !== undefined && /[A-Za-z0`']/.test(escaped)) return undefined
    else {
      const literal = escaped ?? raw
      if (escaped === undefined && extended && (raw === '}' || raw === '{')) return undefined
      source += raw === '.' ? (lines ? '[^\\u{dc80}-\\u{dcff}]' : '[^\\n\\u{dc80}-\\u{dcff}]') : escapeLiteral(literal)
      repeatable = true
      first = false
    }
  }
  return open === 0 ? source : undefined
}

/** Returns a Perl expression that has the same meaning in JavaScript, else `undefined`. */
export function perlSource(pattern: string): string | undefined {
  if (/\\[KAzZGQEhHRXpPNog]|\(\?[^:=!<]|\(\?<[^=!]|\(\*|[*+?}]\+|\[\[:|\\\d/.test(pattern)) return undefined
  return pattern
}
