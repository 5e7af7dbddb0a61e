import {
  isWorkspaceError,
  WorkspaceError,
  type Command as ShellCommand,
  type CommandResult,
  type RestoreResult,
  type Try,
  type TryOptions,
  type Workspace,
} from '@ws/core'
import { type Asked, askedIn, granting } from '@ws/core/executor'
import { Option, type Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { nameOn } from '../terminal/escape.ts'
import { complainTo } from '../terminal/wrap.ts'
import { checkTerminal, isGranted, keepQuestion, keptBy, longestDiff } from './approval.ts'
import { coloured, complainLeft, lineOf, openWithCheckpoints } from './checkpoints.ts'
import { exitCodeOf } from './exec.ts'
import { terminalAsk } from './init/questions.ts'
import { parseTime } from './options.ts'

interface TryFlags {
  readonly cwd?: string
  readonly timeout?: number
  readonly network?: true
  readonly fork?: true
  readonly keep?: true
  readonly drop?: true
  readonly state?: string
}

export function addTry(program: Command, start: Start): void {
  program
    .command('try')
    .summary('run a command, show its changes, and keep or take them back')
    .description(
      'Runs a command in place, shows the changed files and the first lines of a diff, and asks which changes to keep. ' +
        'Nothing else may change the files until then, except with --fork. Ends with the exit code of the command.',
    )
    .argument('<command...>', 'after --, so that its own options stay its own')
    .option('--cwd <dir>', 'directory in the workspace (default: its root)')
    .addOption(new Option('--timeout <time>', 'end it after this time: 500ms, 30s, 5m').argParser(parseTime))
    .option('--network', 'give it the network that `exec` has (default: none)')
    .option('--fork', 'run it in a temporary copy, so that others may change the files meanwhile')
    .addOption(new Option('--keep', 'keep all changes without asking').conflicts('drop'))
    .option('--drop', 'take all changes back without asking')
    .option('--state <dir>', 'the directory of saved states, outside every mount')
    .addHelpText(
      'after',
      "\nExamples:\n  $ ws --root . try -- 'npm run codegen'\n  $ ws --root . --json try --drop -- make",
    )
    .action((command: string[], flags: TryFlags) => {
      start((context) => tryCommand(context, command, flags))
    })
}

async function tryCommand(
  context: CommandContext,
  [first = '', ...others]: readonly string[],
  { keep, drop, state, ...flags }: TryFlags,
): Promise<number> {
  const { output, signal } = context
  const isAsking = keep === undefined && drop === undefined
  if (isAsking) checkTerminal(output, 'give --keep or --drop')
  await using workspace = await openWithCheckpoints(context, { state }, { executors: true })
  const options = { ...flags, exclusive: flags.fork === undefined, signal }
  const tried = { command: others.length === 0 ? first : [first, ...others], options, isAsking }
  await using attempt = await tryUntilGranted(workspace, tried)
  if (!output.json) await show(context, attempt)
  const ended = isAsking ? ask(context, attempt) : keep === true ? attempt.keep() : attempt.drop()
  const { restored, kept, undo } = await ended
  const { id, result, changes, connections } = attempt
  if (output.json) await output.value({ id, result, changes, connections, restored, kept, undo })
  if (!output.json) complainLeft(kept)
  return kept.length > 0 ? exitCodes.failed : exitCodeOf(result)
}

interface Tried {
  readonly command: ShellCommand
  readonly options: TryOptions & { readonly signal: AbortSignal }
  readonly isAsking: boolean
}

/** Tries a command. Tries it again each time a person grants what rules refused that ask. */
async function tryUntilGranted(
  workspace: Workspace,
  { command, options, isAsking }: Tried,
): Promise<Try<CommandResult>> {
  const granted: Asked[] = []
  for (;;) {
    const view = granting(workspace, granted)
    const attempt = await view.try(command, options)
    const { hints = [], violations = [] } = attempt.result
    const asked = isAsking ? askedIn(view, [...hints, ...violations]) : []
    for (const { rule, path, host = '' } of asked)
      complainTo(process.stderr, `${nameOn(process.stderr, path ?? host)} was refused by the rule ${rule}, which asks`)
    if (asked.length === 0 || !(await isGranted(options.signal))) return attempt
    const { kept } = await attempt.drop()
    if (kept.length > 0) throw notTakenBack()
    granted.push(...asked)
  }
}

function notTakenBack(): WorkspaceError {
  return new WorkspaceError({
    code: 'EBUSY',
    operation: 'try',
    reason: 'some changes could not be taken back, so the command did not run again',
    remedy: 'look at the files by `ws changes`',
  })
}

async function show(context: CommandContext, attempt: Try<CommandResult>): Promise<void> {
  const { output, style } = context
  const { result, changes, connections } = attempt
  await output.bytes(new TextEncoder().encode(result.stdout))
  process.stderr.write(result.stderr)
  for (const change of changes) await output.line(lineOf(context, change))
  const diff = await attempt.diff()
  const shown = diff.slice(0, longestDiff).toWellFormed()
  if (shown !== '') await output.line(coloured(shown, style).replace(/\n$/u, ''))
  if (shown.length < diff.length) complainTo(process.stderr, 'more is different, and not shown')
  for (const { host, outcome } of connections) complainTo(process.stderr, `${host} was asked for: ${outcome}`)
}

/** Asks until the answer can be followed. The end of the input takes all back. */
async function ask({ signal, complain }: CommandContext, attempt: Try<CommandResult>): Promise<RestoreResult> {
  const { violations = [] } = attempt.result
  const made = violations.flatMap((one) => (one.kind === 'created' ? [one] : []))
  if (attempt.changes.length === 0 && made.length === 0) return attempt.keep()
  for (const { rule, path } of made)
    complainTo(process.stderr, `${nameOn(process.stderr, path)} was made, against the rule ${rule}`)
  using terminal = terminalAsk(signal)
  for (;;) {
    const kept = keptBy(await terminal.ask(keepQuestion))
    if (kept === 'none') return await attempt.drop()
    if (kept === 'all') return await attempt.keep()
    try {
      return await attempt.keep(kept)
    } catch (error) {
      if (!isWorkspaceError(error, 'EINVAL')) throw error
      complain(error)
    }
  }
}
