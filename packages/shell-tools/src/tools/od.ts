import type { Tool } from '../contract.ts'
import { readOperands } from '../operands.ts'
import { Output } from '../output.ts'
import { parseArguments } from '../options.ts'

export const odOptions = { flags: 'cxbv', valued: 'AtN' }

const names: Readonly<Record<number, string>> = {
  0: '\\0',
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
}

interface Format {
  readonly size: number
  readonly width: number
  show(value: number): string
}

const formats: Readonly<Record<string, Format>> = {
  c: {
    size: 1,
    width: 3,
    show: (value) => names[value] ?? (value > 31 && value < 127 ? String.fromCharCode(value) : octal(value)),
  },
  x1: { size: 1, width: 2, show: (value) => hex(value, 2) },
  x2: { size: 2, width: 4, show: (value) => hex(value, 4) },
  o1: { size: 1, width: 3, show: octal },
  u1: { size: 1, width: 3, show: String },
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}

function octal(value: number): string {
  return value.toString(8).padStart(3, '0')
}

export const od: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(odOptions, call.given)
  const short: Readonly<Record<string, string>> = { '-c': 'c', '-x': 'x2', '-b': 'o1' }
  const wanted = options.flatMap(({ name, value = '' }) => (name === '-t' ? [value] : (short[name] ?? [])))
  const [kind = 'x'] = wanted
  const format = formats[kind]
  if (format === undefined || wanted.length !== 1)
    return call.host.refuse('od', 'give one of -c -b -x, or -t c, x1, x2, o1 or u1')
  const radix = options.findLast(({ name }) => name === '-A')?.value ?? 'o'
  const most = options.findLast(({ name }) => name === '-N')?.value
  if (!/^[onxd]$/.test(radix) || !/^\d*$/.test(most ?? ''))
    call.host.refuse('od', 'give -A o, d, x or n, and a whole number for -N')
  const read = await readOperands(call, operands, output)
  if (read.length === 0 && output.exitCode !== 0) return output.result()
  const all = read
    .map(({ bytes }) => bytes)
    .join('')
    .slice(0, most === undefined ? undefined : Number(most))
  const address = (at: number) =>
    radix === 'n'
      ? ''
      : radix === 'o'
        ? at.toString(8).padStart(7, '0')
        : radix === 'd'
          ? String(at).padStart(7, '0')
          : hex(at, 6)
  let before: string | undefined
  let starred = false
  for (let at = 0; at < all.length; at += 16) {
    const row = all.slice(at, at + 16)
    if (row === before && row.length === 16 && !options.some(({ name }) => name === '-v')) {
      if (!starred) output.write('*\n')
      starred = true
      continue
    }
    starred = false
    before = row
    const cells: string[] = []
    for (let index = 0; index < row.length; index += format.size) {
      const low = row.charCodeAt(index)
      const high = format.size === 2 && index + 1 < row.length ? row.charCodeAt(index + 1) : 0
      cells.push(` ${format.show(low + high * 256).padStart(format.width)}`)
    }
    output.write(`${address(at)}${cells.join('')}\n`)
  }
  if (radix !== 'n') output.write(`${address(all.length)}\n`)
  return output.result()
}
