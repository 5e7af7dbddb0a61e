import { evaluate, reaching } from './evaluate.ts'
import { ArithmeticFault } from './operators.ts'
import type { Variables } from './variables.ts'

/** Expansions whose values this module can compute. */
const simple = /\$(?:([A-Za-z_]\w*|[0-9#?])|\{([A-Za-z_]\w*|\d+)\}|\{#([A-Za-z_]\w*)\[[@*]\]\}|\{#([A-Za-z_]\w*)\})/y

export function needsShell(text: string): boolean {
  return /[$`"'\\]/.test(text.replaceAll('$((', '((').replace(new RegExp(simple, 'g'), ''))
}

/** Expands `$x`, `${x}`, `${#x}` and `$((…))` from left to right. */
export function expand(text: string, variables: Variables): string {
  return reaching('line', () => expanded(text, variables))
}

function expanded(text: string, variables: Variables): string {
  let done = ''
  for (let at = 0; at < text.length; ) {
    simple.lastIndex = at
    const [whole, plain, braced, list, length] = simple.exec(text) ?? []
    if (text.startsWith('$((', at)) {
      const end = endOf(text, at + 3)
      done += String(evaluate(expanded(text.slice(at + 3, end), variables), variables))
      at = end + 2
    } else if (whole === undefined) done += text[at++]
    else {
      at += whole.length
      const name = plain ?? braced ?? ''
      if (list !== undefined) done += String(variables.count(list))
      else if (length !== undefined) done += String([...variables.get(length)].length)
      else done += name === '?' ? variables.lastStatus : variables.get(name)
    }
  }
  return done
}

function endOf(text: string, from: number): number {
  let depth = 2
  for (let at = from; at < text.length; at++) {
    if (text[at] === '(') depth++
    else if (text[at] === ')' && --depth === 0 && text[at - 1] === ')') return at - 1
  }
  throw new ArithmeticFault(`${text}: missing \`)'`)
}
