import type { Invocation, Tool } from '../contract.ts'
import { linesOf, eachOperand, readOperand, readOperands, wordsOf } from '../operands.ts'
import { bytesOf, Output } from '../output.ts'
import { decodeText, hasForeignBytes } from '../text.ts'
import { parseArguments } from '../options.ts'

const units: Readonly<Record<string, number>> = { '': 1, b: 512, K: 1024, k: 1024, M: 1024 ** 2, G: 1024 ** 3 }

/** A count with its unit (`1K`); `undefined` for other text. */
export function countOf(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d+)([bKkMG]?)$/.exec(text) ?? []
  const factor = units[unit]
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor
}

interface CountOption {
  readonly unit: 'lines' | 'bytes'
  /** `+` means from this count on; `-` means all but the last of this count. */
  readonly sign: string
  readonly count: number
}

export const headOptions = { flags: 'qv', valued: 'nc', numeric: true, long: ['lines=', 'bytes=', 'quiet', 'verbose'] }

function ends(take: (bytes: string, part: CountOption) => string): Tool {
  return async (call) => {
    const output = new Output()
    const { options, operands } = parseArguments(headOptions, call.given)
    if (operands.some((operand) => /^\+\d/.test(operand))) call.host.refuse(`${call.name} +N`, 'use -n +N')
    let part: CountOption = { unit: 'lines', sign: '', count: 10 }
    let named = operands.length > 1
    for (const { name, value = '' } of options) {
      if (name === '-q' || name === '--quiet') named = false
      else if (name === '-v' || name === '--verbose') named = true
      else {
        const [, sign = '', digits = ''] = /^([+-]?)(.*)$/s.exec(value) ?? []
        const count = countOf(digits)
        const unit = name === '-c' || name === '--bytes' ? 'bytes' : 'lines'
        if (count === undefined) {
          output.fail(`${call.name}: invalid number of ${unit}: '${value}'`)
          return output.result()
        }
        part = { unit, sign: /^-\d/.test(name) ? '' : sign, count }
      }
    }
    let first = true
    for (const operand of operands.length === 0 ? ['-'] : operands) {
      try {
        const bytes = await readOperand(call, operand)
        if (named)
          output.write(`${first ? '' : '\n'}==> ${operand === '-' ? 'standard input' : bytesOf(operand)} <==\n`)
        first = false
        output.write(take(bytes, part))
      } catch (error) {
        output.fail(`${call.name}: cannot open '${operand}' for reading: ${wordsOf(error)}`)
      }
    }
    return output.result()
  }
}

function afterLines(bytes: string, count: number): number {
  let place = 0
  for (let left = count; left > 0; left--) {
    const next = bytes.indexOf('\n', place)
    if (next === -1) return bytes.length
    place = next + 1
  }
  return place
}

function lineCount(bytes: string): number {
  return linesOf(bytes).length
}

export const head = ends((bytes, { unit, sign, count }) => {
  if (unit === 'bytes') return sign === '-' ? bytes.slice(0, Math.max(0, bytes.length - count)) : bytes.slice(0, count)
  return bytes.slice(0, afterLines(bytes, sign === '-' ? Math.max(0, lineCount(bytes) - count) : count))
})

export const tail = ends((bytes, { unit, sign, count }) => {
  if (unit === 'bytes')
    return sign === '+' ? bytes.slice(Math.max(0, count - 1)) : bytes.slice(Math.max(0, bytes.length - count))
  return bytes.slice(afterLines(bytes, sign === '+' ? Math.max(0, count - 1) : Math.max(0, lineCount(bytes) - count)))
})

export const wcOptions = { flags: 'lwcm', long: ['lines', 'words', 'bytes', 'chars'] }

