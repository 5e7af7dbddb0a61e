import type { Tool } from '../contract.ts'
import { linesOf, eachOperand } from '../operands.ts'
import { bytesOf, Output } from '../output.ts'
import { parseArguments } from '../options.ts'

export const cutOptions = {
  flags: 'sn',
  valued: 'dfcb',
  long: ['delimiter=', 'fields=', 'characters=', 'bytes=', 'complement', 'only-delimited', 'output-delimiter='],
}

/** Ranges of a list such as `1,3-5,7-`, from 1; `undefined` for an invalid list. */
function rangesOf(list: string): (readonly [number, number])[] | undefined {
  const ranges: (readonly [number, number])[] = []
  for (const item of list.split(/[, \t]/)) {
    const [, from = '', dash = '', to = ''] = /^(\d*)(-?)(\d*)$/.exec(item) ?? []
    if (from === '' && to === '') return undefined
    const start = from === '' ? 1 : Number(from)
    const end = dash === '' ? start : to === '' ? Infinity : Number(to)
    if (start === 0 || end < start) return undefined
    ranges.push([start, end])
  }
  return ranges
}

export const cut: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(cutOptions, call.given)
  const valueOf = (...names: string[]) => options.findLast(({ name }) => names.includes(name))?.value
  const has = (...names: string[]) => options.some(({ name }) => names.includes(name))
  const fields = valueOf('-f', '--fields')
  const places = valueOf('-c', '--characters', '-b', '--bytes')
  const list = fields ?? places
  const delimiter = bytesOf(valueOf('-d', '--delimiter') ?? '\t')
  const ranges = rangesOf(list ?? '')
  if (options.filter(({ name }) => /^-[fcb]$|^--(?:fields|characters|bytes)$/.test(name)).length > 1) {
    output.fail('cut: only one list may be specified')
    return output.result()
  }
  if (list === undefined || (fields !== undefined && places !== undefined)) {
    output.fail('cut: you must specify a list of bytes, characters, or fields')
    return output.result()
  }
  if (ranges === undefined) {
    output.fail(`cut: invalid ${fields === undefined ? 'byte/character position' : 'field value'} '${list}'`)
    return output.result()
  }
  if (delimiter.length > 1) {
    output.fail('cut: the delimiter must be a single character')
    return output.result()
  }
  const separator = delimiter === '' ? '\0' : delimiter
  const complement = has('--complement')
  const chosen = (index: number) => ranges.some(([from, to]) => index >= from && index <= to) !== complement
  const between = valueOf('--output-delimiter')
  for await (const { bytes } of eachOperand(call, operands, output)) {
    for (const line of linesOf(bytes)) {
      if (fields === undefined) {
        output.write(`${placesOf(line, chosen, between)}\n`)
      } else if (!line.includes(separator)) {
        if (!has('-s', '--only-delimited')) output.write(`${line}\n`)
      } else {
        const kept = line.split(separator).filter((_, index) => chosen(index + 1))
        output.write(`${kept.join(between === undefined ? separator : bytesOf(between))}\n`)
      }
    }
  }
  return output.result()
}

function placesOf(line: string, chosen: (index: number) => boolean, between?: string): string {
  const runs: string[] = []
  let inside = false
  for (let index = 0; index < line.length; index++) {
    const take = chosen(index + 1)
    const character = line[index] ?? ''
    if (take && inside) runs.push((runs.pop() ?? '') + character)
    else if (take) runs.push(character)
    inside = take
  }
  return runs.join(between === undefined ? '' : bytesOf(between))
}
