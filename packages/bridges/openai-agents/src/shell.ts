import type { Shell, ShellAction, ShellOutputResult, ShellResult } from '@openai/agents-core'
import { UserError } from '@openai/agents-core'
import type { Workspace } from '@ws/core'
import { createTools } from '@ws/tools'
import type { ToolAnswer, ToolsOptions } from '@ws/tools'
import { refusedExitCode } from '@ws/tools/bridge'

import { answerText } from './answer.ts'
import { checkCommands, checkGiven } from './workspace.ts'

/** Largest timeout (milliseconds) and output (bytes) that a command can request. */
const longestTimeout = 600_000
const mostOutput = 1_048_576

export interface ShellOptions {
  /** Ends the commands: `run` rejects with `signal.reason`. The SDK passes no signal of its own. */
  readonly signal?: AbortSignal | undefined
  /** As for `createTools`: `session` keeps directory, variables and functions. Default `command`: each command has its own shell. */
  readonly shell?: ToolsOptions['shell']
}

/**
 * Makes the shell for `shellTool({ shell })`. Commands run in order, each at the root and in its own shell.
 * `timeoutMs` is at most 600,000 (default 120,000), `maxOutputLength` at most 1,048,576 bytes (default 40,960).
 * A refused command has the exit code 126, and reason and remedy in `stderr`. Later commands still run.
 * @throws UserError without executor; from `run` for an invalid action
 */
export function createShell(workspace: Workspace, { signal, shell }: ShellOptions = {}): Shell {
  checkGiven(workspace, 'createShell')
  checkCommands(workspace, 'createShell')
  const toolset = createTools(workspace, { face: 'openai', downloads: false, shell })
  return {
    async run(action: ShellAction): Promise<ShellResult> {
      const { commands, ...limits } = inputOf(action)
      const run = (given: unknown): Promise<ToolAnswer> =>
        toolset.run('shell', { commands: given, ...limits }, { signal })
      if (!isCommands(commands)) throw new UserError(answerText(await run(commands)))
      const output: ShellOutputResult[] = []
      for (const command of commands) output.push(...resultsOf(await run([command])))
      return { output, ...(limits.maxOutputLength !== undefined && { maxOutputLength: limits.maxOutputLength }) }
    },
  }
}

function isCommands(given: unknown): given is readonly string[] {
  return Array.isArray(given) && given.length > 0 && given.every((one) => typeof one === 'string')
}

function atMost(given: number | undefined, most: number): number | undefined {
  return given === undefined ? undefined : Math.min(most, Math.ceil(given))
}

/** The arguments of the tool for an action. */
export function inputOf({ commands, timeoutMs, maxOutputLength }: ShellAction) {
  return {
    commands,
    timeoutMs: atMost(timeoutMs, longestTimeout),
    maxOutputLength: atMost(maxOutputLength, mostOutput),
  }
}

export function resultsOf(answer: ToolAnswer): ShellOutputResult[] {
  if (answer.isError) {
    return [{ stdout: '', stderr: answerText(answer), outcome: { type: 'exit', exitCode: refusedExitCode } }]
  }
  // the face gives one result for each command, as one line; notes follow
  const results = [...((answer.data?.['output'] ?? []) as unknown as readonly ShellOutputResult[])]
  const [, ...notes] = answer.text.split('\n')
  const last = results.pop()
  if (last === undefined) return [{ stdout: '', stderr: answer.text, outcome: { type: 'exit', exitCode: null } }]
  const gap = last.stderr === '' || last.stderr.endsWith('\n') ? '' : '\n'
  return [...results, notes.length === 0 ? last : { ...last, stderr: `${last.stderr}${gap}${notes.join('\n')}\n` }]
}
