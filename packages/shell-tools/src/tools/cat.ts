import type { Tool } from '../contract.ts'
import { eachOperand } from '../operands.ts'
import { Output } from '../output.ts'
import { parseArguments } from '../options.ts'

export const catOptions = { flags: 'nAETvet' }

export const cat: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(catOptions, call.given)
  const has = (letters: string): boolean => options.some(({ name }) => letters.includes(name.slice(1)))
  const [numbers, ends, tabs, visible] = [has('n'), has('AEe'), has('ATt'), has('Avet')]
  let line = 0
  let isAtStart = true
  for await (const { bytes } of eachOperand(call, operands, output)) {
    for (const part of bytes.match(/[^\n]*\n|[^\n]+$/gu) ?? []) {
      if (numbers && isAtStart) output.write(`${String((line += 1)).padStart(6)}\t`)
      isAtStart = part.endsWith('\n')
      let text = isAtStart ? part.slice(0, -1) : part
      const carriage = ends && isAtStart && !visible && text.endsWith('\r')
      if (carriage) text = text.slice(0, -1)
      if (visible) text = text.replaceAll(/[^\t\x20-\x7e]/gu, seen)
      if (tabs) text = text.replaceAll('\t', '^I')
      output.write(`${text}${carriage ? '^M' : ''}${isAtStart ? `${ends ? '$' : ''}\n` : ''}`)
    }
  }
  return output.result()
}

function seen(byte: string): string {
  const code = byte.charCodeAt(0)
  const low = code & 0x7f
  const shown = low < 0x20 ? `^${String.fromCharCode(low + 0x40)}` : low === 0x7f ? '^?' : String.fromCharCode(low)
  return code < 0x80 ? shown : `M-${shown}`
}
