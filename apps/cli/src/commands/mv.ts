import type { Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'

interface MvFlags {
  readonly overwrite?: true
}

export function addMv(program: Command, start: Start): void {
  program
    .command('mv')
    .summary('move or rename')
    .description(
      'Moves a file, a link itself or a directory, also from one mount to another. The destination is the new path itself, ' +
        'never a directory to put it into; an existing file stays, unless --overwrite is given.',
    )
    .argument('<source>')
    .argument('<destination>')
    .option('-f, --overwrite', 'replace what is there')
    .addHelpText('after', '\nExamples:\n  $ ws --root . mv /a.md /notes/a.md\n  $ ws --root . mv -f build dist')
    .action((source: string, destination: string, flags: MvFlags) => {
      start((context) => mv(context, source, destination, flags))
    })
}

async function mv(
  { open, output, signal }: CommandContext,
  source: string,
  destination: string,
  { overwrite }: MvFlags,
): Promise<number> {
  await using workspace = await open()
  const result = await workspace.move(source, destination, { overwrite, signal })
  if (output.json) await output.value({ source, destination, ...result })
  return exitCodes.ok
}
