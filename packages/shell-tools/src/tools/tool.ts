import type { defineCommand, ExecResult } from 'just-bash'

import { codeOf, errorWords } from '../../files/errors.ts'
import { decodeText, encodeText, hasForeignBytes } from '../../files/text.ts'
import type { Session } from '../session.ts'

export type InterpreterContext = Parameters<Parameters<typeof defineCommand>[1]>[1]

/** One call of a command that is our own. Data is bytes: strings with one character for each. */
export interface Invocation {
  readonly name: string
  readonly given: readonly string[]
  readonly context: InterpreterContext
  readonly session: Session
  /** The source of its standard input: the group or the loop around it, or a file. */
  readonly inherits?: 'group' | 'loop' | 'file' | undefined
}

export type Tool = (call: Invocation) => Promise<ExecResult>

/** The output that a call has written. */
export class Output {
  readonly #out: string[] = []
  readonly #err: string[] = []
  exitCode = 0

  write(bytes: string): void {
    this.#out.push(bytes)
  }

  /** A line on standard error; the exit code is 1 or more from now on. */
  fail(text: string, exitCode = 1): void {
    this.#err.push(`${text}\n`)
    this.exitCode = Math.max(this.exitCode, exitCode)
  }

  /** Passes on the output of a command that this one ran. */
  relay(result: ExecResult): void {
    this.write(outputOf(result))
    this.#err.push(result.stderr)
  }

  note(text: string): void {
    this.#err.push(text)
  }

  result(): ExecResult {
    const { exitCode } = this
    return {
      stdout: this.#out.join(''),
      stderr: this.#err.join(''),
      exitCode,
      stdoutKind: 'bytes',
      stdoutEncoding: 'binary',
    }
  }
}

/** Text as bytes, one character for each. */
export function bytesOf(text: string): string {
  return Buffer.from(encodeText(text)).toString('latin1')
}

const foreign = /[^\0-\x7f]/u
/** Bytes of output that is not UTF-8 and still becomes text: just-bash's limit counts three for each byte of it. */
const mostForeign = 1024 * 1024

/**
 * The result with text in place of bytes. just-bash puts standard output and errors into one another as they are, and measures
 * both as text: bytes would come out as other characters, or end the script with `invalid stdout accounting`.
 */
export function asText(result: ExecResult): ExecResult {
  const { stdoutKind, stdoutEncoding, ...rest } = result
  const { stdout, stderr } = rest
  const isBytes = stdoutKind === 'bytes' || (stdoutKind === undefined && stdoutEncoding === 'binary')
  if (!isBytes || !(foreign.test(stdout) || foreign.test(stderr))) return result
  const text = decodeText(Buffer.from(stdout, 'latin1'))
  if (stderr === '' && stdout.length > mostForeign && hasForeignBytes(text)) return result
  return { ...rest, stdout: text, stdoutKind: 'text' }
}

/** True for output that {@link asText} leaves as bytes: it would come out as other characters on standard error. */
export function isLeftAsBytes({ stdout, stdoutKind }: ExecResult): boolean {
  return stdoutKind === 'bytes' && stdout.length > mostForeign && foreign.test(stdout)
}

/** The bytes of a result, one character for each. */
export function outputOf({ stdout, stdoutKind }: ExecResult): string {
  return stdoutKind === 'bytes' ? stdout : bytesOf(stdout)
}

/** Notes that a command reads standard input, and refuses what was read before by another one. */
export function noteInput({ name, inherits, context, session }: Invocation): void {
  const input = context.stdin as unknown as string
  if (inherits === undefined || inherits === 'file' || input === '') return
  if (inherits === 'loop')
    session.refuse(name, 'it would take the standard input of the loop; give it `< /dev/null` or a file')
  if (session.inheritedInput?.endsWith(input) === true)
    session.refuse(name, 'another command has read the same standard input before')
  session.inheritedInput = input
}

export function standardInput(call: Invocation): string {
  noteInput(call)
  const { context } = call
  // The brand is just-bash's: one character for each byte.
  return context.stdin as unknown as string
}

/** The absolute path of an operand; an empty one stays empty, which names nothing. */
export function pathOf({ context }: Invocation, operand: string): string {
  return context.fs.resolvePath(context.cwd, operand)
}

/** The bytes of an operand, `-` for standard input. */
export async function readOperand(call: Invocation, operand: string): Promise<string> {
  if (operand === '-' || operand === '/dev/stdin') return standardInput(call)
  const { fs } = call.context
  return Buffer.from(await fs.readFileBuffer(pathOf(call, operand))).toString('latin1')
}

/** The words of an error, as the C library has them. */
export function wordsOf(error: unknown): string {
  return errorWords[codeOf(error)] ?? codeOf(error)
}

/** Each operand's bytes, or standard input without operands. An unreadable operand is reported and passed over. */
export async function readOperands(
  call: Invocation,
  operands: readonly string[],
  output: Output,
  exitCode = 1,
): Promise<{ readonly operand: string; readonly bytes: string }[]> {
  const read: { operand: string; bytes: string }[] = []
  for (const operand of operands.length === 0 ? ['-'] : operands) {
    try {
      read.push({ operand, bytes: await readOperand(call, operand) })
    } catch (error) {
      output.fail(`${call.name}: ${operand === '' ? "''" : operand}: ${wordsOf(error)}`, exitCode)
    }
  }
  return read
}

/** Lines without their newline; a last line without one counts too. */
export function linesOf(bytes: string, separator = '\n'): string[] {
  const lines = bytes.split(separator)
  if (lines.at(-1) === '') lines.pop()
  return lines
}
