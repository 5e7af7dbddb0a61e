import type { Invocation, Tool } from '../contract.ts'
import { linesOf, pathOf, readOperands } from '../operands.ts'
import { bytesOf, Output } from '../output.ts'
import { parseArguments } from '../options.ts'
import { codeOf } from '../errors.ts'

export const readlinkOptions = { flags: 'fe' }
export const realpathOptions = { flags: 'e' }

async function resolved(call: Invocation, operand: string, must: boolean): Promise<string | undefined> {
  const { fs } = call.context
  const path = pathOf(call, operand)
  try {
    return await fs.realpath(path)
  } catch (error) {
    if (must || codeOf(error) !== 'ENOENT' || operand === '') return undefined
  }
  const link = await fs.readlink(path).catch(() => undefined) // the path is not a link
  const bare = path.replace(/\/+$/, '')
  const parent = bare.replace(/\/[^/]*$/, '') || '/'
  if (link !== undefined) return resolved(call, link.startsWith('/') ? link : `${parent}/${link}`, false)
  const above = await fs.realpath(parent).catch(() => undefined) // reported as `realpath` reports a missing path
  if (above === undefined || !(await fs.stat(above)).isDirectory) return undefined
  return `${above === '/' ? '' : above}/${bare.split('/').at(-1)}`
}

export const readlink: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(readlinkOptions, call.given)
  const letters = new Set(options.map(({ name }) => name))
  if (operands.length === 0) output.fail('readlink: missing operand')
  for (const operand of operands) {
    const found =
      letters.size > 0
        ? await resolved(call, operand, letters.has('-e'))
        : await call.context.fs.readlink(pathOf(call, operand)).catch(() => undefined) // `readlink` without `-v` prints no error
    if (found === undefined) output.exitCode = 1
    else output.write(bytesOf(`${found}\n`))
  }
  return output.result()
}

export const realpath: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(realpathOptions, call.given)
  if (operands.length === 0) output.fail('realpath: missing operand')
  for (const operand of operands) {
    const found = await resolved(call, operand, options.length > 0)
    if (found === undefined) output.fail(`realpath: ${operand}: No such file or directory`)
    else output.write(bytesOf(`${found}\n`))
  }
  return output.result()
}

export const pasteOptions = { flags: 's', valued: 'd', long: ['serial', 'delimiters='] }

const escapes: Readonly<Record<string, string>> = { '\\n': '\n', '\\t': '\t', '\\0': '', '\\\\': '\\' }

export const paste: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(pasteOptions, call.given)
  const list = bytesOf(options.findLast(({ name }) => name === '-d' || name === '--delimiters')?.value ?? '\t')
  const delimiters = (list.match(/\\[^]|[^]/g) ?? []).map((one) => escapes[one] ?? one)
  if (delimiters.length === 0) delimiters.push('')
  if (delimiters.some((one) => one.length > 1)) call.host.refuse('paste -d', `the escapes in \`${list}\``)
  const serial = options.some(({ name }) => name === '-s' || name === '--serial')
  const read = await readOperands(
    call,
    operands.filter((operand, index) => operand !== '-' || operands.indexOf('-') === index),
    output,
  )
  if (output.exitCode !== 0) return output.result()
  const byName = new Map(read.map(({ operand, bytes }) => [operand, linesOf(bytes)]))
  const columns = (operands.length === 0 ? ['-'] : operands).map(
    (operand) => (operand === '-' ? byName.get(operand) : byName.get(operand)?.slice()) ?? [],
  )
  const between = (index: number) => delimiters[index % delimiters.length] ?? ''
  if (serial) {
    for (const lines of columns)
      output.write(`${lines.map((line, index) => (index === 0 ? '' : between(index - 1)) + line).join('')}\n`)
    return output.result()
  }
  const places = new Map<readonly string[], number>()
  for (;;) {
    let any = false
    const row = columns.map((lines, index) => {
      const place = places.get(lines) ?? 0
      places.set(lines, place + 1)
      if (place < lines.length) any = true
      return (index === 0 ? '' : between(index - 1)) + (lines[place] ?? '')
    })
    if (!any) return output.result()
    output.write(`${row.join('')}\n`)
  }
}
