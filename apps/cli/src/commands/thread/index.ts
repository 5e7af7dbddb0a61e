import type { Command } from 'commander'

import type { CommandContext, Start } from '../../command-context.ts'
import { exitCodes } from '../../exit-codes.ts'
import { renderTable } from '../../terminal/table.ts'
import { complainTo } from '../../terminal/wrap.ts'
import { collect, parseTime } from '../options.ts'
import { exec, type ExecFlags } from '../exec.ts'
import { ls, type LsFlags } from '../files/ls.ts'
import { inThread, openThreads, type ThreadFlags } from './open.ts'

export function addThread(program: Command, start: Start): void {
  const thread = program
    .command('thread')
    .summary('a workspace for each conversation')
    .description('Works on the threads of a store: one directory each, with skills, a ticket and one writer at a time.')
    .helpCommand(false)
    .addHelpText(
      'after',
      `
Examples:
  $ ws --root store thread open t1 --user u1
  $ ws --root store thread exec t1 --user u1 -- 'python3 -c "print(1)"'
  $ ws --s3 bucket thread list
  $ ws --root store thread export t1 > t1.tar`,
    )
  const inOne = (name: string, summary: string): Command =>
    thread
      .command(name)
      .summary(summary)
      .argument('<thread>', 'its id')
      .requiredOption('--user <id>', 'the user whose skills it has')
      .option('--ticket <id>', 'a ticket to show at /.ticket')

  inOne('open', 'make it, or complete it, and print its status').action((id: string, flags: ThreadFlags) => {
    start((context) => inThread(context, id, flags, { executors: true, provision: true, step: status(context) }))
  })
  inOne('status', 'print its status').action((id: string, flags: ThreadFlags) => {
    start((context) => inThread(context, id, flags, { step: status(context) }))
  })
  inOne('exec', 'run a command in it')
    .argument('<command...>', 'after --, so that its own options stay its own')
    .option('--cwd <dir>', 'directory in the workspace (default: its root)')
    .option('--env <NAME=VALUE>', 'add a variable to the clean environment; repeatable', collect)
    .option('--timeout <time>', 'end it after this time: 500ms, 30s, 5m', parseTime)
    .option('--no-login', 'do not read login files: -c instead of -lc')
    .option('--no-stdin', 'give it nothing to read')
    .action((id: string, command: string[], flags: ThreadFlags & ExecFlags) => {
      start((context) =>
        inThread(context, id, flags, {
          executors: true,
          step: ({ workspace }) => exec({ ...context, open: async () => workspace }, command, flags),
        }),
      )
    })
  inOne('ls', 'list a directory of it')
    .argument('[path]', "default: the workspace's root")
    .option('-l, --long', 'with type, permissions, size in bytes, time and the target of a link')
    .option('-R, --recursive', 'everything below, with full paths')
    .action((id: string, path: string | undefined, flags: ThreadFlags & LsFlags) => {
      start((context) =>
        inThread(context, id, flags, {
          step: async ({ workspace }) => {
            await ls({ ...context, workspace }, path, flags)
            return exitCodes.ok
          },
        }),
      )
    })
  inOne('skills', 'list its skills').action((id: string, flags: ThreadFlags) => {
    start((context) => inThread(context, id, flags, { step: skills(context) }))
  })
  addWhole(thread, start)
}

/** Adds subcommands for whole threads, which need no user. */
function addWhole(thread: Command, start: Start): void {
  thread
    .command('list')
    .summary('list the threads of the store')
    .action(() => {
      start(async (context) => {
        await using threads = await openThreads(context)
        for await (const id of threads.list({ signal: context.signal })) {
          await (context.output.json
            ? context.output.value({ threadId: id })
            : context.output.line(context.output.name(id)))
        }
        return exitCodes.ok
      })
    })
  thread
    .command('delete')
    .summary('delete a thread')
    .argument('<thread>', 'its id')
    .option('-n, --dry-run', 'only count what would be deleted')
    .action((id: string, { dryRun = false }: { readonly dryRun?: boolean }) => {
      start(async ({ output, signal, ...context }) => {
        await using threads = await openThreads({ output, signal, ...context })
        const found = await threads.delete(id, { dryRun, signal })
        const verb = dryRun ? 'would be deleted' : 'deleted'
        await (output.json
          ? output.value(found)
          : output.line(`${found.entries} entries, ${found.bytes} bytes ${verb}`))
        return exitCodes.ok
      })
    })
  thread
    .command('export')
    .summary('write a thread to standard output, as a tar stream')
    .argument('<thread>', 'its id')
    .action((id: string) => {
      start(async (context) => {
        await using threads = await openThreads(context)
        await context.output.content(threads.export(id, { signal: context.signal }))
        return exitCodes.ok
      })
    })
  thread
    .command('import')
    .summary('make a new thread of a tar stream on standard input')
    .argument('<thread>', 'its id')
    .action((id: string) => {
      start(async (context) => {
        await using threads = await openThreads(context)
        await threads.import(id, process.stdin, { signal: context.signal })
        return exitCodes.ok
      })
    })
}

type ThreadAction = Parameters<typeof inThread<number>>[3]['step']

function status({ output }: CommandContext): ThreadAction {
  return async (thread) => {
    const { threadId, state, writer, executor, dirty, warnings, leftOut } = thread.status()
    if (output.json) {
      await output.value(thread.status())
      return exitCodes.ok
    }
    const rows = [
      ['thread', threadId],
      ['state', dirty ? `${state}, not flushed` : state],
      ['writer', writer.holder === undefined ? writer.scope : `${writer.scope}: ${writer.holder.name}`],
      ['executor', executor?.name ?? 'none'],
      ...writer.notes.map((note) => ['note', note]),
      ...warnings.map(({ path, reason }) => ['warning', `${output.name(path)} ${reason}`]),
      ...leftOut.map(({ part, reason }) => ['left out', `${part} ${reason}`]),
    ]
    await output.line(renderTable(rows))
    return exitCodes.ok
  }
}

function skills({ output }: CommandContext): ThreadAction {
  return async (thread) => {
    const found = await thread.listSkills()
    if (output.json) await output.value(found)
    else if (found.skills.length > 0) {
      await output.line(
        renderTable(
          found.skills.map(({ name, source, description }) => [output.name(name), source, output.name(description)]),
        ),
      )
    }
    if (!output.json) for (const warning of found.warnings) complainTo(process.stderr, warning)
    return exitCodes.ok
  }
}
