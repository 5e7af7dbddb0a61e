import type { Owner } from '@ws/core/adapter'
import type { Command } from 'commander'

import type { CommandContext, Start } from '../command-context.ts'
import { defaultExecutorNames } from '../config/executors.ts'
import { neededBy } from '../config/needed.ts'
import type { Settings } from '../config/settings.ts'
import { UsageError } from '../errors.ts'
import { exitCodes } from '../exit-codes.ts'
import { checkInstalled, isInstalled } from '../optional/load.ts'
import { ordinaryOwner } from '../owner.ts'
import type { ScratchStore } from '../storage/scratch.ts'
import { hasFailed, renderReport } from '../verify/report.ts'
import { startProgress } from '../terminal/progress.ts'
import type { MountPoint } from '../verify/types.ts'

const places: readonly MountPoint[] = ['/', '/workspace']

export function addVerify(program: Command, start: Start): void {
  program
    .command('verify')
    .summary('check the doors and the boundaries')
    .description(
      'Runs the tests of the conformance kit, with attacks on policy and isolation, for each executor that is there, with ' +
        'the workspace at / and at /workspace, in a scratch directory that is removed again. As root the directory belongs ' +
        'to an ordinary user (--owner). On a bucket (--s3, or the first mount of the config file) they run in a part of it that is deleted again. A correct refusal of what an executor cannot hold passes. Where no executor of real processes is there, the virtual ' +
        'one is checked. Ends with 1 when a check ' +
        'fails, or when none of the named executors is there.',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ ws verify\n  $ ws --executor bubblewrap verify\n  $ ws --s3 bucket/prefix verify\n  $ ws --json verify | jq .summary',
    )
    .action(() => {
      start((context) => verify(context))
    })
}

async function verify({ settings, output, style, signal }: CommandContext): Promise<number> {
  const { mounts, executors } = settings
  checkInstalled(['@ws/conformance', ...neededBy({ mounts: mounts.slice(0, 1), executors })])
  const { runChecks } = await import('../verify/run.ts')
  using progress = startProgress(process.stderr, 'checking', { counted: 'done' })
  const report = await runChecks({
    executors,
    // If no sandbox is available and no executor is named, check the interpreter.
    fallback: executors === defaultExecutorNames && isInstalled('@ws/executor-virtual') ? 'virtual' : undefined,
    at: places,
    owner: settings.owner ?? ordinaryOwner(),
    createStore: await storeOf(settings, settings.owner ?? ordinaryOwner()),
    signal,
    onResult: () => progress.count(),
  })
  progress[Symbol.dispose]()
  const ok = !hasFailed(report) && report.results.length > 0
  if (output.json) {
    const count = (status: string) => report.results.filter((result) => result.status === status).length
    const [passed, refused, view, skipped, failed] = ['ok', 'refused', 'view', 'skipped', 'failed'].map(count)
    await output.value({ ok, summary: { ok: passed, refused, view, skipped, failed }, ...report })
  } else {
    await output.line(renderReport(report, style))
    if (report.results.length === 0) await output.line(style.bad('No executor is there: nothing was checked.'))
  }
  return ok ? exitCodes.ok : exitCodes.failed
}

/** Makes scratch stores of the kind of the workspace's store, so that the workspace's content stays unchanged. */
async function storeOf({ mounts }: Settings, owner: Owner): Promise<(() => Promise<ScratchStore>) | undefined> {
  const storage = mounts[0]?.storage
  if (storage === undefined || storage.kind === 'local') return undefined
  if (storage.kind === 'rclone') {
    const { createScratchMount } = await import('../storage/scratch-mount.ts')
    return () => createScratchMount(storage, owner)
  }
  if (storage.replica !== undefined)
    throw new UsageError(
      'verify: checks a bucket and the commands over it; leave the copy out (`--replica`, `replica`)',
    )
  const { createScratchStore } = await import('../storage/scratch.ts')
  return () => createScratchStore(storage)
}
