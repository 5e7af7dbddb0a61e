import type { Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'

interface MkdirFlags {
  readonly parents?: true
}

export function addMkdir(program: Command, start: Start): void {
  program
    .command('mkdir')
    .summary('make directories')
    .description('Makes directories. Goes on with the next path after an error.')
    .argument('<path...>')
    .option('-p, --parents', 'make missing parents too; a directory that is there is not an error')
    .addHelpText('after', '\nExamples:\n  $ ws --root . mkdir /notes\n  $ ws --root . mkdir -p /a/b/c /d')
    .action((paths: string[], flags: MkdirFlags) => {
      start((context) => mkdir(context, paths, flags))
    })
}

async function mkdir(context: CommandContext, paths: readonly string[], { parents }: MkdirFlags): Promise<number> {
  const { output, signal } = context
  await using workspace = await context.open()
  let exitCode: number = exitCodes.ok
  for (const path of paths) {
    try {
      await workspace.createDirectory(path, { recursive: parents === true, signal })
      if (output.json) await output.value({ path })
    } catch (error) {
      signal.throwIfAborted()
      exitCode = context.complain(error).exitCode
    }
  }
  return exitCode
}
