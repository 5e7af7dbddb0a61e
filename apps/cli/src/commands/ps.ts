import type { Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { running } from '../registry.ts'
import { escapeName } from '../terminal/escape.ts'
import { renderTable } from '../terminal/table.ts'

export function addPs(program: Command, start: Start): void {
  program
    .command('ps')
    .summary('list running commands and sessions')
    .description(
      'Lists the commands and sessions that other ws of this user run now, oldest first. They are found by entries in ' +
        '$XDG_RUNTIME_DIR/ws, or without that variable in ws-UID of the temporary directory. Commands that ' +
        'other programs run through the library are not listed, nor are other processes of this machine.',
    )
    .addHelpText('after', '\nExamples:\n  $ ws ps\n  $ ws ps --json')
    .action(() => {
      start(ps)
    })
}

async function ps({ output, complain }: CommandContext): Promise<number> {
  const { entries, unreadable } = running()
  if (output.json) for (const entry of entries) await output.value(entry)
  else if (entries.length > 0) {
    const rows = entries.map(({ pid, kind, command, startedAt }) => [
      String(pid),
      kind,
      new Date(startedAt).toISOString().slice(0, 19).replace('T', ' '),
      escapeName(command === '' ? '(interactive shell)' : command),
    ])
    await output.line(renderTable(rows, { head: ['PID', 'KIND', 'STARTED', 'COMMAND'], right: [0] }))
  }
  for (const error of unreadable.values()) complain(error)
  return unreadable.size === 0 ? exitCodes.ok : exitCodes.failed
}
