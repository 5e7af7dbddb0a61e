const classes: Readonly<Record<string, string>> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  blank: ' \\t',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: ' \\t-\\r',
  upper: 'A-Z',
  xdigit: '0-9A-Fa-f',
}

const special = /[\\^$.*+?()[\]{}|/-]/

const unicodeClasses: Readonly<Record<string, string>> = {
  ...classes,
  alnum: '\\p{L}\\p{N}',
  alpha: '\\p{L}',
  lower: '\\p{Ll}',
  upper: '\\p{Lu}',
}

/** Bytes outside UTF-8: they are no characters, so no pattern matches them. */
const foreign = '\\u{dc80}-\\u{dcff}'

interface BracketOptions {
  readonly negation: string
  readonly escapes: boolean
  readonly unicode?: boolean
}

export function escapeLiteral(character: string): string {
  // Outside of brackets, `\-` is an error in JavaScript. Within brackets, a bare `-` marks a range.
  return character === '-' ? '\\x2d' : special.test(character) ? `\\${character}` : character
}

/**
 * Converts a bracket expression (`[a-z]`, `[^[:space:]]`) to JavaScript. @param text begins after the `[`
 * @returns the expression and the rest of the text; `undefined` for an unclosed or ambiguous expression
 */
export function bracket(
  text: string,
  { negation, escapes, unicode = false }: BracketOptions,
): { readonly source: string; readonly rest: string } | undefined {
  let rest = text
  let source = ''
  const negated = rest !== '' && negation.includes(rest[0] ?? '')
  if (negated) rest = rest.slice(1)
  for (let first = true; ; first = false) {
    if (rest === '') return undefined
    if (rest.startsWith(']') && !first)
      return { source: `[${negated ? '^' : ''}${source}${negated && unicode ? foreign : ''}]`, rest: rest.slice(1) }
    const [named, name = ''] = /^\[:(\w+):\]/.exec(rest) ?? []
    if (named !== undefined) {
      const members = (unicode ? unicodeClasses : classes)[name]
      if (members === undefined) return undefined
      source += members
      rest = rest.slice(named.length)
      continue
    }
    if (rest.startsWith('[.') || rest.startsWith('[=')) return undefined
    const from = member(rest, escapes)
    rest = rest.slice(from.length)
    if (rest.startsWith('-') && rest.length > 1 && rest[1] !== ']') {
      const to = member(rest.slice(1), escapes)
      const [low, high] = [from, to].map((text) =>
        text.length > 1 && escapes && text.startsWith('\\') ? text.slice(1) : text,
      )
      if ((low ?? '') > (high ?? '')) return undefined
      source += `${escapeLiteral(low ?? '')}-${escapeLiteral(high ?? '')}`
      rest = rest.slice(1 + to.length)
    } else {
      source += escapeLiteral(from.length > 1 && escapes && from.startsWith('\\') ? from.slice(1) : from)
    }
  }
}

function member(text: string, escapes: boolean): string {
  if (escapes && text.startsWith('\\') && text.length > 1) return `\\${String.fromCodePoint(text.codePointAt(1) ?? 0)}`
  return String.fromCodePoint(text.codePointAt(0) ?? 0)
}

/** The pattern of a `fnmatch` glob, in which `*` matches slashes and leading dots. */
export function globExpression(glob: string, foldCase: boolean): RegExp | undefined {
  let source = ''
  let rest = glob
  const parts: string[] = []
  while (rest !== '') {
    const character = String.fromCodePoint(rest.codePointAt(0) ?? 0)
    rest = rest.slice(character.length)
    if (character === '*') {
      parts.push(source)
      source = ''
    } else if (character === '?') source += '[^]'
    else if (character === '[') {
      const found = bracket(rest, { negation: '!^', escapes: true })
      source += found?.source ?? '\\['
      rest = found?.rest ?? rest
    } else if (character === '\\') {
      if (rest === '') return undefined
      const escaped = String.fromCodePoint(rest.codePointAt(0) ?? 0)
      source += escapeLiteral(escaped)
      rest = rest.slice(escaped.length)
    } else source += escapeLiteral(character)
  }
  const [first, ...inner] = parts
  if (first === undefined) return compile(source, foldCase)
  // Between two stars, the first match of a part suffices, so the search never backtracks.
  const found = inner.filter((part) => part !== '').map((part, index) => `(?=([^]*?${part}))\\${index + 1}`)
  return compile(`${first}${found.join('')}[^]*${source}`, foldCase)
}

function compile(source: string, foldCase: boolean): RegExp | undefined {
  try {
    return new RegExp(`^(?:${source})$`, foldCase ? 'iu' : 'u')
  } catch {
    return undefined
  }
}
