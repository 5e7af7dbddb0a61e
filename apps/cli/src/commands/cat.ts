import { isUtf8 } from 'node:buffer'

import type { Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'

export function addCat(program: Command, start: Start): void {
  program
    .command('cat')
    .summary('print files')
    .description('Prints files byte for byte. With --json one file a line, as utf8 or base64, with its version.')
    .argument('<path...>')
    .addHelpText(
      'after',
      `
Examples:
  $ ws --root . cat /README.md
  $ ws --root . cat assets/logo.png > logo.png
  $ ws --root . --json cat /package.json | jq -r .version     # for write --if-version`,
    )
    .action((paths: string[]) => {
      start((context) => cat(context, paths))
    })
}

async function cat({ open, output, signal }: CommandContext, paths: readonly string[]): Promise<number> {
  await using workspace = await open({ readOnly: true })
  for (const path of paths) {
    if (output.json) {
      const { bytes, stat } = await workspace.read(path, { signal })
      const encoding = isUtf8(bytes) ? 'utf8' : 'base64'
      await output.value({ path, ...stat, encoding, content: Buffer.from(bytes).toString(encoding) })
      continue
    }
    const { stream } = await workspace.readStream(path, { signal })
    for await (const chunk of stream) await output.bytes(chunk)
  }
  return exitCodes.ok
}
