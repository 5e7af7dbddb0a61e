import { refuse } from '../refusal.ts'
import { longestScript, textOf } from '../invocation/invocation.ts'
import type { Grammar } from './grammar.ts'

/** `awk`: programs stay as they are; those that run others or open files are refused. */
export const awk: Grammar = {
  options:
    '-F: -v: --field-separator: --assign: -f! --file! -E! --exec! -e! --source! -i! --include! -l! --load! -W! -o! --pretty-print! -p! --profile! -d! --dump-variables! -D! --debug!',
  prints: 'never',
  operands(call, { operands: [program, ...files] }) {
    if (program === undefined) return
    call.text(program)
    const text = textOf(program)
    if (text === undefined || !isHarmless(text)) return refuse('code', program.word.text)
    for (const file of files) {
      // `name=value` among the files sets a variable.
      if (/^[A-Za-z_]\w*=/.test(textOf(file) ?? '')) call.text(file)
      else call.path(file, 'read')
    }
    return { prints: call.hosts && /\bFILENAME\b/.test(text) }
  },
}

/** True for a program that neither starts programs nor opens files. In doubt false. */
export function isHarmless(program: string): boolean {
  const bare = program.length > longestScript ? undefined : withoutLiterals(program)
  if (bare === undefined) return false
  if (/\b(?:system|getline|close|fflush|ENVIRON|PROCINFO|ARGV|ARGC)\b|@|\\/.test(bare)) return false
  if (/(?:^|[^|])\|(?:[^|]|$)/.test(bare)) return false
  // In `print a > b` this is a file; a comparison there needs parentheses.
  return !/\bprintf?\b(?:[^;{}\n(]|\([^()]*\))*>/.test(bare) && !/\bprintf?\b[^;}\n]*>/.test(bare)
}

/** The program with strings and regular expressions replaced by `""`; `undefined` when one does not end. */
function withoutLiterals(program: string): string | undefined {
  let out = ''
  for (let at = 0; at < program.length; at++) {
    const character = program[at]
    if (character === '#') {
      while (at < program.length && program[at] !== '\n') at++
      out += '\n'
    } else if (character === '/' && /(?:\+\+|--)\s*$/.test(out)) return undefined
    else if (character === '"' || (character === '/' && startsRegex(out))) {
      const end = endOfLiteral(program, at + 1, character)
      if (end === undefined) return undefined
      out += '""'
      at = end
    } else out += character
  }
  return out
}

/** After a value `/` divides; elsewhere it begins a regular expression. */
function startsRegex(before: string): boolean {
  const last = before.trimEnd()
  if (last === '' || /[(,=:[!&|?{};~+\-*%^<>\n]$/.test(last)) return true
  if (/\n\s*$/.test(before)) return true
  return /\b(?:return|in|print|printf|case|do|else)$/.test(last)
}

function endOfLiteral(program: string, from: number, delimiter: string): number | undefined {
  let bracket = false
  for (let at = from; at < program.length; at++) {
    const character = program[at]
    if (character === '\n') return undefined
    if (character === '\\') at++
    else if (delimiter === '/' && bracket) bracket = character !== ']'
    else if (delimiter === '/' && character === '[') {
      // A bracket that holds `]` or `/` is read in different ways by different awks.
      if (/^\[\^?\]|^\[[^\]]*\//.test(program.slice(at))) return undefined
      bracket = true
    } else if (character === delimiter) return at
  }
  return undefined
}
