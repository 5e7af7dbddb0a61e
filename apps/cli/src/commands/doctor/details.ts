import type { Owner } from '@ws/core/adapter'
import { commandLimits, guaranteeFields, satisfies, type GuaranteeLevel, type LimitReport } from '@ws/core/executor'

import type { ExecutorName } from '../../config/executors.ts'
import type { SuggestedTool } from '../../config/tools.ts'
import type { CommandContext } from '../../command-context.ts'
import { howToPack, optionalNames, optionalPackages } from '../../optional/packages.ts'
import type { Style } from '../../terminal/style.ts'
import { renderTable } from '../../terminal/table.ts'
import { isSlow, lastResort, mergeRoots, type Finding } from './finding.ts'
import type { Rules } from './rules.ts'

interface Details {
  readonly findings: readonly Finding[]
  readonly rules: Rules | undefined
  readonly tools: readonly SuggestedTool[]
  readonly packages: Readonly<Record<string, boolean>>
  readonly owner: Owner
}

/** A text with every boundary and limit of each executor, and its notes. */
export function renderDetails({ findings, rules, tools, packages, owner }: Details, context: CommandContext): string {
  const { style } = context
  return [
    renderFindings(findings, style),
    renderLimits(findings, style),
    ...renderBorders(rules, context),
    ...renderTools(tools, owner, context),
    renderPackages(packages, style),
  ].join('\n\n')
}

/** The heads of columns: names of executors, with the root if an executor has several columns. */
function headsOf(findings: readonly Merged[], style: Style): string[] {
  return findings.map(({ executor, roots }) => {
    const several = findings.filter((other) => other.executor === executor).length > 1
    return style.strong(several ? `${executor} ${roots.join(' ')}` : executor)
  })
}

type Merged = ReturnType<typeof mergeRoots>[number]

function renderFindings(all: readonly Finding[], style: Style): string {
  const findings = mergeRoots(all)
  const head = [style.strong('boundary'), ...headsOf(findings, style)]
  const level = (text: GuaranteeLevel) =>
    text === 'none' ? style.bad(text) : text === 'translated' || text === 'names' ? style.note(text) : style.good(text)
  const rows = [
    ['available', ...findings.map(({ available }) => (available ? style.good('yes') : style.bad('no')))],
    ...guaranteeFields.map((field) => [field, ...findings.map(({ guarantees }) => level(guarantees[field]))]),
  ]
  const notes = findings.flatMap((finding) => {
    const { executor, roots, missing, howToFix, details } = finding
    const facts = Object.entries(details).map(([name, value]) => `${name}: ${value}`)
    const said = [
      ...(executor === lastResort
        ? [['only', 'for trusted commands, where it is named: it has no view'] as const]
        : []),
      ...missing.map((text) => ['lacks', text] as const),
      ...strongerElsewhere(finding, findings).map((text) => ['weaker', text] as const),
      ...(isSlow(finding) ? [['slow', `${slow}; ${quickerThan(executor)}`] as const] : []),
    ]
    const lines = [
      ...(said.length === 0 ? [] : [renderNotes(said, style)]),
      // A command stays on one line, so that users can copy the command.
      ...howToFix.map((text) => `  ${style.note('do')}      ${text}`),
      ...facts.map((text) => `  ${style.dim(text)}`),
    ]
    return lines.length === 0 ? [] : [[style.strong(`${executor} at ${roots.join(', ')}`), ...lines].join('\n')]
  })
  return [renderTable(rows, { head }), ...notes].join('\n\n')
}

const slow = 'every system call is stopped: file-heavy commands take 10 to 100 times as long'

function quickerThan(executor: ExecutorName): string {
  return executor === 'bubblewrap'
    ? 'mount at /workspace instead of /, or change what stands in the way below'
    : 'use bubblewrap, or a proot that is built with its seccomp filter, which the packages of Debian are not'
}

