import type { Workspace } from '@ws/core'
import type { Command, Option } from 'commander'

import type { CommandContext, Start } from '../../command-context.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Output } from '../../terminal/output.ts'
import { type Progress, startProgress } from '../../terminal/progress.ts'

export interface FileContext extends CommandContext {
  readonly workspace: Workspace
}

export interface FileCommand<Arguments extends readonly unknown[] = readonly unknown[], Flags = unknown> {
  readonly name: string
  readonly summary: string
  readonly description: string
  /** Arguments in commander's form, each with its help: `<path...>`. */
  readonly arguments?: readonly (readonly [name: string, help?: string])[]
  readonly options?: readonly (Option | readonly [flags: string, help: string])[]
  /** Example command lines, each with the part that can be omitted: `--root . ls`. */
  readonly examples: readonly string[]
  readonly readOnly?: boolean
  /** Checks the arguments before the workspace opens, and returns the arguments for `run`. */
  readonly prepare?: (given: Arguments) => Arguments
  /** A text for the progress line of a long task on a terminal: `copying /a`. */
  readonly progress?: (given: Arguments) => string
  /** Resolves to the exit code; `undefined` is success. */
  readonly run: (context: FileContext, given: Arguments, flags: Flags) => Promise<number | void>
}

export function fileCommand<Arguments extends readonly unknown[], Flags = unknown>(
  command: FileCommand<Arguments, Flags>,
): FileCommand {
  return command as unknown as FileCommand
}

export function addFileCommand(program: Command, start: Start, command: FileCommand): void {
  const { name, summary, description, readOnly = false, prepare, run } = command
  const added = program.command(name).summary(summary).description(description)
  for (const [argument, help] of command.arguments ?? []) added.argument(argument, help)
  for (const option of command.options ?? []) {
    if ('attributeName' in option) added.addOption(option)
    else added.option(...option)
  }
  added.addHelpText('after', `\nExamples:\n${command.examples.map((line) => `  $ ${line}`).join('\n')}`)
  added.action((...all: unknown[]) => {
    // the flags and the command itself come last
    const [given, flags] = [all.slice(0, -2), all.at(-2)]
    start(async (context) => {
      const ready = prepare?.(given) ?? given
      await using workspace = await context.open({ readOnly })
      const label = command.progress?.(ready)
      if (label === undefined) return (await run({ ...context, workspace }, ready, flags)) ?? exitCodes.ok
      using progress = startProgress(process.stderr, label)
      return (
        (await run({ ...context, output: above(context.output, progress), workspace }, ready, flags)) ?? exitCodes.ok
      )
    })
  })
}

/** Wraps output: counts results, and clears the progress line before each result. */
function above(output: Output, progress: Progress): Output {
  const counted =
    <Given>(write: (given: Given) => Promise<void>) =>
    (given: Given): Promise<void> => {
      progress.count()
      progress.clear()
      return write(given)
    }
  return { ...output, line: counted(output.line), content: counted(output.content), value: counted(output.value) }
}

/** Does the work for each path, and continues after errors. Returns the exit code. */
export async function forEach(
  { signal, complain }: CommandContext,
  paths: readonly string[],
  work: (path: string) => Promise<void>,
): Promise<number> {
  let exitCode: number = exitCodes.ok
  for (const path of paths) {
    try {
      await work(path)
    } catch (error) {
      signal.throwIfAborted()
      exitCode = complain(error).exitCode
    }
  }
  return exitCode
}
