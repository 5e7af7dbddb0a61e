import { createHash } from 'node:crypto'
import { join, resolve } from 'node:path'

import type { Change, RestoreResult, CheckpointEngine, Rule, Workspace } from '@ws/core'
import type { Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { UsageError } from '../errors.ts'
import { exitCodes } from '../exit-codes.ts'
import { loadOptional } from '../optional/load.ts'
import { hasDirectory, type StorageSettings } from '../storage/settings.ts'
import { escapeText, nameOn } from '../terminal/escape.ts'
import type { Style } from '../terminal/style.ts'
import { complainTo } from '../terminal/wrap.ts'

export interface StateFlag {
  readonly state?: string | undefined
}

interface SinceFlag extends StateFlag {
  readonly since?: string
}

export const stateFlag = ['--state <dir>', 'the directory of saved states, outside every mount'] as const
const sinceFlag = ['--since <id>', 'the checkpoint to compare with (default: the latest)'] as const

export function addCheckpoints(program: Command, start: Start): void {
  program
    .command('checkpoint')
    .summary('save the files, or list the checkpoints')
    .description(
      'Saves every file of the workspace, so that `ws restore` can bring it back. Prints the id of the checkpoint.',
    )
    .argument('[label]', 'for people')
    .option('-l, --list', 'list the checkpoints instead, the oldest first')
    .option(...stateFlag)
    .addHelpText(
      'after',
      "\nExamples:\n  $ ws --root . checkpoint 'before the agent'\n  $ ws --root . checkpoint --list",
    )
    .action((label: string | undefined, flags: StateFlag & { readonly list?: true }) => {
      start((context) => checkpoint(context, label, flags))
    })
  program
    .command('changes')
    .summary('name what is different from a checkpoint')
    .description(
      'Names each entry that was created, changed, deleted or moved since a checkpoint. With --json one change a line.',
    )
    .argument('[path...]', 'only these, with everything below')
    .option(...sinceFlag)
    .option(...stateFlag)
    .action((paths: string[], { since, ...flags }: SinceFlag) => {
      start(async (context) => {
        await using workspace = await openWithCheckpoints(context, flags)
        const { output, signal } = context
        const found = await workspace.changes({ since, paths: paths.length > 0 ? paths : undefined, signal })
        for (const change of found)
          await (output.json ? output.value({ ...change }) : output.line(lineOf(context, change)))
        return exitCodes.ok
      })
    })
  program
    .command('diff')
    .summary('show what is different from a checkpoint, line by line')
    .description('Prints a unified diff between a checkpoint and now. Binary files are named with their sizes.')
    .argument('[path]', 'a file, or a directory with everything below (default: all)')
    .option(...sinceFlag)
    .option(...stateFlag)
    .action((path: string | undefined, { since, ...flags }: SinceFlag) => {
      start(async (context) => {
        await using workspace = await openWithCheckpoints(context, flags)
        const { output, signal, style } = context
        const diff = await workspace.diff({ since, path, signal })
        if (output.json) await output.value({ diff })
        else if (output.terminal && diff !== '') await output.line(coloured(diff, style).replace(/\n$/u, ''))
        else await output.content([new TextEncoder().encode(diff)])
        return exitCodes.ok
      })
    })
  program
    .command('restore')
    .summary('bring files back to a checkpoint')
    .description(
      'Brings files back to a checkpoint, all or some. The present is saved first: the id that is printed undoes the restore. ' +
        'Paths that another program changes at that moment stay as they are, and are named. Ends with 1 where any stayed.',
    )
    .argument('<id>', 'of `ws checkpoint`')
    .argument('[path...]', 'only these, with everything below')
    .option('--dry-run', 'say what would be restored, and change nothing')
    .option(...stateFlag)
    .action((id: string, paths: string[], { dryRun, ...flags }: StateFlag & { readonly dryRun?: true }) => {
      start((context) => restore(context, id, { paths, dryRun }, flags))
    })
}

export function coloured(diff: string, { strong, note, good, bad }: Style): string {
  const lines = /^(?:(--- .*\n\+\+\+ .*)|(@@.*)|(\+.*)|-.*)$/gmu
  return escapeText(diff).replace(lines, (line: string, head?: string, hunk?: string, added?: string) =>
    (head === undefined ? (hunk === undefined ? (added === undefined ? bad : good) : note) : strong)(line),
  )
}

async function checkpoint(
  context: CommandContext,
  label: string | undefined,
  { list, ...flags }: StateFlag & { readonly list?: true },
): Promise<number> {
  const { output, signal, style } = context
  await using workspace = await openWithCheckpoints(context, flags)
  if (list === true) {
    for (const { id, label: text, createdAt, automatic } of await workspace.checkpoints()) {
      if (output.json) await output.value({ id, label: text, createdAt, automatic })
      else await output.line(`${id}  ${style.dim(new Date(createdAt).toISOString())}  ${output.name(text ?? '')}`)
    }
    return exitCodes.ok
  }
  const saved = await workspace.checkpoint({ label, signal })
  if (output.json) await output.value({ ...saved })
  else {
    await output.line(saved.id)
    for (const { path, reason } of saved.leftOut ?? [])
      complainTo(process.stderr, `${nameOn(process.stderr, path)} was left out: ${reason}`)
  }
  return exitCodes.ok
}

async function restore(
  context: CommandContext,
  id: string,
  { paths, dryRun }: { readonly paths: readonly string[]; readonly dryRun?: true | undefined },
  flags: StateFlag,
): Promise<number> {
  const { output, signal } = context
  await using workspace = await openWithCheckpoints(context, flags)
  const result = await workspace.restore(id, { paths: paths.length > 0 ? paths : undefined, dryRun, signal })
  if (output.json) await output.value({ ...result })
  else {
    for (const change of result.restored) await output.line(restoredLineOf(context, change, dryRun))
    complainLeft(result.kept)
    if (result.undo !== undefined) await output.line(`undo: ws restore ${result.undo}`)
  }
  return result.kept.length > 0 ? exitCodes.failed : exitCodes.ok
}

interface OpenWith {
  readonly executors?: boolean
  readonly checkpoints?: CheckpointEngine
  /** Rules beside those of the settings. */
  readonly rules?: readonly Rule[]
}

/** Opens the workspace with the default engine. */
export async function openWithCheckpoints(
  context: CommandContext,
  flags: StateFlag,
  { executors = false, checkpoints, rules = [] }: OpenWith = {},
): Promise<Workspace> {
  const engine = checkpoints ?? (await engineFor(context, flags))
  const workspace = await context.open({ executors, rules, checkpoints: engine })
  if (workspace.droppedTry !== undefined)
    complainTo(process.stderr, 'an earlier `ws try` was killed before it ended; its changes were taken back')
  return workspace
}

/** The default engine, with the state of this set of mounts. */
export async function engineFor({ settings }: CommandContext, { state }: StateFlag): Promise<CheckpointEngine> {
  const isBucket = (storage: StorageSettings): boolean => !hasDirectory(storage) || storage.kind === 'rclone'
  if (settings.mounts.some(({ storage, access }) => access !== 'read-only' && isBucket(storage))) {
    throw new UsageError(
      'each `ws` is a process of its own, and would not see what others change in a bucket; give --replica DIR, or save in one program, as docs/agents/snapshots.md of the repository shows',
    )
  }
  const { createCheckpoints } = await loadOptional('@ws/snapshots')
  const stateDirectory = state === undefined ? await defaultState(JSON.stringify(settings.mounts)) : resolve(state)
  return createCheckpoints({ stateDirectory })
}

/** The default state directory. Each set of mounts has its own directory, so that different workspaces never block each other. */
async function defaultState(mounts: string): Promise<string> {
  // loaded on demand, so that other commands start without this package
  const { HostPaths } = await import('@ws/sandbox')
  const name = createHash('sha256').update(mounts).digest('hex').slice(0, 16)
  return join(HostPaths.stateHome('checkpoints'), name)
}

/** Names paths on standard error that stay, with the reasons. */
export function complainLeft(kept: RestoreResult['kept']): void {
  for (const { path, reason } of kept)
    complainTo(process.stderr, `${nameOn(process.stderr, path)} was left as it is: ${reason}`)
}

const acts = {
  created: ['removed', 'would remove'],
  changed: ['restored', 'would restore'],
  deleted: ['brought back', 'would bring back'],
  moved: ['moved back', 'would move back'],
} as const satisfies Record<Change['kind'], readonly [string, string]>

function restoredLineOf({ output }: CommandContext, { kind, path, from }: Change, dryRun = false): string {
  const [done, toDo] = acts[kind]
  const target = from === undefined ? '' : ` -> ${output.name(from)}`
  return `${(dryRun ? toDo : done).padEnd(dryRun ? 16 : 12)} ${output.name(path)}${target}`
}

export function lineOf({ output, style }: CommandContext, { kind, path, from, what }: Change): string {
  const source = from === undefined ? '' : `${output.name(from)} -> `
  const parts = what === undefined ? '' : style.dim(` (${what.join(', ')})`)
  return `${kind.padEnd(8)} ${source}${output.name(path)}${parts}`
}
