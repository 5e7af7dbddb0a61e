import type { Invocation, Tool } from '../contract.ts'
import { linesOf, readOperands } from '../operands.ts'
import { bytesOf, Output } from '../output.ts'
import { decodeText } from '../text.ts'
import { parseArguments } from '../options.ts'

export const columnOptions = { flags: 't', valued: 's' }

export const column: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(columnOptions, call.given)
  const separators = options.findLast(({ name }) => name === '-s')?.value
  const rows: string[][] = []
  for (const { bytes } of await readOperands(call, operands, output)) {
    for (const line of linesOf(bytes)) {
      const text = decodeText(Buffer.from(line, 'latin1'))
      if (text.trim() !== '') rows.push(cellsOf(call, text, separators))
    }
  }
  const count = Math.max(0, ...rows.map((cells) => cells.length))
  const widths = Array.from({ length: count }, (_, index) =>
    Math.max(...rows.map((cells) => [...(cells[index] ?? '')].length)),
  )
  for (const cells of rows) {
    const line = widths.map((width, index) => {
      const cell = cells[index] ?? ''
      return index === count - 1 ? cell : cell + ' '.repeat(width + 2 - [...cell].length)
    })
    output.write(bytesOf(`${line.join('')}\n`))
  }
  return output.result()
}

function cellsOf(call: Invocation, text: string, separators: string | undefined): string[] {
  // A wide character takes two columns, a zero-width character none.
  if (/[\u0300-\u036f\u1100-\u{10ffff}]|\p{Cc}/u.test(text.replaceAll('\t', '')))
    call.host.refuse('column', 'characters that are not one place wide')
  if (separators === undefined) return text.trim().split(/[ \t]+/)
  const cells = ['']
  for (const character of text) {
    if (separators.includes(character)) cells.push('')
    else cells.push(`${cells.pop()}${character}`)
  }
  return cells
}
