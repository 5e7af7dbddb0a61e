import type { Evaluator } from './evaluate.ts'
import { formatted } from './printf.ts'
import type { Expression } from './syntax.ts'
import { Input, Refused, type Value } from './values.ts'

export function builtin(run: Evaluator, name: string, values: readonly Expression[]): Value {
  const [first, second, third] = values
  const need = (expression: Expression | undefined): Expression => {
    if (expression === undefined) throw new Refused(`${name} with so few arguments`)
    return expression
  }
  switch (name) {
    case 'length': {
      if (first === undefined) return run.machine.record().length
      if (first.type === 'variable' && run.machine.arrays.has(first.name)) return run.array(first.name).size
      return run.text(first).length
    }
    case 'substr':
      return substring(
        run.text(need(first)),
        run.number(need(second)),
        third === undefined ? undefined : run.number(third),
      )
    case 'index': {
      const text = run.text(need(first))
      return text.indexOf(run.text(need(second))) + 1
    }
    case 'split':
      return split(run, need(first), need(second), third)
    case 'sub':
    case 'gsub':
      return substitute(run, need(first), need(second), third, name === 'gsub')
    case 'match': {
      const text = run.text(need(first))
      const found = run.regex(need(second), true).exec(text)
      run.machine.assign('RSTART', found === null ? 0 : found.index + 1)
      run.machine.assign('RLENGTH', found === null ? -1 : found[0].length)
      return found === null ? 0 : found.index + 1
    }
    case 'sprintf':
      return formatted(
        run.text(need(first)),
        values.slice(1).map((value) => run.value(value)),
      )
    case 'tolower':
      return run.text(need(first)).replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
    case 'toupper':
      return run.text(need(first)).replace(/[a-z]+/g, (letters) => letters.toUpperCase())
    case 'int':
      return Math.trunc(run.number(need(first)))
    case 'sqrt':
      return Math.sqrt(run.number(need(first)))
    case 'exp':
    case 'log':
    case 'sin':
    case 'cos':
      return Math[name](run.number(need(first)))
    case 'atan2':
      return Math.atan2(run.number(need(first)), run.number(need(second)))
    case 'close':
      run.machine.closed.add(run.text(need(first)))
      return 0
    case 'fflush':
      return 0
    default:
      throw new Refused(`the function ${name}`)
  }
}

/** Rounds fractional positions as in POSIX. */
function substring(text: string, start: number, length: number | undefined): string {
  // awk implementations disagree on positions before the first character.
  if (start < 0.5 && length !== undefined) throw new Refused('substr from before the first character')
  if (Number.isNaN(start) || Number.isNaN(length)) throw new Refused('substr of a value that is not a number')
  if (!Number.isInteger(start) || !(length === undefined || Number.isInteger(length)))
    throw new Refused('substr with a place that is not a whole number')
  const from = Math.round(start)
  const to = length === undefined ? Infinity : from + Math.round(length)
  return text.slice(Math.max(0, from - 1), Math.max(0, to - 1))
}

function split(run: Evaluator, source: Expression, target: Expression, separator: Expression | undefined): number {
  if (target.type !== 'variable') throw new Refused('split into a target that is not an array')
  const text = run.text(source)
  const given =
    separator === undefined
      ? run.machine.text(run.machine.variable('FS'))
      : separator.type === 'regex'
        ? separator.source
        : run.text(separator)
  const parts =
    separator?.type === 'regex' && given.length === 1 && /[^\w\s,:;@#%&=<>"'/-]/.test(given)
      ? run.machine.split(text, `(${given})`)
      : run.machine.split(text, given)
  const cell = run.array(target.name)
  cell.clear()
  parts.forEach((part, index) => cell.set(String(index + 1), new Input(part)))
  return parts.length
}

function substitute(
  run: Evaluator,
  pattern: Expression,
  replacement: Expression,
  target: Expression | undefined,
  all: boolean,
): number {
  const place: Expression = target ?? { type: 'field', index: { type: 'number', value: 0 } }
  const regex = run.regex(pattern, true, all ? 'g' : '')
  const pieces = piecesOf(run.text(replacement))
  const text = run.text(place)
  let count = 0
  let before = -1
  const changed = text.replace(regex, (found: string, ...rest: unknown[]) => {
    const at = rest.find((one) => typeof one === 'number')
    // An empty match right after another match does not count.
    if (found === '' && at === before) return ''
    before = Number(at) + found.length
    count++
    return pieces.map((piece) => piece ?? found).join('')
  })
  if (count > 0) run.assign(place, changed)
  return count
}

/** The pieces of a replacement. `undefined` stands for the matched text. */
function piecesOf(text: string): (string | undefined)[] {
  return (text.match(/\\[\\&]|\\|&|[^\\&]+/g) ?? []).map((piece) => {
    if (piece === '&') return undefined
    if (piece === '\\\\') return '\\'
    return piece === '\\&' ? '&' : piece
  })
}
