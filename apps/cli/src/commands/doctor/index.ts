import { noGuarantees, unmetFields, type Executor, type ProbeReport } from '@ws/core/executor'
import type { Command } from 'commander'
import type { Owner } from '@ws/core/adapter'

import { createExecutor, defaultExecutorNames, type ExecutorName } from '../../config/executors.ts'
import { findSharedFiles, type SharedFiles } from '../../config/hard-links.ts'
import { ownPathOf } from '../../config/mounts.ts'
import { neededBy } from '../../config/needed.ts'
import { suggestTools } from '../../config/tools.ts'
import type { CommandContext, Start } from '../../command-context.ts'
import { exitCodes } from '../../exit-codes.ts'
import { UsageError } from '../../errors.ts'
import { isInstalled } from '../../optional/load.ts'
import { howToPack, optionalNames, type OptionalName } from '../../optional/packages.ts'
import { ordinaryOwner } from '../../owner.ts'
import { renderDetails } from './details.ts'
import { lastResort, type Finding } from './finding.ts'
import { inspectRules, type Rules } from './rules.ts'
import { renderSummary } from './summary.ts'
import { renderTable } from '../../terminal/table.ts'

interface DoctorFlags {
  readonly verbose?: true
  readonly matches?: true
}

export function addDoctor(program: Command, start: Start): void {
  program
    .command('doctor')
    .summary('say whether commands can run here')
    .description(
      'Runs each executor once, and says in a line each how it does here, then whether commands would run. With --root, ' +
        '--config or a config file that it finds, it says of that workspace what exec would do: with which executor, or which rule refuses commands, and the ' +
        'remedy. The last resort, sanitize, is shown too: it is for trusted commands, and used only when it is named. Ends with 1 ' +
        'when commands would be refused.',
    )
    .option(
      '-v, --verbose',
      'also each boundary and limit, why it is not held better, tools that commands do not see, and optional packages',
    )
    .option('--matches', 'also what the rules by pattern of the workspace match now')
    .addHelpText(
      'after',
      '\nExamples:\n  $ ws doctor\n  $ ws doctor -v\n  $ ws --config ws.config.json doctor --matches\n  $ ws --require untrusted doctor',
    )
    .action((flags: DoctorFlags) => {
      start((context) => doctor(context, flags))
    })
}

async function doctor(context: CommandContext, { verbose, matches }: DoctorFlags): Promise<number> {
  const { settings, output } = context
  if (matches && settings.mounts.length === 0) {
    throw new UsageError('--matches needs a workspace; give --config FILE with rules')
  }
  const owner = settings.owner ?? ordinaryOwner()
  const findings = await probeAll(context, owner)
  const rules = settings.mounts.length === 0 ? undefined : await inspectRules(context)
  const best = findings.find(
    ({ executor, available, guarantees }) =>
      settings.executors.includes(executor) && available && unmetFields(guarantees, settings.require).length === 0,
  )
  const ok = rules === undefined ? best !== undefined : rules.effect === 'allow'
  const tools = suggestTools(process.env, owner)
  const packages = Object.fromEntries(optionalNames.map((name) => [name, isInstalled(name)]))
  const { givenUpScratch } = await import('@ws/adapter-local')
  const leftovers = await givenUpScratch()
  const shared = await findSharedFiles(settings, context.signal)
  if (output.json) await output.value({ ok, executors: findings, rules, tools, packages, leftovers, shared })
  else {
    const report = { findings, rules, executor: rules === undefined ? best?.executor : rules.executor }
    if (verbose) await output.line(`${renderDetails({ ...report, tools, packages, owner }, context)}\n`)
    if (matches && rules !== undefined) await output.line(`${renderMatches(rules, context)}\n`)
    await output.line(renderSummary({ ...report, ok, verbose: verbose === true }, context))
    if (leftovers.length > 0) await output.line(renderLeftovers(leftovers, context))
    if (shared.files > 0) await output.line(renderSharedFiles(shared, context))
  }
  return ok ? exitCodes.ok : exitCodes.failed
}

/** Probes each executor at the workspace's root. Without a workspace, at both usual roots, or in this directory at its own path. */
export async function probeAll(
  { settings, signal }: Pick<CommandContext, 'settings' | 'signal'>,
  owner: Owner,
): Promise<Finding[]> {
  const { mounts, executors, executorOptions, require } = settings
  const usual = executors.includes('sandbox-runtime') ? [ownPathOf('.')] : ['/', '/workspace']
  const roots = mounts[0] === undefined ? usual : [mounts[0].at]
  const findings: Finding[] = []
  for (const name of shownOf(executors)) {
    const missing = neededBy({ executors: [name] }).filter((needed) => !isInstalled(needed))
    const executor = missing.length === 0 ? await createExecutor(name, executorOptions) : notInstalled(missing)
    for (const at of roots) {
      const root = at as NonNullable<Parameters<Executor['probe']>[0]>['root']
      const report: ProbeReport = await executor.probe({ root, owner, withDetails: true, signal })
      findings.push({ executor: name, at, owner, ...report, unmet: unmetFields(report.guarantees, require) })
    }
  }
  return findings
}

/** Lists temporary directories of ended processes that could not be removed. */
function renderLeftovers(leftovers: readonly string[], { output, style }: CommandContext): string {
  // Root may remove any directory, and for root `chmod` would follow another user's link.
  const opened = (path: string) => (process.getuid?.() === 0 ? '' : `chmod 700 ${path} && `)
  const lines = leftovers.map((path) => `  ${style.note('do')} ${output.name(`${opened(path)}rm -rf ${path}`)}`)
  return [`\n${style.bad('Temporary files of commands')} are left here and cannot be removed:`, ...lines].join('\n')
}

export function renderSharedFiles(
  { files, examples, complete }: SharedFiles,
  { output, style }: Pick<CommandContext, 'output' | 'style'>,
): string {
  const count = `${complete ? '' : 'At least '}${files} ${files === 1 ? 'file has' : 'files have'}`
  return [
    `\n${style.note(`${count} further names outside of the workspace`)} (hard links). A command that writes to one changes it there too:`,
    ...examples.map((path) => `  ${output.name(path)}`),
    `  ${style.note('do')} work in a copy (\`cp -a\`), which gives each file one name`,
  ].join('\n')
}

/** A stand-in for an executor whose package is missing, with a report of the missing packages. */
function notInstalled(packages: readonly OptionalName[]): Pick<Executor, 'probe'> {
  const report: ProbeReport = {
    available: false,
    missing: packages.map((name) => `the package ${name}`),
    howToFix: [howToPack(packages)],
    guarantees: noGuarantees,
    details: {},
  }
  return { probe: async () => report }
}

function shownOf(names: readonly ExecutorName[]): readonly ExecutorName[] {
  return names === defaultExecutorNames ? [...names, lastResort] : names
}

function renderMatches({ matches = [] }: Rules, { output, style }: CommandContext): string {
  if (matches.length === 0) return 'No rule by pattern matches anything now.'
  const rows = matches
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ rule, path }) => [output.name(path), style.dim(rule)])
  return renderTable(rows, { head: [style.strong('matched now'), style.strong('rule')] })
}
