import { isWorkspaceError, type CommandResult, type RestoreResult, type Try, type TryOptions } from '@ws/core'
import { Option, type Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { UsageError } from '../errors.ts'
import { exitCodes } from '../exit-codes.ts'
import { nameOn } from '../terminal/escape.ts'
import { complainTo } from '../terminal/wrap.ts'
import { coloured, lineOf, openWithCheckpoints } from './checkpoints.ts'
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

const longestDiff = 4_000
const question = 'Keep these changes? y: all; n: none; or the paths to keep [n] '

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
  if (isAsking && (output.json || !process.stdin.isTTY || !process.stderr.isTTY))
    throw new UsageError('there is no terminal to ask on; give --keep or --drop')
  await using workspace = await openWithCheckpoints(context, { state }, { executors: true })
  const options: TryOptions = { ...flags, exclusive: flags.fork === undefined, signal }
  await using attempt = await workspace.try(others.length === 0 ? first : [first, ...others], options)
  if (!output.json) await show(context, attempt)
  const ended = isAsking ? ask(context, attempt) : keep === true ? attempt.keep() : attempt.drop()
  const { restored, kept, undo } = await ended
  const { id, result, changes, connections } = attempt
  if (output.json) await output.value({ id, result, changes, connections, restored, kept, undo })
  for (const { path, reason } of output.json ? [] : kept)
    complainTo(process.stderr, `${nameOn(process.stderr, path)} was left as it is: ${reason}`)
  return kept.length > 0 ? exitCodes.failed : exitCodeOf(result)
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
  if (attempt.changes.length === 0) return attempt.keep()
  using terminal = terminalAsk(signal)
  for (;;) {
    const answer = (await terminal.ask(question))?.trim() ?? ''
    if (/^(?:n|no)?$/iu.test(answer)) return await attempt.drop()
    if (/^y(?:es)?$/iu.test(answer)) return await attempt.keep()
    try {
      return await attempt.keep(answer.split(/\s+/u))
    } catch (error) {
      if (!isWorkspaceError(error, 'EINVAL')) throw error
      complain(error)
    }
  }
}
