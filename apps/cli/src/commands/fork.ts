import { resolve } from 'node:path'

import { isWorkspaceError, type Workspace } from '@ws/core'
import type { Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { UsageError } from '../errors.ts'
import { exitCodes } from '../exit-codes.ts'
import { openWorkspace } from '../open.ts'
import { complainLeft, engineFor, lineOf, openWithCheckpoints, stateFlag, type StateFlag } from './checkpoints.ts'

interface MergeFlags extends StateFlag {
  readonly dryRun?: true
}

export function addFork(program: Command, start: Start): void {
  program
    .command('fork')
    .summary('copy the files to a directory, to work there and merge')
    .description(
      'Copies the files of the workspace to a new or empty directory, which stays. Work there with `ws --root DIR`, and take the ' +
        'changes over with `ws merge DIR`. Files that can share their blocks take no space until they change.',
    )
    .argument('<dir>', 'a directory of this machine, outside of the workspace')
    .option(...stateFlag)
    .addHelpText('after', '\nExamples:\n  $ ws --root . fork ../attempt\n  $ ws --root . merge ../attempt')
    .action((directory: string, flags: StateFlag) => {
      start((context) => fork(context, directory, flags))
    })
  program
    .command('merge')
    .summary('take over the changes of a fork')
    .description(
      'Takes over the changes of a directory that `ws fork` made. A path that changed on both sides stays as it is, and is named. ' +
        'The present is saved first: the id that is printed undoes the merge. Ends with 1 where any path stayed.',
    )
    .argument('<dir>', 'of `ws fork`')
    .argument('[path...]', 'only these, with everything below')
    .option('--dry-run', 'say what would be merged, and change nothing')
    .option(...stateFlag)
    .action((directory: string, paths: string[], flags: MergeFlags) => {
      start((context) => merge(context, directory, paths, flags))
    })
}

async function fork(context: CommandContext, directory: string, flags: StateFlag): Promise<number> {
  const { output, signal } = context
  await using workspace = await openWithCheckpoints(context, flags)
  await using made = await workspace.fork({ directory: resolve(directory), signal })
  if (output.json) await output.value({ directory, checkpoint: made.forkedFrom })
  else {
    const shown = output.name(directory)
    await output.line(`forked to ${shown}`)
    await output.line(`work there: ws --root ${shown} ...; then here: ws merge ${shown}`)
  }
  return exitCodes.ok
}

async function merge(
  context: CommandContext,
  directory: string,
  paths: readonly string[],
  { dryRun, ...flags }: MergeFlags,
): Promise<number> {
  const { output, signal } = context
  const checkpoints = await engineFor(context, flags)
  await using workspace = await openWithCheckpoints(context, flags, { checkpoints })
  await using copy = await openFork(context, directory, checkpoints)
  if (copy.forkedFrom === undefined)
    throw new UsageError(`${directory} is not a fork of this workspace; name a directory of \`ws fork\``)
  const result = await workspace.merge(copy, { paths: paths.length > 0 ? paths : undefined, dryRun, signal })
  const left = [...result.conflicts, ...result.kept]
  if (output.json) await output.value({ ...result })
  else {
    for (const change of result.merged) await output.line(lineOf(context, change))
    complainLeft(left)
    if (result.undo !== undefined) await output.line(`undo: ws restore ${result.undo}`)
  }
  return left.length > 0 ? exitCodes.failed : exitCodes.ok
}

/** Opens a fork as the workspace with the directory in place of its writable mount. */
async function openFork(
  { settings, signal }: CommandContext,
  directory: string,
  checkpoints: Awaited<ReturnType<typeof engineFor>>,
): Promise<Workspace> {
  const storage = { kind: 'local', root: resolve(directory), shown: directory } as const
  const mounts = settings.mounts.map((mount) => (mount.access === 'read-only' ? mount : { ...mount, storage }))
  try {
    return await openWorkspace({ ...settings, mounts }, { signal, executors: undefined, checkpoints })
  } catch (error) {
    if (!isWorkspaceError(error, 'ENOWORKSPACE')) throw error
    throw new UsageError(`${directory} is not a directory, and a deleted fork cannot be merged`)
  }
}
