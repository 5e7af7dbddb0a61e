import { quotePath } from '@ws/core'
import type { PlanCheck, Runner } from '@ws/runner'
import type { RunResult } from '@ws/runner/run-plan'
import type { Command } from 'commander'

import { prepareOutput, readPlan, writeReport } from '../config/read-plan.ts'
import { createExecutor } from '../config/executors.ts'
import { neededBy } from '../config/needed.ts'
import type { CommandContext, Start } from '../command-context.ts'
import { UsageError } from '../errors.ts'
import { exitCodes } from '../exit-codes.ts'
import { checkInstalled, loadOptional } from '../optional/load.ts'
import { createRunView } from '../terminal/run-view.ts'
import { complainTo } from '../terminal/wrap.ts'

interface RunFlags {
  readonly workspace: string
  readonly output: string
  readonly state?: string
  readonly resume?: boolean
  readonly force?: boolean
  readonly dryRun?: boolean
  readonly report?: string
}

export function addRun(program: Command, start: Start): void {
  program
    .command('run')
    .summary('run a plan of steps')
    .description(
      'Runs a plan, a YAML or JSON file. Its steps read only from the workspace and write only to the output. Ctrl-C ends it, ' +
        'and --resume goes on.',
    )
    .argument('<plan>', 'a file of this machine')
    .requiredOption('--workspace <dir>', 'the directory that steps read')
    .requiredOption('--output <dir>', 'the directory that steps write; it is made when it is missing')
    .option('--state <dir>', 'the directory of the journal, on a local disk, where no step can reach it')
    .option('--resume', 'go on with the last run, which was interrupted or failed')
    .option('--force', 'do steps again that are up to date')
    .option('-n, --dry-run', 'only look for faults, and list the steps')
    .option('--report <file>', 'write an HTML page about the run')
    .addHelpText(
      'after',
      '\nExamples:\n  $ ws run plan.yaml --workspace . --output out\n  $ ws run plan.yaml --workspace . --output out --resume --report run.html',
    )
    .action((file: string, flags: RunFlags) => {
      start((context) => run(context, file, flags))
    })
}

async function run(context: CommandContext, file: string, flags: RunFlags): Promise<number> {
  const { output, settings, style, signal } = context
  const text = readPlan(file)
  const { leadsInto, refuseExchangeable } = await import('../config/host-paths.ts')
  if (leadsInto(file, flags.output)) {
    throw new UsageError('the plan lies in --output, where its steps can change it; move it elsewhere')
  }
  if (settings.config !== undefined) refuseExchangeable(settings.config, settings, flags.output)
  await using runner = await openRunner(context, flags)
  const checked = await runner.check(text, { signal })
  if (checked.plan === undefined) return await complain(context, file, checked)
  const { plan } = checked
  if (flags.dryRun === true) {
    if (output.json) await output.value({ plan })
    else for (const { id, type, needs } of plan.steps) await output.line([id, type, ...needs].join('  '))
    return exitCodes.ok
  }
  const view = createRunView({ output, style, steps: plan.steps.length })
  let result: RunResult
  try {
    const { resume, force } = flags
    result = await runner.run(text, { resume, force, signal, onEvent: (event) => view.show(event) })
  } finally {
    view.end()
    await report(runner, plan, flags)
    if (signal.aborted) complainTo(process.stderr, 'the run was interrupted; the same command with --resume goes on')
  }
  if (output.json) await output.value(result)
  else await output.line(summary(result))
  return result.state === 'done' ? exitCodes.ok : exitCodes.failed
}

async function openRunner({ settings }: CommandContext, flags: RunFlags): Promise<Runner> {
  const names = settings.executors
  checkInstalled(['@ws/runner', ...neededBy({ executors: names })])
  const { createRunner } = await loadOptional('@ws/runner')
  prepareOutput(flags.output, flags.workspace)
  return createRunner({
    workspace: flags.workspace,
    output: flags.output,
    state: flags.state,
    owner: settings.owner,
    executors: await Promise.all(names.map((name) => createExecutor(name, settings.executorOptions))),
    require: settings.require,
  })
}

/** Prints the problems of a plan that was not run. */
async function complain({ output }: CommandContext, file: string, { problems }: PlanCheck): Promise<number> {
  const { describeProblem } = await loadOptional('@ws/runner')
  if (output.json) await output.value({ problems })
  else for (const problem of problems) complainTo(process.stderr, `${quotePath(file)}: ${describeProblem(problem)}`)
  return exitCodes.usage
}

async function report(runner: Runner, plan: NonNullable<PlanCheck['plan']>, { report: file }: RunFlags): Promise<void> {
  const history = file === undefined ? undefined : await runner.history()
  if (file === undefined || history === undefined) return
  const { renderReport } = await loadOptional('@ws/runner')
  writeReport(file, renderReport(plan, history))
}

function summary({ state, steps }: RunResult): string {
  const counts = new Map<string, number>()
  for (const step of Object.values(steps)) counts.set(step.state, (counts.get(step.state) ?? 0) + 1)
  return `${state}: ${[...counts].map(([name, count]) => `${count} ${name}`).join(', ')}`
}
