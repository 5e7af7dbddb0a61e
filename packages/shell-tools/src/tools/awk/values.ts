import { general } from './numbers.ts'

/** Text from outside the program: if it looks like a number, it is compared as a number. */
export class Input {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A value of awk. `undefined` is an unset variable, which counts as `""` and 0. */
export type Value = number | string | Input | undefined

export class Refused extends Error {}

const numeral = /^[ \t\n\r\f\v]*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[ \t\n\r\f\v]*$/
/** Texts with numeric values on which awk implementations disagree. */
const disputed = /^[ \t\n]*[+-]?(?:0[xX]|inf|nan)/i

export function numberOf(value: Value): number {
  if (typeof value === 'number') return value
  if (value === undefined) return 0
  const text = typeof value === 'string' ? value : value.text
  if (disputed.test(text)) throw new Refused(`\`${text.trim().slice(0, 20)}\` as a number`)
  const [found = ''] = /^[ \t\n\r\f\v]*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/.exec(text) ?? []
  return found === '' ? 0 : Number(found)
}

export function stringOf(value: Value, format = '%.6g'): string {
  if (typeof value === 'string') return value
  if (value === undefined) return ''
  if (value instanceof Input) return value.text
  if (Number.isInteger(value)) {
    // Beyond 32 bits, awk implementations format numbers differently.
    if (Math.abs(value) >= 2 ** 31) throw new Refused('a number of 2147483648 or more as text; use printf "%d"')
    return String(value === 0 ? 0 : value)
  }
  const [, precision] = /^%\.(\d+)g$/.exec(format) ?? []
  if (precision === undefined) throw new Refused(`the format \`${format}\` in CONVFMT or OFMT`)
  return general(value, Number(precision))
}

export function isTrue(value: Value): boolean {
  if (typeof value === 'number') return value !== 0
  if (value === undefined) return false
  if (typeof value === 'string') return value !== ''
  return numeral.test(value.text) ? numberOf(value) !== 0 : value.text !== ''
}

function isNumeric(value: Value): boolean {
  return typeof value === 'number' || value === undefined || (value instanceof Input && numeral.test(value.text))
}

export function compare(left: Value, right: Value): number {
  if (isNumeric(left) && isNumeric(right)) {
    const [one, other] = [numberOf(left), numberOf(right)]
    return one < other ? -1 : one > other ? 1 : 0
  }
  const [one, other] = [stringOf(left), stringOf(right)]
  return one < other ? -1 : one > other ? 1 : 0
}
