import { type ExecResult, parse } from '#just-bash'

import { faultNode } from '../arithmetic/expression.ts'
import { literal, type Word } from '../state/nodes.ts'
import type { Command, Interpreter, Script, Statement } from '../state/interpreter.ts'
import { leaveLocals } from '../state/locals.ts'
import { type Shell, shellOf } from '../state/shell.ts'

// After an arithmetic fault in an expansion, bash skips the rest of the line, also in functions and loops.
// just-bash skips only the command.
// A fault in a subscript ends the whole script, unless the script is a file.

export async function asScript(shell: Shell, script: Script, run: () => Promise<ExecResult>): Promise<ExecResult> {
  const { statements, discarded, failed } = shell
  Object.assign(shell, { statements: new Set(script.statements), discarded: undefined })
  try {
    return await run()
  } finally {
    Object.assign(shell, { statements, discarded, failed })
  }
}

interface Fault extends Error {
  stdout: string
  stderr: string
}

const isFault = (error: unknown): error is Fault => error instanceof Error && error.name === 'ArithmeticError'

const outcomes: ReadonlySet<string> = new Set(['ArithmeticCommand', 'ConditionalCommand', 'CStyleFor'])

/** Runs a command in which arithmetic may fail. just-bash turns some faults into a status, and skips too much after others. */
export async function withFaults(
  interpreter: Interpreter,
  command: Command,
  run: () => Promise<ExecResult>,
): Promise<ExecResult> {
  const shell = shellOf(interpreter)
  shell.failed = undefined
  leaveLocals(shell, interpreter.ctx.state)
  try {
    const result = await run()
    const failed = shell.failed as Shell['failed']
    if (failed === undefined || !outcomes.has(command.type)) return result
    const { stdout } = result
    const stderr = command.type === 'CStyleFor' ? `${result.stderr}bash: ((: ${failed.message}\n` : result.stderr
    if (failed.reach !== 'command') throw Object.assign(await faultOf(interpreter, failed.message), { stdout, stderr })
    shell.failed = undefined
    return { ...result, stderr, exitCode: 1 }
  } catch (error) {
    const failed = shell.failed as Shell['failed']
    if (!isFault(error) || failed?.inRedirection !== true || !isProgram(command, interpreter)) throw error
    shell.failed = undefined
    return { stdout: error.stdout, stderr: error.stderr, exitCode: 1 }
  }
}

const builtins: ReadonlySet<string> = new Set(
  '. : [ alias bg break builtin cd command continue declare dirs disown echo enable eval exec exit export false fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait'.split(
    ' ',
  ),
)

/** True for a program. bash starts a program before it expands redirections, so a fault there ends only the program. */
function isProgram(command: Command, { ctx }: Interpreter): boolean {
  if (command.type !== 'SimpleCommand' || command.name === null) return false
  const name = literal(command.name as Word)
  return name === undefined || !(builtins.has(name) || ctx.state.functions.has(name))
}

export async function fail(interpreter: Interpreter, { message, reach }: NonNullable<Shell['failed']>): Promise<never> {
  shellOf(interpreter).failed = { message, reach }
  throw await faultOf(interpreter, message)
}

/** Makes an error of just-bash's class for faults, which just-bash does not export. */
async function faultOf(interpreter: Interpreter, message: string): Promise<Error> {
  const [command] = parse(': $((0))').statements[0]?.pipelines[0]?.commands ?? []
  const text = JSON.stringify(command, (key, value: unknown) =>
    key === 'expression' && !JSON.stringify(value).includes('"expression"') ? faultNode(message) : value,
  )
  try {
    await interpreter.executeSimpleCommand(JSON.parse(text) as Command, '')
  } catch (error) {
    return error as Error
  }
  throw new Error('arithmetic does not fail')
}

/** Ends the shell, and keeps the output so far. */
export async function endScript(
  interpreter: Interpreter,
  status: number,
  { stdout, stderr }: { readonly stdout: string; readonly stderr: string },
): Promise<void> {
  try {
    await interpreter.runCommand('exit', [String(status)], [], '')
  } catch (error) {
    ;(error as { prependOutput?(stdout: string, stderr: string): void }).prependOutput?.(stdout, stderr)
    throw error
  }
}

/** The error to throw: for a fault that ends the whole script, an error that ends the script; otherwise the given error. */
export async function endingOf(interpreter: Interpreter, error: unknown): Promise<unknown> {
  const shell = shellOf(interpreter)
  if (!isFault(error) || shell.failed?.reach !== 'script' || shell.source !== undefined) return error
  shell.failed = undefined
  return endScript(interpreter, 1, error).catch((ending: unknown) => ending)
}

export function isDiscarded(shell: Shell, statement: Statement): boolean {
  if (shell.discarded === undefined || !shell.statements.has(statement)) return false
  if (firstLine(statement) === shell.discarded) return true
  shell.discarded = undefined
  return false
}

export function noteFault(shell: Shell, statement: Statement, error: unknown): void {
  if (!isFault(error)) return
  shell.fault = error
  if (!shell.statements.has(statement)) return
  const lines = (statement.sourceText ?? '').trim().split('\n').length - 1
  shell.discarded = (firstLine(statement) ?? 0) + lines
  shell.fault = undefined
}

export function passFault(shell: Shell, { stdout, stderr }: ExecResult): void {
  if (shell.fault !== undefined) throw Object.assign(shell.fault, { stdout, stderr })
}

/** The line on which a statement begins, from its parts: just-bash records no line for compound commands. */
function firstLine(statement: Statement): number | undefined {
  const [, line] = /"line":(\d+)/.exec(JSON.stringify(statement.pipelines)) ?? []
  return line === undefined ? undefined : Number(line)
}

export function isLeaving(error: unknown): boolean {
  return error instanceof Error && (error.name === 'BreakError' || error.name === 'ContinueError')
}
