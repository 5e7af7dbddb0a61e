import { type Command, type CommandResult, isWorkspaceError, type Workspace } from '@ws/core'
import { getCommandResult } from '@ws/core/executor'

import { fenced } from '../text/frame.ts'
import { ruleNotes } from '../text/rule-notes.ts'

/** The exit code for a command that the workspace refused, as in shells. */
export const refusedExitCode = 126
/** The exit code of `timeout` for a command that took too long. */
export const timedOutExitCode = 124

/** Bytes of each stream that {@link runCommand} keeps by default. A longer stream loses its middle. */
export const mostOutput = 64 * 1024 * 1024

export interface CommandAnswer {
  /** As in `$?`; {@link timedOutExitCode} after the timeout, {@link refusedExitCode} where the workspace refused to run it. */
  readonly exitCode: number
  readonly stdout: string
  /** Standard error, then {@link CommandAnswer.notes}, one per line. */
  readonly stderr: string
  readonly output: string
  readonly truncated: boolean
  readonly timedOut: boolean
  readonly signal: string | null
  readonly duration: number
  /** Sentences that explain a refusal and its remedy, the timeout, and rules that stopped parts of the command. */
  readonly notes: readonly string[]
  readonly refused: boolean
}

/**
 * Runs a command to its end. Refusals are answers, and so are errors after the end, such as a lost lease. Rejects on abort, `ECLOSED`,
 * `ENOEXECUTOR`.
 */
export async function runCommand(
  workspace: Workspace,
  command: Command,
  options: Parameters<Workspace['exec']>[1] = {},
): Promise<CommandAnswer> {
  try {
    const result = await workspace.exec(command, { maxOutputBytes: mostOutput, ...options })
    return answerOf(result, notesOfCommand(result))
  } catch (error) {
    const ended = getCommandResult(error)
    if (isWorkspaceError(error) && ended !== undefined) {
      // the end of the command is unknown, or its changes were not saved: that is not a success
      const exitStatus = ended.exitStatus === 0 ? 1 : ended.exitStatus
      return answerOf({ ...ended, exitStatus }, [...notesOfCommand(ended), error.message])
    }
    if (!isWorkspaceError(error) || error.code === 'ECLOSED' || error.code === 'ENOEXECUTOR') throw error
    return {
      exitCode: refusedExitCode,
      stdout: '',
      stderr: `${error.message}\n`,
      output: `${error.message}\n`,
      truncated: false,
      timedOut: false,
      signal: null,
      duration: 0,
      notes: [error.message],
      refused: true,
    }
  }
}

function answerOf(result: CommandResult, notes: readonly string[]): CommandAnswer {
  const { exitStatus, stdout, stderr, output, truncated, timedOut, signal, duration } = result
  return {
    exitCode: timedOut ? timedOutExitCode : exitStatus,
    stdout,
    stderr: withNotes(stderr, notes),
    output: withNotes(output, notes),
    truncated,
    timedOut,
    signal,
    duration,
    notes,
    refused: false,
  }
}

/** Notes beside the output: the timeout, and rules that stopped parts of the command, each with its remedy. */
export function notesOfCommand(result: CommandResult): string[] {
  const late = result.timedOut ? ['Note: the command was ended by its timeout; do less at once.'] : []
  return [...late, ...ruleNotes(result)]
}

function withNotes(text: string, notes: readonly string[]): string {
  if (notes.length === 0) return text
  const shown = fenced(text)
  const gap = shown === '' || shown.endsWith('\n') ? '' : '\n'
  return `${shown}${gap}${notes.join('\n')}\n`
}