function renderLimits(all: readonly Finding[], style: Style): string {
  const findings = mergeRoots(all)
  const head = [style.strong('limit'), ...headsOf(findings, style)]
  const cell = ({ limits }: Finding, field: LimitReport['field']) => {
    const { heldBy = 'none', scope } = limits?.find((limit) => limit.field === field) ?? {}
    return heldBy === 'none' ? style.bad('none') : style.good(`${heldBy}, ${scope ?? ''}`)
  }
  const rows = commandLimits.fields.map((field) => [field, ...findings.map((finding) => cell(finding, field))])
  const noted = findings.flatMap(({ limits = [] }) =>
    limits.flatMap(({ field, note }) => (note ? [{ field, note }] : [])),
  )
  const notes = [...new Map(noted.map((one) => [`${one.field} ${one.note}`, [one.field, one.note] as const])).values()]
  return [renderTable(rows, { head }), ...(notes.length === 0 ? [] : [renderNotes(notes, style)])].join('\n')
}

function renderNotes(notes: readonly (readonly [string, string])[], style: Style): string {
  const labelWidth = Math.max(...notes.map(([label]) => label.length)) + 2
  const rows = notes.map(([label, text]) => ['', style.note(label), text])
  return renderTable(rows, { widths: [0, labelWidth, Math.max(20, style.width - labelWidth - 5)] })
}

function renderBorders(rules: Rules | undefined, { output, style }: CommandContext): string[] {
  const borders = rules?.renameBorders ?? []
  if (borders.length === 0) return []
  const lines = borders.map((path) => `  ${output.name(path)}`)
  return [[style.strong('Directories across which rename and link are EXDEV in commands'), ...lines].join('\n')]
}

/** Suggests tools of version managers, which commands see only through a config file. */
function renderTools(
  tools: readonly SuggestedTool[],
  owner: Owner,
  { settings, output, style }: CommandContext,
): string[] {
  const [executor] = settings.executors
  if (tools.length === 0 || (executor !== 'bubblewrap' && executor !== 'proot')) return []
  const missing = tools.filter(
    ({ host }) => !settings.executorOptions[executor]?.tools?.some((tool) => tool.host === host),
  )
  if (missing.length === 0) return []
  const usable = missing.filter(({ reachable }) => reachable)
  const line = JSON.stringify({ executorOptions: { [executor]: { tools: usable.map(({ host }) => ({ host })) } } })
  const lines = [
    style.strong('Tools of this machine that commands do not see'),
    ...missing.map(({ manager, host, reachable }) => {
      const tool = `  ${manager}  ${output.name(host)}`
      if (reachable) return tool
      const barred = `closed to uid ${owner.uid}, the user that commands run as`
      const gap = output.terminal && tool.length + barred.length + 2 > style.width ? '\n    ' : '  '
      return `${tool}${gap}${style.note(barred)}`
    }),
    ...(usable.length === 0 ? [] : [`  ${style.note('do')}     in the config file: ${output.name(line)}`]),
  ]
  return [lines.join('\n')]
}

function renderPackages(packages: Details['packages'], style: Style): string {
  const rows = optionalNames.map((name) => [
    name,
    packages[name] ? style.good('installed') : style.note('not installed'),
    optionalPackages[name],
  ])
  const missing = optionalNames.filter((name) => !packages[name])
  const head = [style.strong('optional package'), '', style.strong('for')]
  const taken = Math.max(...optionalNames.map(({ length }) => length)) + 'not installed'.length + 4
  const table = renderTable(rows, { head, widths: [null, null, Math.max(20, style.width - taken)] })
  return missing.length === 0 ? table : `${table}\n  ${style.note('do')}      ${howToPack(missing)}`
}

/** Names available executors with guarantees that this executor cannot give, even if no part of this executor is missing. */
function strongerElsewhere({ executor, at, available, guarantees }: Finding, findings: readonly Finding[]): string[] {
  if (!available) return []
  const told = new Set<string>()
  return findings.flatMap((other) => {
    if (!other.available || other.at !== at) return []
    const fields = guaranteeFields.filter(
      (field) => !told.has(field) && !satisfies(guarantees[field], other.guarantees[field]),
    )
    if (fields.length === 0) return []
    for (const field of fields) told.add(field)
    return [`${fields.join(', ')}: ${executor} holds less by its nature; use ws --executor ${other.executor}`]
  })
}
