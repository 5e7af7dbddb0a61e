import type { Tool } from '../contract.ts'
import { linesOf, eachOperand, readOperands } from '../operands.ts'
import { bytesOf, Output } from '../output.ts'
import { decodeText, hasForeignBytes } from '../text.ts'
import { parseArguments } from '../options.ts'
import { compareBytes } from './sort.ts'

export const commOptions = { flags: '123' }

export const comm: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(commOptions, call.given)
  if (operands.length !== 2) {
    output.fail(operands.length < 2 ? 'comm: missing operand' : `comm: extra operand '${operands[2]}'`)
    return output.result()
  }
  const [left, right] = (await readOperands(call, operands, output)).map(({ bytes }) => linesOf(bytes))
  if (left === undefined || right === undefined) return output.result()
  const hidden = new Set(options.map(({ name }) => name.slice(1)))
  const show = (column: number, line: string) => {
    if (hidden.has(String(column))) return
    const before = [1, 2].filter((other) => other < column && !hidden.has(String(other))).length
    output.write(`${'\t'.repeat(before)}${line}\n`)
  }
  let [atLeft, atRight] = [0, 0]
  while (atLeft < left.length || atRight < right.length) {
    const [one, other] = [left[atLeft], right[atRight]]
    const order = one === undefined ? 1 : other === undefined ? -1 : compareBytes(one, other)
    if (order <= 0) atLeft++
    if (order >= 0) atRight++
    show(order === 0 ? 3 : order < 0 ? 1 : 2, (order <= 0 ? one : other) ?? '')
  }
  for (const [index, lines] of [left, right].entries()) {
    if (lines.some((line, at) => at > 0 && compareBytes(lines[at - 1] ?? '', line) > 0)) {
      // The line at which GNU's comm stops depends on both files.
      call.host.refuse('comm', `\`${operands[index]}\` is not sorted`)
    }
  }
  return output.result()
}

export const nlOptions = { valued: 'bwsvi' }

export const nl: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(nlOptions, call.given)
  const valueOf = (name: string, otherwise: string) =>
    options.findLast((option) => option.name === name)?.value ?? otherwise
  const style = valueOf('-b', 't')
  const width = Number(valueOf('-w', '6'))
  const separator = bytesOf(valueOf('-s', '\t'))
  const step = Number(valueOf('-i', '1'))
  let number = Number(valueOf('-v', '1'))
  if (!/^[atn]$/.test(style) || !(width > 0) || !Number.isInteger(number) || !Number.isInteger(step))
    call.host.refuse('nl', 'give -b a, t or n, and whole numbers')
  for await (const { bytes } of eachOperand(call, operands, output)) {
    for (const line of linesOf(bytes)) {
      if (/^(?:\\:){1,3}$/.test(line)) call.host.refuse('nl', 'sections (`\\:`) are not known here')
      const counted = style === 'a' || (style === 't' && line !== '')
      if (counted) {
        output.write(`${String(number).padStart(width)}${separator}${line}\n`)
        number += step
      } else output.write(`${' '.repeat(width + separator.length)}${line}\n`)
    }
  }
  return output.result()
}

export const foldOptions = { flags: 'sb', valued: 'w' }

export const fold: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(foldOptions, call.given)
  const width = Number(options.findLast(({ name }) => name === '-w')?.value ?? 80)
  const atBlanks = options.some(({ name }) => name === '-s')
  if (!Number.isInteger(width) || width < 1) {
    output.fail(`fold: invalid number of columns: '${options.findLast(({ name }) => name === '-w')?.value}'`)
    return output.result()
  }
  for await (const { bytes } of eachOperand(call, operands, output)) {
    if (/[\t\b\r]/.test(bytes))
      call.host.refuse('fold', 'tabs, backspaces and carriage returns are not counted here; use expand or tr first')
    for (const line of bytes.split(/(?<=\n)/)) {
      let rest = line.replace(/\n$/, '')
      while (rest.length > width) {
        const blank = atBlanks ? rest.lastIndexOf(' ', width - 1) : -1
        const cut = blank === -1 ? width : blank + 1
        output.write(`${rest.slice(0, cut)}\n`)
        rest = rest.slice(cut)
      }
      output.write(rest + (line.endsWith('\n') ? '\n' : ''))
    }
  }
  return output.result()
}

export const rev: Tool = async (call) => {
  const output = new Output()
  const { operands } = parseArguments({}, call.given)
  for await (const { bytes } of eachOperand(call, operands, output)) {
    const text = decodeText(Buffer.from(bytes, 'latin1'))
    if (hasForeignBytes(text)) call.host.refuse('rev', 'the input is not UTF-8')
    output.write(bytesOf(text.replace(/[^\n]+/g, (line) => [...line].reverse().join(''))))
  }
  return output.result()
}
