import type { ExecResult } from '#just-bash'

import type { Script, Statement } from './interpreter.ts'
import type { Shell } from './shell.ts'

// Where arithmetic fails in an expansion, bash leaves out the rest of the line: of functions and loops too, up to the script or
// the subshell. just-bash leaves out the command alone.

/** Runs a script of its own. */
export async function asScript(shell: Shell, script: Script, run: () => Promise<ExecResult>): Promise<ExecResult> {
  const { statements, discarded } = shell
  Object.assign(shell, { statements: new Set(script.statements), discarded: undefined })
  try {
    return await run()
  } finally {
    Object.assign(shell, { statements, discarded })
  }
}

/** True for a statement on a line that has failed. */
export function isDiscarded(shell: Shell, statement: Statement): boolean {
  if (shell.discarded === undefined || !shell.statements.has(statement)) return false
  if (firstLine(statement) === shell.discarded) return true
  shell.discarded = undefined
  return false
}

/** Notes the fault that has ended a statement. */
export function noteFault(shell: Shell, statement: Statement, error: unknown): void {
  if (!(error instanceof Error) || error.name !== 'ArithmeticError') return
  shell.fault = error
  if (!shell.statements.has(statement)) return
  const lines = (statement.sourceText ?? '').trim().split('\n').length - 1
  shell.discarded = (firstLine(statement) ?? 0) + lines
  shell.fault = undefined
}

/** Throws a fault again that a function has ended with. */
export function passFault(shell: Shell, { stdout, stderr }: ExecResult): void {
  if (shell.fault !== undefined) throw Object.assign(shell.fault, { stdout, stderr })
}

/** Compound commands have no line of their own. */
function firstLine(statement: Statement): number | undefined {
  const [, line] = /"line":(\d+)/.exec(JSON.stringify(statement.pipelines)) ?? []
  return line === undefined ? undefined : Number(line)
}

export function isLeaving(error: unknown): boolean {
  return error instanceof Error && (error.name === 'BreakError' || error.name === 'ContinueError')
}
