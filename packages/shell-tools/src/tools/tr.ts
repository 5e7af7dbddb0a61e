import type { Tool } from '../contract.ts'
import { standardInput } from '../operands.ts'
import { bytesOf, Output } from '../output.ts'
import { parseArguments } from '../options.ts'

export const trOptions = {
  flags: 'cCdst',
  long: ['complement', 'delete', 'squeeze-repeats', 'truncate-set1'],
  leading: true,
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
const codes = (text: string) => [...text].map((character) => character.charCodeAt(0))
const digits = range(48, 57)
const upper = range(65, 90)
const lower = range(97, 122)
const letters = [...upper, ...lower]
const graphic = range(33, 126)
const classes: Readonly<Record<string, readonly number[]>> = {
  alnum: [...digits, ...letters],
  alpha: letters,
  blank: codes('\t '),
  cntrl: [...range(0, 31), 127],
  digit: digits,
  graph: graphic,
  lower,
  print: [32, ...graphic],
  punct: graphic.filter((code) => ![...digits, ...letters].includes(code)),
  space: codes('\t\n\v\f\r '),
  upper,
  xdigit: [...digits, ...range(65, 70), ...range(97, 102)],
}
const escapes: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, '\\': 92 }

interface CharacterSet {
  readonly codes: readonly number[]
  /** `case`: `[:lower:]` or `[:upper:]` alone; `class`: another class. */
  readonly kind: 'plain' | 'case' | 'class'
  /** The position of a `[c*]`, which is repeated until the set has the length of the other set. */
  readonly fill?: { readonly at: number; readonly code: number }
}

/** `undefined` for a set that GNU's `tr` refuses. */
function setOf(text: string): CharacterSet | undefined {
  const found: number[] = []
  let kind: CharacterSet['kind'] = 'plain'
  let fill: CharacterSet['fill']
  let rest = bytesOf(text)
  const single = (): number => {
    const [whole = '', octal, escaped] = /^\\(?:([0-3]?[0-7]{1,2})|([^]))/.exec(rest) ?? []
    if (whole === '') {
      const code = rest.charCodeAt(0)
      rest = rest.slice(1)
      return code
    }
    rest = rest.slice(whole.length)
    return octal === undefined ? (escapes[escaped ?? ''] ?? (escaped ?? '').charCodeAt(0)) : Number.parseInt(octal, 8)
  }
  while (rest !== '') {
    const [named, name = ''] = /^\[:(\w+):\]/.exec(rest) ?? []
    if (named !== undefined) {
      const members = classes[name]
      if (members === undefined) return undefined
      const isCase = name === 'lower' || name === 'upper'
      kind = isCase && found.length === 0 && rest === named ? 'case' : 'class'
      found.push(...members)
      rest = rest.slice(named.length)
      continue
    }
    const [repeated, character = '', times = ''] = /^\[([^\\])\*(\d*)\]/s.exec(rest) ?? []
    if (repeated !== undefined) {
      rest = rest.slice(repeated.length)
      const code = character.charCodeAt(0)
      const count = times.startsWith('0') ? Number.parseInt(times, 8) : Number(times)
      if (count === 0) fill = { at: found.length, code }
      else for (let index = 0; index < count; index++) found.push(code)
      continue
    }
    if (/^\[=.=\]/s.test(rest)) {
      found.push(rest.charCodeAt(2))
      rest = rest.slice(5)
      continue
    }
    const from = single()
    if (rest.length > 1 && rest.startsWith('-')) {
      rest = rest.slice(1)
      const to = single()
      if (to < from) return undefined
      found.push(...range(from, to))
    } else found.push(from)
  }
  return { codes: found, kind, ...(fill === undefined ? {} : { fill }) }
}

export const tr: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(trOptions, call.given)
  const has = (...names: string[]) => options.some(({ name }) => names.includes(name))
  const remove = has('-d', '--delete')
  const squeeze = has('-s', '--squeeze-repeats')
  const complement = has('-c', '-C', '--complement')
  const wanted = remove === squeeze ? 2 : 1
  const translating = !remove && operands.length === 2
  const fits = squeeze && !remove ? operands.length === 1 || operands.length === 2 : operands.length === wanted
  const sets = operands.map(setOf)
  const [first, second] = sets
  if (!fits || first === undefined || (operands.length === 2 && second === undefined)) {
    output.fail(
      operands.length < wanted
        ? `tr: missing operand${operands.length === 0 ? '' : ` after '${operands.at(-1)}'`}`
        : fits
          ? `tr: invalid set '${operands.join("' '")}'`
          : `tr: extra operand '${operands.at(-1)}'`,
    )
    return output.result()
  }
  // Implementations of `tr` differ in these sets, so this tool refuses such sets.
  if (
    first.fill !== undefined ||
    (translating && (second?.kind === 'class' || (second?.kind === 'case' && (first.kind !== 'case' || complement))))
  )
    call.host.refuse('tr', 'this combination of classes; write the characters out')
  let source = [...new Set(first.codes)]
  if (complement) source = range(0, 255).filter((code) => !first.codes.includes(code))
  const members = new Set(source)
  const mapped = new Map<number, number>()
  let target = second?.codes ?? []
  if (translating && second !== undefined) {
    const from = complement ? source : first.codes
    if (second.fill !== undefined) {
      const { at, code } = second.fill
      const missing = Math.max(0, from.length - target.length)
      target = [...target.slice(0, at), ...Array.from({ length: missing }, () => code), ...target.slice(at)]
    }
    const last = target.at(-1)
    if (last === undefined) {
      output.fail('tr: when not truncating set1, string2 must be non-empty')
      return output.result()
    }
    const truncated = has('-t', '--truncate-set1') ? from.slice(0, target.length) : from
    truncated.forEach((code, index) => mapped.set(code, target[index] ?? last))
  }
  const squeezed = squeeze ? new Set(operands.length === 2 ? (second?.codes ?? []) : members) : undefined
  const kept: string[] = []
  let before = -1
  for (const character of standardInput(call)) {
    const code = character.charCodeAt(0)
    if (remove && members.has(code)) continue
    const next = mapped.get(code) ?? code
    if (squeezed?.has(next) === true && next === before) continue
    before = next
    kept.push(String.fromCharCode(next))
  }
  output.write(kept.join(''))
  return output.result()
}
