import type { Stat } from '@ws/core'
import type { Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { exitCodes } from '../exit-codes.ts'
import { renderTable } from '../terminal/table.ts'

export function addStat(program: Command, start: Start): void {
  program
    .command('stat')
    .summary('show what is at a path')
    .description(
      'Shows type, size, time, permissions and version of a file, a directory or a link itself. With --json one path a line. ' +
        'Goes on with the next path after an error.',
    )
    .argument('<path...>')
    .addHelpText('after', '\nExamples:\n  $ ws --root . stat /notes/a.md\n  $ ws --root . --json stat /a /b')
    .action((paths: string[]) => {
      start((context) => stat(context, paths))
    })
}

async function stat(context: CommandContext, paths: readonly string[]): Promise<number> {
  const { output, signal } = context
  await using workspace = await context.open({ readOnly: true })
  let exitCode: number = exitCodes.ok
  for (const path of paths) {
    try {
      const found = await workspace.stat(path, { signal })
      const target = found.type === 'symlink' ? await workspace.readSymlink(path, { signal }) : undefined
      if (output.json) await output.value({ path, ...found, target })
      else await output.line(table(context, path, found, target))
    } catch (error) {
      signal.throwIfAborted()
      exitCode = context.complain(error).exitCode
    }
  }
  return exitCode
}

function table({ output, style }: CommandContext, path: string, found: Stat, target: string | undefined): string {
  const { type, size, modifiedAt, mode, version } = found
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['path', output.name(path)],
    ['type', type],
    ['target', target === undefined ? undefined : output.name(target)],
    ['size', type === 'file' ? `${size} bytes` : undefined],
    ['modified', modifiedAt === undefined ? undefined : new Date(modifiedAt).toISOString()],
    ['mode', mode === undefined ? undefined : (mode & 0o7777).toString(8).padStart(4, '0')],
    ['version', version],
  ]
  return renderTable(rows.flatMap(([name, value]) => (value === undefined ? [] : [[style.dim(name), value]])))
}
