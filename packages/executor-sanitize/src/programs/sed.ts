import { refuse } from '../refusal.ts'
import type { Grammar } from './grammar.ts'
import { longestScript, textOf } from '../invocation/invocation.ts'

/** `sed`: its scripts stay as they are; those that run programs or name files are refused. */
export const sed: Grammar = {
  options: '-e: --expression: -f! --file! -i~ --in-place~ -l: --line-length:',
  prints: 'never',
  operands(call, parsed) {
    const scripts = [...(parsed.values.get('-e') ?? []), ...(parsed.values.get('--expression') ?? [])]
    const first = scripts.length === 0 ? parsed.operands[0] : undefined
    const inPlace = parsed.options.has('-i') || parsed.options.has('--in-place')
    for (const suffix of [...(parsed.values.get('-i') ?? []), ...(parsed.values.get('--in-place') ?? [])]) {
      if (/[/*]/.test(textOf(suffix)?.replace(/^(?:-\w*i|--in-place=?)/, '') ?? '/')) call.refuse('option', suffix)
    }
    for (const script of first === undefined ? scripts : [first]) {
      call.text(script)
      const text = textOf(script)?.replace(/^(?:-\w*?e|--expression=)/, (option) => (script === first ? option : ''))
      if (text === undefined || !isHarmless(text)) refuse('code', script.word.text)
    }
    for (const file of first === undefined ? parsed.operands : parsed.operands.slice(1)) {
      call.path(file, inPlace ? 'write' : 'read')
    }
  },
}

/** True for a script without `e`, `r`, `R`, `w`, `W` and without the flags `e` and `w` of `s`. In doubt false. */
export function isHarmless(script: string): boolean {
  if (script.length > longestScript) return false
  let at = 0
  const peek = () => script[at]
  const skip = (pattern: RegExp) => {
    pattern.lastIndex = at
    const match = pattern.exec(script)
    if (match?.index === at) at += match[0].length
    return match?.index === at - (match?.[0].length ?? 0) ? match : null
  }
  /** Up to the delimiter that is not escaped, nor in a bracket. */
  const delimited = (delimiter: string): boolean => {
    for (; at < script.length; at++) {
      const character = script[at]
      if (character === '\\') at++
      else if (character === '\n') return false
      else if (character === delimiter) {
        at++
        return true
      } else if (character === '[') {
        const bracket = /^\[\^?\]?(?:\[[:.=][^\]]*[:.=]\]|[^\]\n])*\]/.exec(script.slice(at))?.[0]
        // Whether a delimiter in there counts differs between versions. One that is not closed is looked at once.
        if (bracket === undefined || bracket.includes(delimiter)) return false
        at += bracket.length - 1
      }
    }
    return false
  }
  const address = (): boolean => {
    if (skip(/\d+(?:~\d+)?|\$/y)) return true
    const mark = peek()
    if (mark !== '/' && mark !== '\\') return false
    at++
    const delimiter = mark === '\\' ? script[at++] : '/'
    if (delimiter === undefined || !delimited(delimiter)) throw new Error('unterminated address')
    skip(/[IM]*/y)
    return true
  }
  try {
    while (at < script.length) {
      skip(/[\s;{}]+/y)
      if (at >= script.length) return true
      if (address() && skip(/\s*,\s*/y) && !skip(/[+~]\d+/y) && !address()) return false
      skip(/[\s!]+/y)
      const command = script[at++]
      if (command === undefined) return false
      if (command === 's' || command === 'y') {
        const delimiter = script[at++]
        if (delimiter === undefined || /[\s\\]/.test(delimiter)) return false
        if (!delimited(delimiter) || !replacement(delimiter)) return false
        const flags = skip(/[gpiImM0-9]*/y)?.[0] ?? ''
        if (command === 'y' && flags !== '') return false
        if (!atEnd()) return false
      } else if (command === 'a' || command === 'i' || command === 'c') {
        // Text up to the end of a line that no backslash goes on after.
        skip(/(?:[^\n\\]|\\[\s\S])*/y)
      } else if (command === ':' || command === 'b' || command === 't' || command === 'T') skip(/[^\n;}]*/y)
      else if (command === '#') skip(/[^\n]*/y)
      else if (command === 'q' || command === 'Q' || command === 'l' || command === 'L') {
        skip(/\s*\d*/y)
        if (!atEnd()) return false
      } else if (!/[=dDgGhHnNpPxzF]/.test(command) || !atEnd()) return false
      // `F` prints the name of the file, which is one of this machine.
      else if (command === 'F') return false
    }
    return true
  } catch {
    return false
  }

  function replacement(delimiter: string): boolean {
    for (; at < script.length; at++) {
      if (script[at] === '\\') at++
      else if (script[at] === delimiter) {
        at++
        return true
      }
    }
    return false
  }
  function atEnd(): boolean {
    return at >= script.length || /[\s;}#]/.test(script[at] ?? '')
  }
}
