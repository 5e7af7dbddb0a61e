const fewest = 2
/** Escapes that match a class of characters or a position, not a fixed text. */
const classes = /^[bBdDsSwWAz]$/u
const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/u

/**
 * The longest text that each match of an RE2 expression contains, or `undefined` if that is hard to see. Groups, classes and repeated
 * characters are left out. Flags, top-level alternatives and uncommon escapes give `undefined`.
 */
export function requiredLiteral(pattern: string): string | undefined {
  let best = ''
  let run: string[] = []
  const end = (): void => {
    if (run.length > [...best].length) best = run.join('')
    run = []
  }
  for (let at = 0; at < pattern.length; ) {
    const part = partAt(pattern, at)
    if (part === undefined) return undefined
    at += part.length
    const times = quantifier.exec(pattern.slice(at))?.[0] ?? ''
    at += times.length
    if (part.literal === undefined) end()
    else if (times === '') run.push(part.literal)
    else if (times.startsWith('+')) {
      run.push(part.literal)
      end()
    } else end()
  }
  end()
  return [...best].length < fewest ? undefined : best
}

interface RegexToken {
  readonly length: number
  /** The one character that the part matches. */
  readonly literal?: string | undefined
}

function partAt(pattern: string, at: number): RegexToken | undefined {
  const character = String.fromCodePoint(pattern.codePointAt(at) ?? 0)
  if ('.^$'.includes(character)) return { length: 1 }
  if (character === '[') return known(classEnd(pattern, at) - at)
  if (character === '(') return known(groupEnd(pattern, at) - at)
  if ('|){}*+?'.includes(character)) return undefined
  if (character !== '\\') return { length: character.length, literal: character }
  const escaped = pattern.slice(at + 1, at + 2)
  if (classes.test(escaped)) return { length: 2 }
  return /^[!-/:-@[-`{-~]$/u.test(escaped) ? { length: 2, literal: escaped } : undefined
}

function known(length: number): RegexToken | undefined {
  return length > 0 ? { length } : undefined
}

/** The index after a character class, or -1 if the class has no end. */
function classEnd(pattern: string, start: number): number {
  let at = start + 1
  if (pattern[at] === '^') at += 1
  if (pattern[at] === ']') at += 1
  while (at < pattern.length && pattern[at] !== ']') {
    const named = pattern.startsWith('[:', at) ? pattern.indexOf(':]', at) : -1
    if (pattern.startsWith('\\Q', at)) return -1
    if (named > 0) at = named + 2
    else at += pattern[at] === '\\' ? 2 : 1
  }
  return at < pattern.length ? at + 1 : -1
}

/** The index after a group, or -1 if the group has no end, or sets flags for the text after it. */
function groupEnd(pattern: string, start: number): number {
  if (pattern[start + 1] === '?' && !/^\(\?(?::|P?<[A-Za-z_])/u.test(pattern.slice(start))) return -1
  for (let at = start + 1; at < pattern.length; ) {
    if (pattern[at] === ')') return at + 1
    const next = pattern[at] === '[' ? classEnd(pattern, at) : pattern[at] === '(' ? groupEnd(pattern, at) : at + 1
    if (next < 0) return -1
    if (pattern[at] === '\\' && /^[QEpPC0-9x]$/u.test(pattern[at + 1] ?? '')) return -1
    at = pattern[at] === '\\' ? at + 2 : next
  }
  return -1
}
