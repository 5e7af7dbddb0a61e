import type { Invocation, Tool } from '../contract.ts'
import { linesOf, pathOf, readOperands, wordsOf } from '../operands.ts'
import { bytesOf, Output } from '../output.ts'
import { parseArguments } from '../options.ts'
import { type Key, keyOf, keyText } from './sort-key.ts'
import { asciiUpper } from './text.ts'

export const sortOptions = {
  flags: 'rnufbdschgzC',
  valued: 'kto',
  long: [
    'reverse',
    'numeric-sort',
    'unique',
    'ignore-case',
    'ignore-leading-blanks',
    'dictionary-order',
    'stable',
    'check',
    'human-numeric-sort',
    'general-numeric-sort',
    'zero-terminated',
    'key=',
    'field-separator=',
    'output=',
  ],
}

const longNames: Readonly<Record<string, string>> = {
  reverse: 'r',
  'numeric-sort': 'n',
  unique: 'u',
  'ignore-case': 'f',
  'ignore-leading-blanks': 'b',
  'dictionary-order': 'd',
  stable: 's',
  check: 'c',
  'human-numeric-sort': 'h',
  'general-numeric-sort': 'g',
  'zero-terminated': 'z',
  key: 'k',
  'field-separator': 't',
  output: 'o',
}

type Compare = (left: string, right: string) => number

export const sort: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(sortOptions, call.given)
  const flags = new Set<string>()
  const keys: string[] = []
  let separator: string | undefined
  let target: string | undefined
  for (const { name, value = '' } of options) {
    const letter = name.startsWith('--') ? (longNames[name.slice(2)] ?? '') : name.slice(1)
    if (letter === 'k') keys.push(value)
    else if (letter === 't') separator = value === '\\0' ? '\0' : bytesOf(value)
    else if (letter === 'o') target = value
    else flags.add(letter)
  }
  const global = [...'rnfbdhg'].filter((letter) => flags.has(letter)).join('')
  const parsed = keys.map((key) => keyOf(key, global))
  const bad = parsed.indexOf(undefined)
  if (bad !== -1) {
    output.fail(`sort: invalid key '${keys[bad]}'`, 2)
    return output.result()
  }
  if (separator !== undefined && separator.length !== 1) {
    output.fail(separator === '' ? 'sort: empty tab' : `sort: multi-character tab '${separator}'`, 2)
    return output.result()
  }
  const whole: Key = { from: [1, 0], to: undefined, flags: global, skipFrom: global.includes('b') }
  const used = parsed.length === 0 ? [whole] : parsed.filter((key) => key !== undefined)
  const lineEnd = flags.has('z') ? '\0' : '\n'
  const read = await readOperands({ ...call, name: 'sort: cannot read' }, operands, output, 2)
  if (output.exitCode !== 0) return output.result()
  const byKeys: Compare = (left, right) => {
    for (const key of used) {
      const order = compareKey(key.flags, keyText(left, key, separator), keyText(right, key, separator))
      if (order !== 0) return key.flags.includes('r') ? -order : order
    }
    return 0
  }
  const lastResort: Compare = (left, right) => (flags.has('r') ? -compareBytes(left, right) : compareBytes(left, right))
  const compare: Compare =
    flags.has('s') || flags.has('u') ? byKeys : (left, right) => byKeys(left, right) || lastResort(left, right)
  const lines = read.flatMap(({ bytes }) => linesOf(bytes, lineEnd))
  if (flags.has('c') || flags.has('C')) {
    const place = lines.findIndex(
      (line, index) => index > 0 && compare(lines[index - 1] ?? '', line) >= (flags.has('u') ? 0 : 1),
    )
    if (place !== -1 && flags.has('C')) output.exitCode = 1
    else if (place !== -1) output.fail(`sort: ${operands[0] ?? '-'}:${place + 1}: disorder: ${lines[place]}`)
    return output.result()
  }
  const sorted = lines.sort(compare)
  const kept = flags.has('u')
    ? sorted.filter((line, index) => index === 0 || byKeys(sorted[index - 1] ?? '', line) !== 0)
    : sorted
  const bytes = kept.map((line) => line + lineEnd).join('')
  if (target === undefined) output.write(bytes)
  else await writeTarget(call, target, bytes, output)
  return output.result()
}

async function writeTarget(call: Invocation, target: string, bytes: string, output: Output): Promise<void> {
  try {
    await call.context.fs.writeFile(pathOf(call, target), bytes, 'binary')
  } catch (error) {
    output.fail(`sort: open failed: ${target}: ${wordsOf(error)}`, 2)
  }
}

export function compareBytes(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}

function compareKey(flags: string, left: string, right: string): number {
  if (flags.includes('n')) return compareNumbers(left, right)
  if (flags.includes('h')) return compareHuman(left, right)
  if (flags.includes('g')) return compareGeneral(left, right)
  const shown = (text: string) => {
    const folded = flags.includes('f') ? asciiUpper(text) : text
    return flags.includes('d') ? folded.replace(/[^A-Za-z0-9 \t]/g, '') : folded
  }
  return compareBytes(shown(left), shown(right))
}

interface Numeral {
  readonly negative: boolean
  readonly whole: string
  readonly fraction: string
}

function numeralOf(text: string): Numeral {
  const [, minus = '', whole = '', fraction = ''] = /^[ \t\n]*(-?)(\d*)(?:\.(\d*))?/.exec(text) ?? []
  const digits = { whole: whole.replace(/^0+/, ''), fraction: fraction.replace(/0+$/, '') }
  return { negative: minus !== '' && (digits.whole !== '' || digits.fraction !== ''), ...digits }
}

/** Compares digits of any length, without rounding. */
function compareNumbers(leftText: string, rightText: string): number {
  const [left, right] = [numeralOf(leftText), numeralOf(rightText)]
  if (left.negative !== right.negative) return left.negative ? -1 : 1
  const order =
    left.whole.length - right.whole.length ||
    compareBytes(left.whole, right.whole) ||
    compareBytes(left.fraction, right.fraction)
  return left.negative ? -order : order
}

const suffixes = ' KMGTPEZY'

function compareHuman(left: string, right: string): number {
  const magnitude = (text: string) => {
    const [, minus = '', digits = '', suffix = ''] = /^[ \t]*(-?)([\d.]*)([kKMGTPEZY]?)/.exec(text) ?? []
    if (/^[0.]*$/.test(digits)) return 0
    const power = suffix === '' ? 0 : suffixes.indexOf(suffix.toUpperCase())
    return minus === '' ? power + 1 : -power - 1
  }
  return magnitude(left) - magnitude(right) || compareNumbers(left, right)
}

function compareGeneral(left: string, right: string): number {
  const value = (text: string) => Number.parseFloat(text)
  const [a, b] = [value(left), value(right)]
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(b)) - Number(Number.isNaN(a))
  return a - b
}
