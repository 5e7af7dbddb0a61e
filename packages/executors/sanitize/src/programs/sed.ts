import type { Grammar } from './grammar.ts'
import { knownText } from '../invocation/invocation.ts'

/** Checks `sed`. Does not change scripts. Refuses scripts that run programs or open files. */
export const sed: Grammar = {
  options:
    'e|expression: E|r|regexp-extended i|in-place~ l|line-length: n|quiet|silent s|separate u|unbuffered z|null-data posix sandbox',
  prints: 'never',
  operands(call, { values, operands }) {
    const given = values.get('e') ?? []
    const [first, ...rest] = operands
    if (given.length === 0 && first !== undefined) call.text(first)
    const scripts = given.length === 0 && first !== undefined ? [{ argument: first, text: knownText(first) }] : given
    for (const { argument, text } of scripts) if (text === undefined || !isHarmless(text)) call.refuse('code', argument)
    // The suffix of `-i` can contain another directory.
    for (const { argument, text } of values.get('i') ?? [])
      if (/[/*]/.test(text ?? '/')) call.refuse('option', argument)
    for (const file of given.length === 0 ? rest : operands) call.path(file, values.has('i') ? 'write' : 'read')
  },
}

/** Maximum characters of a script. */
const longestScript = 8_192

/** Matches the pattern of `s` up to a delimiter. Refuses a delimiter in brackets, which versions of `sed` parse differently. */
function pattern(delimiter: string): string {
  const character = String.raw`\[:\w+:\]|[^\][\n${delimiter}]`
  const bracket = String.raw`\[(?:\^|(?!\^))(?:\]|${character})(?:${character})*\]`
  return String.raw`(?:\\[^\n]|${bracket}|[^\\[\n${delimiter}])*${delimiter}`
}
const replacement = (delimiter: string) => String.raw`(?:\\[\s\S]|[^\\\n${delimiter}])*${delimiter}`

const position = String.raw`(?:\d+(?:~\d+)?|\$|/${pattern('/')}[IM]*)`
const address = new RegExp(String.raw`^(?:${position}(?:\s*,\s*(?:${position}|[+~]\d+))?)?[\s!]*`)
const end = String.raw`(?=[\s;}#]|$)`
const substitution = (delimiter: string) => {
  const [first, second] = [pattern(delimiter), replacement(delimiter)]
  return new RegExp(`^(?:s${delimiter}${first}${second}[gpiImM0-9]*|y${delimiter}${second}${second})${end}`)
}
/** Matches other commands. Text of `a`, `i` and `c` continues after a backslash at the end of a line. A label ends at a space. */
const others = new RegExp(
  String.raw`^(?:\{|(?:[aic](?:[^\n\\]|\\[\s\S])*|#[^\n]*|[:btT][ \t]*[\w.-]*|[qQlL][ \t]*\d*|[=dDgGhHnNpPxz])${end})`,
)

/** Returns true only for scripts of commands that open no file, and of `s` without the flags `e` and `w`. */
export function isHarmless(script: string): boolean {
  if (script.length > longestScript) return false
  for (let rest = skipped(script, /^[\s;{}]+/); rest !== ''; ) {
    rest = skipped(rest, address)
    const [, delimiter] = /^[sy]([/|#,@:!_%~=+;-])/.exec(rest) ?? []
    const after = skipped(rest, delimiter === undefined ? others : substitution(`\\${delimiter}`))
    if (after === rest) return false
    rest = skipped(after, /^[\s;{}]+/)
  }
  return true
}

function skipped(text: string, expression: RegExp): string {
  return text.slice(expression.exec(text)?.[0].length ?? 0)
}
