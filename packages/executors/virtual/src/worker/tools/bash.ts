import { pathOf, wordsOf, type ToolResult } from '@ws/shell-tools'
import { codeOf, decodeText, isFileError } from '@ws/shell-tools/files'

import type { Call, ScriptTool } from '../call.ts'
import { startingWith } from './run-program.ts'

interface Parsed {
  readonly set: readonly string[]
  /** True if the script is the text after `-c`, not a file or standard input. */
  readonly command: boolean
  readonly stdin: boolean
  readonly operands: readonly string[]
  readonly odd?: string
}

/** Options without effect, since start-up files are never read. */
const withoutMeaning = new Set(['--login', '--norc', '--noprofile', '--posix', '-l'])

/** Parses calls such as `bash -lc`, `-euo pipefail -c`, `-x FILE`. */
function parse(given: readonly string[]): Parsed {
  const set: string[] = []
  let command = false
  let stdin = false
  const words = [...given]
  for (let word = words[0]; word !== undefined && /^[-+]./.test(word); word = words[0]) {
    words.shift()
    if (word === '--' || word === '-') break
    if (withoutMeaning.has(word) && word !== '--posix') continue
    if (word.startsWith('--')) return { set, command, stdin, operands: words, odd: word }
    const sign = word[0] ?? '-'
    for (const letter of word.slice(1)) {
      if (letter === 'c' && sign === '-') command = true
      else if (letter === 's' && sign === '-') stdin = true
      else if (letter === 'l') continue
      else if (letter === 'o') {
        const name = words.shift() ?? ''
        if (!/^[a-z]+$/.test(name)) return { set, command, stdin, operands: words, odd: `${sign}o` }
        set.push(`${sign}o ${name}`)
      } else if ('aefnuxC'.includes(letter)) set.push(`${sign}${letter}`)
      else return { set, command, stdin, operands: words, odd: `${sign}${letter}` }
    }
  }
  return { set, command, stdin, operands: words }
}

/** The script that a call of `bash` or `sh` runs, if known. */
export async function scriptOf(call: Call): Promise<string | undefined> {
  const { command, stdin, operands } = parse(call.given)
  if (command) return operands[0]
  const [file] = operands
  if (stdin || file === undefined) return text(call.context.stdin)
  const { fs } = call.context
  return fs.readFileBuffer(pathOf(call, file)).then(decodeText, () => undefined) // the shell itself reports a missing file
}

const text = (bytes: string): string => decodeText(Buffer.from(bytes, 'latin1'))

export const bash: ScriptTool = async (call) => {
  const { name, context, host } = call
  const { set, command, stdin, operands, odd } = parse(call.given)
  if (odd !== undefined) host.refuse(`${name} ${odd}`, 'use -c, -s, -l, -a, -e, -f, -n, -u, -x, -C or -o NAME')
  const [first, ...rest] = operands
  if (command && first === undefined)
    return { stdout: '', stderr: `${name}: -c: option requires an argument\n`, exitCode: 2 }
  const fromInput = !command && (stdin || first === undefined)
  if (fromInput) return run(call, text(context.stdin), { set, zero: name, given: operands, stdin: '' })
  if (command) return run(call, first ?? '', { set, zero: rest[0] ?? name, given: rest.slice(1) })
  try {
    const bytes = await context.fs.readFileBuffer(pathOf(call, first ?? ''))
    return await run(call, decodeText(bytes), { set, zero: first ?? '', given: rest, source: first ?? '' })
  } catch (error) {
    if (!isFileError(error)) throw error
    const missing = codeOf(error) === 'ENOENT'
    return { stdout: '', stderr: `${name}: ${first}: ${wordsOf(error)}\n`, exitCode: missing ? 127 : 126 }
  }
}

interface Run {
  readonly set: readonly string[]
  /** The value of `$0`. */
  readonly zero: string
  readonly given: readonly string[]
  /** The file that contains the script, if any. */
  readonly source?: string
  /** Empty if the script itself came from standard input. */
  readonly stdin?: string
}

async function run(call: Call, script: string, { set, zero, given, source, stdin }: Run): Promise<ToolResult> {
  const { context, host } = call
  if (context.exec === undefined) throw new Error('there is no interpreter to run it in')
  if (script.trim() === '') return { stdout: '', stderr: '', exitCode: 0 }
  const env: Record<string, string> = startingWith(context.exportedEnv)
  Object.assign(env, { 0: zero, '#': String(given.length), '@': given.join(' '), '*': given.join(' ') })
  given.forEach((word, index) => (env[String(index + 1)] = word))
  host.begins = { source, exported: Object.keys(context.exportedEnv ?? {}) }
  // The options are set on the first line of the script, so that line numbers stay correct.
  const begin = set.length === 0 ? '' : `set ${set.join(' ')}; `
  // The interpreter also accepts `rawScript` here, though its type lacks it.
  const options = {
    cwd: context.cwd,
    env,
    replaceEnv: true,
    rawScript: true,
    stdin: stdin ?? context.stdin,
    stdinKind: 'bytes' as const,
    ...(context.signal === undefined ? {} : { signal: context.signal }),
  }
  return context.exec(begin + script, options)
}