export const wc: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(wcOptions, call.given)
  const wanted = new Set(
    options.map(({ name }) => ({ '--chars': 'm', '--bytes': 'c' })[name] ?? name.replace(/^--?/, '')[0]),
  )
  const columns = ['l', 'w', 'm', 'c'].filter((column) => (wanted.size === 0 ? column !== 'm' : wanted.has(column)))
  const totals = columns.map(() => 0)
  const width = await columnWidth(call, operands, columns.length)
  const row = (name: string, counts: readonly number[]) => {
    const parts = name.split('\n')
    if (parts.length > 1 && name.includes("'")) call.host.refuse('wc', 'a name with a line end and a quote')
    const quoted = parts.map((part) => `'${part}'`).join(String.raw`$'\n'`)
    const shown = parts.length === 1 ? name : quoted.replace(/(?<=.)''$/, '')
    output.write(`${counts.map((count) => String(count).padStart(width)).join(' ')}${name && ' '}${bytesOf(shown)}\n`)
  }
  for (const operand of operands.length === 0 ? ['-'] : operands) {
    let bytes = ''
    try {
      bytes = await readOperand(call, operand)
    } catch (error) {
      output.fail(`wc: ${operand}: ${wordsOf(error)}`)
      if (wordsOf(error) !== 'Is a directory') continue
    }
    const counts = columns.map((column) => countColumn(bytes, column))
    counts.forEach((count, index) => (totals[index] = (totals[index] ?? 0) + count))
    row(operands.length === 0 ? '' : operand, counts)
  }
  if (operands.length > 1) row('total', totals)
  return output.result()
}

function countColumn(bytes: string, column: string): number {
  if (column === 'c') return bytes.length
  if (column === 'm')
    return [...decodeText(Buffer.from(bytes, 'latin1'))].filter((character) => !hasForeignBytes(character)).length
  if (column === 'l') return bytes.split('\n').length - 1
  return bytes.split(/[ \t\n\v\f\r]+/).filter((word) => word !== '').length
}

/** The width of a column: as GNU's `wc`, the digits of the total size, or seven for an unknown size. */
async function columnWidth(call: Invocation, operands: readonly string[], columns: number): Promise<number> {
  if (operands.length <= 1 && columns === 1) return 1
  const input = call.context.stdin
  if (operands.length === 0) return call.inherits === 'file' ? String(input.length).length : 7
  let total = 0
  let least = 1
  for (const operand of operands) {
    if (operand === '-' && call.inherits === 'file') total += input.length
    else if (operand === '-') least = 7
    else {
      const { fs } = call.context
      // the count itself reports the error, which here only narrows a column
      const stat = await fs.stat(fs.resolvePath(call.context.cwd, operand)).catch(() => undefined)
      if (stat?.isFile === true) total += stat.size
      else if (stat !== undefined) least = 7
    }
  }
  return Math.max(least, String(total).length)
}

export const uniqOptions = { flags: 'cdui', valued: 'fsw', long: ['count', 'repeated', 'unique', 'ignore-case'] }

export const uniq: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(uniqOptions, call.given)
  const has = (short: string, long: string) => options.some(({ name }) => name === short || name === long)
  const number = (name: string) => Number(options.findLast((option) => option.name === name)?.value ?? 0)
  const [count, repeated, unique, fold] = [
    has('-c', '--count'),
    has('-d', '--repeated'),
    has('-u', '--unique'),
    has('-i', '--ignore-case'),
  ]
  const width = number('-w')
  const keyOf = (line: string) => {
    let key = line
    for (let field = number('-f'); field > 0; field--) key = key.replace(/^[ \t]*[^ \t]*/, '')
    key = key.slice(number('-s'))
    if (width > 0) key = key.slice(0, width)
    return fold ? asciiUpper(key) : key
  }
  const [read] = await readOperands(call, operands, output)
  if (read === undefined) return output.result()
  const groups: { first: string; key: string; count: number }[] = []
  for (const line of linesOf(read.bytes)) {
    const key = keyOf(line)
    const last = groups.at(-1)
    if (last?.key === key) last.count++
    else groups.push({ first: line, key, count: 1 })
  }
  for (const group of groups) {
    if ((repeated && group.count === 1) || (unique && group.count > 1)) continue
    output.write(`${count ? `${String(group.count).padStart(7)} ` : ''}${group.first}\n`)
  }
  return output.result()
}

export function asciiUpper(bytes: string): string {
  return bytes.replace(/[a-z]+/g, (letters) => letters.toUpperCase())
}

export const tac: Tool = async (call) => {
  const output = new Output()
  const { operands } = parseArguments({}, call.given)
  for await (const { bytes } of eachOperand(call, operands, output)) {
    output.write((bytes.match(/[^\n]*\n|[^\n]+$/g) ?? []).reverse().join(''))
  }
  return output.result()
}
