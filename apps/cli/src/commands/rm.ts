import type { Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'

interface RmFlags {
  readonly recursive?: true
  readonly force?: true
}

export function addRm(program: Command, start: Start): void {
  program
    .command('rm')
    .summary('remove files and directories')
    .description(
      'Removes files, links themselves, and empty directories; with -r directories with everything below. Where a rule or ' +
        'a mount below says no, nothing of that directory is removed. Goes on with the next path after an error.',
    )
    .argument('<path...>')
    .option('-r, --recursive', 'directories with everything below')
    .option('-f, --force', 'a missing path is not an error')
    .addHelpText(
      'after',
      '\nExamples:\n  $ ws --root . rm /notes/a.md\n  $ ws --root . rm -rf node_modules -- -odd-name',
    )
    .action((paths: string[], flags: RmFlags) => {
      start((context) => rm(context, paths, flags))
    })
}

async function rm(context: CommandContext, paths: readonly string[], { recursive, force }: RmFlags): Promise<number> {
  const { open, output, signal } = context
  await using workspace = await open()
  let exitCode: number = exitCodes.ok
  for (const path of paths) {
    try {
      await workspace.delete(path, { recursive, force, signal })
      if (output.json) await output.value({ path, removed: true })
    } catch (error) {
      signal.throwIfAborted()
      exitCode = context.complain(error).exitCode
    }
  }
  return exitCode
}
