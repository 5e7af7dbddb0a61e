import { virtualError } from '../mount/errors.ts'
import type { Command, CommandArguments } from '../contract/workspace.ts'

export const maxCommandBytes = 16 * 1024 * 1024

export interface NormalisedCommand {
  readonly line: string
  /** Set if the command was itself `<shell> -c …`: the executor must not wrap it in a second shell. */
  readonly shell?: string | undefined
  readonly login?: boolean | undefined
}

const shells = /^(?:\/(?:usr\/)?bin\/)?(?:bash|zsh|sh|dash|ksh)$/
// `=` and `~` are absent: a shell may interpret them, so they are always quoted.
const harmless = /^[\w@%+:,./-]+$/

/** Converts any form of a command [LS5] to one shell line, for policy and executors [LS6]. @throws WorkspaceError `EINVAL` */
export function normaliseCommand(given: Command, shell?: string): NormalisedCommand {
  const command = isArguments(given) ? commandOf(given) : given
  if (typeof command === 'string') {
    checkText(command)
    if (command.trim() === '') throw invalid('the command is blank', 'pass a command line such as `ls -la`')
    return { line: command }
  }
  if (!Array.isArray(command)) {
    throw invalid(
      `the command must be a string or an array of strings, not ${command === null ? 'null' : typeof command}`,
      'pass a command line, or a program with its arguments',
    )
  }
  const words: readonly unknown[] = command
  if (words.length === 0) throw invalid('the command is an empty array', 'pass the program as its first element')
  const position = words.findIndex((word) => typeof word !== 'string')
  if (position !== -1) throw invalid(`element ${position} of the command is not a string`, 'pass strings only')
  const [program = '', flag, script, ...rest] = words as readonly string[]
  for (const word of words as readonly string[]) checkText(word)
  if (program.trim() === '') throw invalid('the program is blank', 'pass the program as the first element')
  if (
    shells.test(program) &&
    (flag === '-c' || flag === '-lc') &&
    script !== undefined &&
    rest.length === 0 &&
    script.trim() !== ''
  ) {
    return { line: script, shell: program, login: flag === '-lc' }
  }
  const line = (words as readonly string[]).map((word) => quoteForShell(word, shell)).join(' ')
  checkText(line)
  return { line }
}

function isArguments(command: Command): command is CommandArguments {
  return typeof command === 'object' && command !== null && !Array.isArray(command)
}

/** Returns `command`, otherwise the words of `command.N`. Inherited properties do not count. */
function commandOf(given: CommandArguments): string | readonly string[] {
  const own = (name: string): unknown =>
    Object.hasOwn(given, name) ? given[name as keyof CommandArguments] : undefined
  const whole = own('command')
  // The caller checks the type, so that each caller gives its own reason.
  if (whole !== undefined) return whole as string | readonly string[]
  const words: unknown[] = []
  const first = own('command.0') === undefined ? 1 : 0
  for (let index = first; ; index++) {
    const word = own(`command.${index}`)
    if (word === undefined) break
    words.push(word)
  }
  if (words.length > 0) return words as readonly string[]
  throw invalid(
    'the command is missing: neither `command` nor `command.0` nor `command.1`',
    'pass `command`, or its words as `command.0`, `command.1` and so on without a gap',
  )
}

/** Quotes a word for a POSIX shell or for fish. In fish, a backslash inside quotes is special. */
export function quoteForShell(word: string, shell = 'sh'): string {
  if (harmless.test(word)) return word
  if (/(?:^|\/)fish$/.test(shell)) return `'${word.replace(/[\\']/g, '\\$&')}'`
  return `'${word.replaceAll("'", `'\\''`)}'`
}

function checkText(text: string): void {
  if (text.includes('\0')) throw invalid('the command contains a NUL character', 'remove it')
  if (!text.isWellFormed()) throw invalid('the command contains a lone surrogate', 'pass well-formed Unicode')
  // A UTF-16 unit takes at most three bytes in UTF-8.
  if (text.length * 3 > maxCommandBytes && new TextEncoder().encode(text).length > maxCommandBytes) {
    throw invalid(`the command is longer than ${maxCommandBytes} bytes`, 'write a script into the workspace and run it')
  }
}

function invalid(reason: string, remedy: string): Error {
  return virtualError({ code: 'EINVAL', operation: 'exec', reason, remedy })
}
