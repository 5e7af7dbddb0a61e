import { bracket, escapeLiteral } from './pattern.ts'

const controls: Readonly<Record<string, string>> = {
  n: '\\n',
  t: '\\t',
  r: '\\r',
  f: '\\f',
  v: '\\v',
  a: '\\x07',
  b: '\\x08',
}

/**
 * Converts an extended expression of awk to JavaScript, over bytes; `undefined` for an unknown form.
 * If the length matters, alternatives must differ in their first character: JavaScript takes the first match, POSIX the longest.
 */
export function extendedExpression(pattern: string, { longest }: { readonly longest: boolean }): RegExp | undefined {
  if (longest && hasAmbiguousAlternatives(pattern)) return undefined
  let source = ''
  let rest = pattern
  let repeatable = false
  while (rest !== '') {
    const character = rest[0] ?? ''
    rest = rest.slice(1)
    if (character === '[') {
      const found = bracket(withControls(rest), { negation: '^', escapes: true })
      if (found === undefined) return undefined
      source += found.source
      rest = found.rest
      repeatable = true
    } else if (character === '\\') {
      const escaped = rest[0]
      if (escaped === undefined || /[0-9A-Za-z]/.test(escaped.replace(/[ntrfva]/, ''))) return undefined
      rest = rest.slice(1)
      source += /[ntrfva]/.test(escaped) ? (controls[escaped] ?? '') : escapeLiteral(escaped)
      repeatable = true
    } else if ('*+?'.includes(character)) {
      if (!repeatable) return undefined
      source += character
      repeatable = false
    } else if (character === '{') {
      // awk implementations disagree on intervals.
      return undefined
    } else if (character === '(' || character === '|' || character === ')') {
      source += character === '(' ? '(?:' : character
      repeatable = character === ')'
    } else if (character === '^' || character === '$') {
      source += character
      repeatable = false
    } else {
      source +=
        character === '.' ? '[^]' : character === ']' || character === '}' ? `\\${character}` : escapeLiteral(character)
      repeatable = true
    }
  }
  try {
    return new RegExp(source)
  } catch {
    return undefined // JavaScript cannot compile the pattern
  }
}

/** Replaces escapes such as `\t` in a bracket expression by the characters that they stand for. */
function withControls(text: string): string {
  return text.replace(
    /\\([ntrfva])/g,
    (_, letter: string) =>
      JSON.parse(`"${letter === 'v' ? '\\u000b' : letter === 'a' ? '\\u0007' : `\\${letter}`}"`) as string,
  )
}

/** True if an alternative may match the beginning of a match of a later alternative. */
export function hasAmbiguousAlternatives(pattern: string, bar = '|'): boolean {
  if (!pattern.includes(bar)) return false
  // In a pattern for blanks at either end, both alternatives have the same match at each place.
  if (/^\^(\[[^\]]*\]|.)[*+]\|\1[*+]\$$/.test(pattern.replaceAll(bar, '|'))) return false
  const alternatives = pattern
    .replace(/^\^|\$$/g, '')
    .split(bar)
    .map((text) => text.replace(/^[\\(]+|[\\)]+$/g, ''))
  if (alternatives.some((text) => /^[.[*]|^$/.test(text))) return true
  return alternatives.some((text, index) =>
    alternatives.slice(index + 1).some((later) => firstOf(later) === firstOf(text)),
  )
}

function firstOf(text: string): string {
  return text.replace(/^\^/, '').slice(0, 1)
}
