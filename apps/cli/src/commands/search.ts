import type { Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'

interface SearchFlags {
  readonly regex?: true
  readonly ignoreCase?: true
}

export function addSearch(program: Command, start: Start): void {
  program
    .command('search')
    .summary('find lines in files')
    .description(
      'Prints the lines that hold a text, with path and line number, as the file API finds them: files that a rule denies are left ' +
        'out. At most 1,000 lines. Binary files are not searched. Finding nothing is not an error.',
    )
    .argument('<pattern>', 'a text as it is; with -e a regular expression (RE2)')
    .argument('[path]', "a file or a directory (default: the workspace's root)")
    .option('-e, --regex', 'the pattern is a regular expression')
    .option('-i, --ignore-case', 'upper and lower case are the same')
    .addHelpText(
      'after',
      "\nExamples:\n  $ ws --root . search TODO /src\n  $ ws --s3 bucket/threads/t1 --json search -e 'TODO|FIXME'",
    )
    .action((pattern: string, path: string | undefined, flags: SearchFlags) => {
      start((context) => search(context, pattern, path, flags))
    })
}

async function search(
  { open, output, signal }: CommandContext,
  pattern: string,
  path: string | undefined,
  { regex, ignoreCase }: SearchFlags,
): Promise<number> {
  await using workspace = await open({ readOnly: true })
  const hits = workspace.search(pattern, { in: path ?? workspace.root, regex, caseSensitive: !ignoreCase, signal })
  for await (const hit of hits) {
    if (output.json) await output.value(hit)
    else await output.line(`${output.name(hit.path)}:${hit.line}:${output.name(hit.text)}`)
  }
  return exitCodes.ok
}
