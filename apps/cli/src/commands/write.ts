import { Option, type Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { standardInput } from '../terminal/input.ts'

interface WriteFlags {
  readonly ifVersion?: string
  readonly ifAbsent?: true
}

export function addWrite(program: Command, start: Start): void {
  program
    .command('write')
    .summary('create or replace a file')
    .description(
      'Creates or replaces a file, in one step: readers see the old or the new content. The content is the argument, as it ' +
        'is, or standard input. Missing directories are made.',
    )
    .argument('<path>')
    .argument('[content]', 'default: standard input')
    .addOption(new Option('--if-version <version>', 'only when the file still has this version').conflicts('ifAbsent'))
    .option('--if-absent', 'only when nothing is there')
    .addHelpText(
      'after',
      `
Examples:
  $ ws --root . write /notes/a.md 'hello'
  $ ws --root . write --if-absent /lock "$$"
  $ ws --root . write /copy.png < logo.png
  $ ws --root . write -- /notes/list.md '- starts with a dash'`,
    )
    .action((path: string, content: string | undefined, flags: WriteFlags) => {
      start((context) => write(context, path, content, flags))
    })
}

async function write(
  { open, output, signal }: CommandContext,
  path: string,
  content: string | undefined,
  { ifVersion, ifAbsent }: WriteFlags,
): Promise<number> {
  const data = content ?? standardInput('give the content as an argument, or a file or pipe to read')
  await using workspace = await open()
  const result = await workspace.write(path, data, { ifVersion: ifAbsent ? 'absent' : ifVersion, signal })
  if (output.json) await output.value({ path, ...result })
  return exitCodes.ok
}
