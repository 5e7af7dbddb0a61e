import type { Tool } from '../contract.ts'
import { readOperands } from '../operands.ts'
import { Output } from '../output.ts'
import { parseArguments } from '../options.ts'

export const base64Options = { flags: 'd', valued: 'w', long: ['decode', 'wrap='] }

export const base64: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(base64Options, call.given)
  const width = options.findLast(({ name }) => name === '-w' || name === '--wrap')?.value ?? '76'
  if (operands.length > 1) output.fail(`base64: extra operand '${operands[1]}'`)
  else if (!/^\d+$/.test(width)) output.fail(`base64: invalid wrap size: '${width}'`)
  else {
    const [read] = await readOperands(call, operands, output)
    if (read === undefined) return output.result()
    if (options.some(({ name }) => name === '-d' || name === '--decode')) decode(read.bytes, output)
    else output.write(wrapped(Buffer.from(read.bytes, 'latin1').toString('base64'), Number(width)))
  }
  return output.result()
}

function wrapped(text: string, width: number): string {
  if (width === 0 || text === '') return text
  return (text.match(new RegExp(`.{1,${width}}`, 'g')) ?? []).map((line) => `${line}\n`).join('')
}

/** Decodes up to the first invalid group. Each group may end in `=`. */
function decode(bytes: string, output: Output): void {
  const text = bytes.replaceAll('\n', '')
  for (let at = 0; at < text.length; at += 4) {
    const group = text.slice(at, at + 4)
    const valid = /^[A-Za-z0-9+/]{2}(?:[A-Za-z0-9+/]{2}|[A-Za-z0-9+/]=|==)$/.test(group)
    const known = /^[A-Za-z0-9+/]{2,3}/.exec(group)?.[0] ?? ''
    output.write(
      Buffer.from(
        known.length < 2 ? '' : group.startsWith(`${known}`) ? (valid ? group : known) : '',
        'base64',
      ).toString('latin1'),
    )
    if (valid) continue
    output.fail('base64: invalid input')
    return
  }
}
