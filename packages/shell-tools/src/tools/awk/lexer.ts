export interface Token {
  readonly kind:
    | 'number'
    | 'string'
    | 'regex'
    | 'name'
    | 'call'
    | 'builtin'
    | 'keyword'
    | 'operator'
    | 'newline'
    | 'end'
  readonly text: string
  readonly spaced: boolean
}

export class SyntaxProblem extends Error {}

const keywords = new Set(
  'BEGIN END function func if else while for do break continue next nextfile exit return delete in getline print printf'.split(
    ' ',
  ),
)
export const builtins = new Set(
  'length substr index split sub gsub match sprintf sin cos atan2 exp log sqrt int rand srand tolower toupper system close fflush'.split(
    ' ',
  ),
)
const operators = /^(?:\*\*=|\*\*|\+\+|--|\+=|-=|\*=|\/=|%=|\^=|==|<=|>=|!=|>>|&&|\|\||!~|[{}()[\];,+\-*/%^!<>|?:~$=])/

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
}

/** Replaces escapes. An unknown escape keeps its backslash. */
export function unescapeText(text: string): string {
  return text.replace(/\\([0-7]{1,3}|[^])/g, (whole, escape: string) => {
    if (/^[0-7]/.test(escape)) return String.fromCharCode(Number.parseInt(escape, 8) & 255)
    return escapes[escape] ?? (escape === '\n' ? '' : whole)
  })
}

/** @throws SyntaxProblem */
export function tokensOf(program: string): Token[] {
  const tokens: Token[] = []
  let rest = program
  let spaced = false
  const push = (kind: Token['kind'], text: string, length: number) => {
    tokens.push({ kind, text, spaced })
    rest = rest.slice(length)
    spaced = false
  }
  while (rest !== '') {
    const blank = /^(?:[ \t\r]+|\\\r?\n|#[^\n]*)/.exec(rest)?.[0]
    if (blank !== undefined) {
      rest = rest.slice(blank.length)
      spaced = true
      continue
    }
    if (rest.startsWith('\n')) {
      push('newline', '\n', 1)
      continue
    }
    const number = /^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/.exec(rest)?.[0]
    if (number !== undefined) {
      if (/^0[xX]/.test(rest)) throw new SyntaxProblem('hexadecimal numbers')
      push('number', number, number.length)
      continue
    }
    const name = /^[A-Za-z_]\w*/.exec(rest)?.[0]
    if (name !== undefined) {
      const kind = keywords.has(name)
        ? 'keyword'
        : builtins.has(name)
          ? 'builtin'
          : rest[name.length] === '('
            ? 'call'
            : 'name'
      push(kind, name === 'func' ? 'function' : name, name.length)
      continue
    }
    if (rest.startsWith('"')) {
      const string = /^"((?:\\[^]|[^"\\\n])*)"/.exec(rest)
      if (string === null) throw new SyntaxProblem('a string is not closed')
      push('string', unescapeText(string[1] ?? ''), string[0].length)
      continue
    }
    if (rest.startsWith('/') && regexMayStart(tokens.at(-1))) {
      const regex = /^\/((?:\\[^\n]|\[\^?\]?(?:\[:\w+:\]|\\[^\n]|[^\]\\\n])*\]|[^/\\\n[])+)\//.exec(rest)
      if (regex === null) throw new SyntaxProblem('a regular expression is not closed')
      push('regex', (regex[1] ?? '').replaceAll('\\/', '/'), regex[0].length)
      continue
    }
    const operator = operators.exec(rest)?.[0]
    if (operator === undefined) throw new SyntaxProblem(`\`${rest.slice(0, 5)}\` is not known here`)
    if (operator.startsWith('**')) throw new SyntaxProblem('`**`; use `^`')
    push('operator', operator, operator.length)
  }
  tokens.push({ kind: 'end', text: '', spaced })
  return tokens
}

function regexMayStart(before: Token | undefined): boolean {
  if (before === undefined) return true
  if (['number', 'string', 'regex', 'name', 'builtin'].includes(before.kind)) return false
  return before.kind !== 'operator' || ![')', ']', '$', '++', '--'].includes(before.text)
}
