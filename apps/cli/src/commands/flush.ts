import type { Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'

export function addFlush(program: Command, start: Start): void {
  program
    .command('flush')
    .summary('wait until everything is in the store')
    .description(
      'Waits until everything that was written is in the store for good. On a mount by rclone that includes what an earlier ' +
        'ws that was killed had left in the cache. Other storage holds nothing back.',
    )
    .addHelpText('after', '\nExamples:\n  $ ws --rclone bucket/threads/t1 flush')
    .action(() => {
      start(flush)
    })
}

async function flush({ open, output, signal }: CommandContext): Promise<number> {
  await using workspace = await open()
  await workspace.flush({ signal })
  if (output.json) await output.value({ flushed: true })
  return exitCodes.ok
}
