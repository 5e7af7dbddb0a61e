import { InvalidArgumentError, type Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { UsageError } from '../errors.ts'
import { exitCodes } from '../exit-codes.ts'
import { running } from '../registry.ts'

export function addKill(program: Command, start: Start): void {
  program
    .command('kill')
    .summary('end a running command or session')
    .description(
      'Ends a command or session that `ws ps` lists, with everything that it started. It gets a grace first. Only those ' +
        'that `ws` itself runs can be ended, none that programs run through the library.',
    )
    .argument('<pid>', 'as `ws ps` shows it', parsePid)
    .option('-f, --force', 'at once, and without tidying up')
    .addHelpText('after', '\nExamples:\n  $ ws kill 4711\n  $ ws kill --force 4711')
    .action((pid: number, flags: { readonly force?: true }) => {
      start((context) => kill(context, pid, flags.force === true))
    })
}

async function kill({ output }: CommandContext, pid: number, force: boolean): Promise<number> {
  // List the processes again: by now, the number could belong to any process of this user.
  const { entries, unreadable } = running()
  const entry = entries.find((candidate) => candidate.pid === pid)
  if (entry === undefined)
    throw unreadable.get(pid) ?? new UsageError(`no ws with the process ${pid} runs a command; see ws ps`)
  try {
    process.kill(pid, force ? 'SIGKILL' : 'SIGTERM')
  } catch {
    throw new UsageError(`the process ${pid} has ended`)
  }
  if (output.json) await output.value(entry)
  return exitCodes.ok
}

function parsePid(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new InvalidArgumentError('Give the number that ws ps shows.')
  return Number(text)
}
