import type { Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'

interface CpFlags {
  readonly overwrite?: true
  readonly recursive?: true
}

export function addCp(program: Command, start: Start): void {
  program
    .command('cp')
    .summary('copy')
    .description(
      'Copies a file or a link itself, with -r a directory, also from one mount to another. The destination is the new path ' +
        'itself, never a directory to put it into; an existing file stays, unless --overwrite is given.',
    )
    .argument('<source>')
    .argument('<destination>')
    .option('-r, --recursive', 'a directory with everything below')
    .option('-f, --overwrite', 'replace what is there')
    .addHelpText('after', '\nExamples:\n  $ ws --root . cp /a.md /notes/a.md\n  $ ws --root . cp -r /src /backup')
    .action((source: string, destination: string, flags: CpFlags) => {
      start((context) => cp(context, source, destination, flags))
    })
}

async function cp(
  { open, output, signal }: CommandContext,
  source: string,
  destination: string,
  { overwrite, recursive }: CpFlags,
): Promise<number> {
  await using workspace = await open()
  const result = await workspace.copy(source, destination, { overwrite, recursive: recursive === true, signal })
  if (output.json) await output.value({ source, destination, ...result })
  return exitCodes.ok
}
