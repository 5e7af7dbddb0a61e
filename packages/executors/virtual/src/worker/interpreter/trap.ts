import { outputOf } from '@ws/shell-tools'
import { type ExecResult, parse } from '#just-bash'

import { prepared } from '../syntax/prepare.ts'
import type { Interpreter } from '../state/interpreter.ts'
import { sessionOf, shellOf } from '../state/shell.ts'

const nothing: ExecResult = { stdout: '', stderr: '', exitCode: 0 }
/** Signals for which a script may set a trap. No script receives a signal: a stopped command runs no trap. */
const signals = /^(?:SIG)?(?:HUP|INT|QUIT|TERM)$|^(?:1|2|3|15)$/
const exits = /^(?:EXIT|0)$/

export function setTrap(interpreter: Interpreter, given: readonly string[]): ExecResult {
  const session = sessionOf(interpreter)
  const shell = shellOf(interpreter)
  const [command, ...events] = given[0] === '--' ? given.slice(1) : given
  if (command === undefined || (command.startsWith('-') && command !== '-') || events.length === 0)
    session.refuse('trap', 'give a command and EXIT, such as `trap \'rm -f "$tmp"\' EXIT`')
  const odd = events.find((event) => !exits.test(event) && !signals.test(event))
  if (odd !== undefined)
    session.refuse(`trap … ${odd}`, 'only EXIT is known here, and HUP, INT, QUIT and TERM beside it')
  if (!events.some((event) => exits.test(event))) return nothing
  if (interpreter.ctx.state.bashPid !== 1) session.refuse('trap … EXIT', 'in a subshell; set it in the script itself')
  if (command === '-') shell.traps.delete('EXIT')
  else shell.traps.set('EXIT', command ?? '')
  return nothing
}

/** Runs the `EXIT` trap after the last statement of a script. */
export async function trapAfter(interpreter: Interpreter, result: ExecResult): Promise<ExecResult> {
  const ran = await runTrap(interpreter, result.exitCode)
  if (ran === undefined) return result
  return {
    ...result,
    stdout: outputOf(result) + outputOf(ran),
    stdoutKind: 'bytes',
    stderr: result.stderr + ran.stderr,
    exitCode: ran.exited ?? result.exitCode,
  }
}

const endings = new Set(['ExitError', 'ErrexitError', 'NounsetError', 'BadSubstitutionError', 'PosixFatalError'])

/** Runs the `EXIT` trap if an error in a statement ends the script. Adds the trap's output to the output of the error. */
export async function trapBefore(interpreter: Interpreter, error: unknown, isLast: boolean): Promise<void> {
  if (!(error instanceof Error) || !('stdout' in error) || !('stderr' in error)) return
  if (error.name === 'ExecutionLimitError' || error.name === 'ExecutionAbortedError') return
  if (!isLast && !endings.has(error.name)) return
  const ran = await runTrap(interpreter, 'exitCode' in error ? Number(error.exitCode) : 1)
  if (ran === undefined) return
  Object.assign(error, {
    stdout: `${String(error.stdout)}${outputOf(ran)}`,
    stderr: `${String(error.stderr)}${ran.stderr}`,
  })
  if (ran.exited !== undefined) Object.assign(error, { exitCode: ran.exited })
}

async function runTrap(
  interpreter: Interpreter,
  status: number,
): Promise<(ExecResult & { readonly exited?: number }) | undefined> {
  const shell = shellOf(interpreter)
  const command = shell.traps.get('EXIT')
  shell.traps.delete('EXIT')
  if (command === undefined || command === '') return undefined
  const { state } = interpreter.ctx
  state.lastExitCode = status
  state.env.set('?', String(status))
  try {
    return await interpreter.executeScript(prepared(parse(command)))
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ExitError') throw error
    const { stdout, stderr, exitCode } = error as Error & ExecResult
    return { stdout, stderr, stdoutKind: 'bytes', exitCode, exited: exitCode }
  }
}
