import type { Invocation } from './contract.ts'
import { codeOf, errorWords } from './errors.ts'
import type { Output } from './output.ts'

export function standardInput(call: Invocation): string {
  call.host.noteInput(call)
  return call.context.stdin
}

/** The absolute path of an operand. An empty operand stays empty, and names no file. */
export function pathOf({ context }: Invocation, operand: string): string {
  return context.fs.resolvePath(context.cwd, operand)
}

export async function readOperand(call: Invocation, operand: string): Promise<string> {
  if (operand === '-' || operand === '/dev/stdin') return standardInput(call)
  const { fs } = call.context
  return Buffer.from(await fs.readFileBuffer(pathOf(call, operand))).toString('latin1')
}

/** The C library's message of an error. */
export function wordsOf(error: unknown): string {
  return errorWords[codeOf(error)] ?? codeOf(error)
}

interface Read {
  readonly operand: string
  readonly bytes: string
}

/** Each operand's bytes, or standard input without operands. An unreadable operand is reported and skipped. */
export async function* eachOperand(
  call: Invocation,
  operands: readonly string[],
  output: Output,
  exitCode = 1,
): AsyncGenerator<Read, undefined> {
  for (const operand of operands.length === 0 ? ['-'] : operands) {
    try {
      yield { operand, bytes: await readOperand(call, operand) }
    } catch (error) {
      output.fail(`${call.name}: ${operand === '' ? "''" : operand}: ${wordsOf(error)}`, exitCode)
    }
  }
  return undefined
}

/** All results of {@link eachOperand}, for a program that reads all input before it prints. */
export async function readOperands(...given: Parameters<typeof eachOperand>): Promise<Read[]> {
  return Array.fromAsync(eachOperand(...given))
}

/** Lines without newlines; an unterminated last line counts too. */
export function linesOf(bytes: string, separator = '\n'): string[] {
  const lines = bytes.split(separator)
  if (lines.at(-1) === '') lines.pop()
  return lines
}
