import type { FileFacts, Invocation, Tool } from '../contract.ts'
import { pathOf, wordsOf } from '../operands.ts'
import { bytesOf, Output } from '../output.ts'
import { isFileError } from '../errors.ts'
import { parseArguments } from '../options.ts'
import { modeText } from './find/format.ts'
import { typeOf } from './find/tests.ts'

export const statOptions = { flags: 'L', valued: 'c', long: ['format=', 'printf=', 'dereference'] }

export const stat: Tool = async (call) => {
  const output = new Output()
  const { options, operands } = parseArguments(statOptions, call.given)
  const follow = options.some(({ name }) => name === '-L' || name === '--dereference')
  const given = options.findLast(({ name }) => name !== '-L' && name !== '--dereference')
  if (given?.value === undefined)
    call.host.refuse('stat', 'inodes, blocks and owners are not known here; use -c with %n %s %a %A %F %Y %N')
  const printf = given?.name === '--printf'
  if (operands.length === 0) output.fail('stat: missing operand')
  for (const operand of operands) {
    try {
      const { fs } = call.context
      const path = pathOf(call, operand)
      const found = await (follow ? fs.stat(path) : fs.lstat(path))
      const line = await formatted(call, given?.value ?? '', { operand, path, found, printf })
      output.write(bytesOf(printf ? line : `${line}\n`))
    } catch (error) {
      if (!isFileError(error)) throw error
      output.fail(`stat: cannot statx '${operand}': ${wordsOf(error)}`)
    }
  }
  return output.result()
}

interface Subject {
  readonly operand: string
  readonly path: string
  readonly found: FileFacts
  readonly printf: boolean
}

const kinds: Readonly<Record<string, string>> = { d: 'directory', f: 'regular file', l: 'symbolic link' }

async function formatted(call: Invocation, format: string, subject: Subject): Promise<string> {
  const { operand, path, found, printf } = subject
  const pieces: string[] = []
  for (const piece of format.match(/%.|\\.|[^%\\]+|[^]/gsu) ?? []) {
    if (piece.startsWith('\\') && printf) {
      const text = ({ '\\n': '\n', '\\t': '\t', '\\\\': '\\' } as Readonly<Record<string, string>>)[piece]
      if (text === undefined) call.host.refuse('stat --printf', `\`${piece}\` is not known here`)
      pieces.push(text ?? '')
    } else if (!piece.startsWith('%')) pieces.push(piece)
    else pieces.push(await directive(piece[1] ?? ''))
  }
  return pieces.join('')

  async function directive(letter: string): Promise<string> {
    const type = typeOf(found)
    const link = found.isSymbolicLink ? await call.context.fs.readlink(path) : undefined
    switch (letter) {
      case '%':
        return '%'
      case 'n':
        return operand
      case 'N':
        if (/['\\\s]/.test(operand + (link ?? ''))) break
        return link === undefined ? `'${operand}'` : `'${operand}' -> '${link}'`
      case 's':
        if (found.isDirectory) break
        return String(link === undefined ? found.size : Buffer.byteLength(link))
      case 'a':
        return (found.mode & 0o777).toString(8)
      case 'A':
        return modeText(type, found.mode)
      case 'F':
        if (type === '?') break
        return type === 'f' && found.size === 0 ? 'regular empty file' : (kinds[type] ?? '')
      case 'Y':
        if (found.mtime.getTime() === 0) break
        return String(Math.floor(found.mtime.getTime() / 1000))
      default:
    }
    return call.host.refuse(`stat %${letter}`, `it is not known here for \`${operand}\`; use %n %s %a %A %F %Y`)
  }
}
