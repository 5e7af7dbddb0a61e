import type { Tool } from '../contract.ts'
import { bytesOf, Output } from '../output.ts'
import { parseArguments } from '../options.ts'

export const basenameOptions = { flags: 'a', valued: 's' }

export const basename: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(basenameOptions, call.given)
  const given = options.findLast(({ name }) => name === '-s')?.value
  const [first, second] = operands
  if (first === undefined) output.fail('basename: missing operand')
  else if (options.length > 0) for (const one of operands) output.write(bytesOf(`${lastOf(one, given)}\n`))
  else if (operands.length > 2) output.fail(`basename: extra operand '${operands[2]}'`)
  else output.write(bytesOf(`${lastOf(first, second)}\n`))
  return output.result()
}

function lastOf(path: string, suffix = ''): string {
  const bare = path.replace(/\/+$/, '')
  if (bare === '') return path === '' ? '' : '/'
  const name = bare.slice(bare.lastIndexOf('/') + 1)
  return suffix !== '' && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name
}

export const dirname: Tool = async (call) => {
  const output = new Output()
  const { operands } = parseArguments({}, call.given)
  if (operands.length === 0) output.fail('dirname: missing operand')
  for (const path of operands) {
    const bare = path.replace(/\/+$/, '')
    const above = bare.replace(/\/*[^/]*$/, '')
    const root = path.startsWith('/') ? '/' : '.'
    output.write(bytesOf(`${above === '' ? root : above}\n`))
  }
  return output.result()
}
