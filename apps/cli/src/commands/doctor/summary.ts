import { guaranteeFields, type Guarantees } from '@ws/core/executor'

import { systemChoice, type ExecutorName } from '../../config/executors.ts'
import type { CommandContext } from '../../command-context.ts'
import type { Style } from '../../terminal/style.ts'
import { renderTable } from '../../terminal/table.ts'
import { wrapWords } from '../../terminal/wrap.ts'
import { isSlow, lastResort, mergeRoots, type Finding } from './finding.ts'
import type { Rules } from './rules.ts'

interface Summary {
  readonly ok: boolean
  readonly verbose: boolean
  readonly findings: readonly Finding[]
  readonly rules: Rules | undefined
  readonly executor: ExecutorName | undefined
}

export function renderSummary(summary: Summary, { style, output }: Pick<CommandContext, 'style' | 'output'>): string {
  const more = summary.verbose ? [] : [style.dim('ws doctor -v says more of each boundary and limit.')]
  // Lines that begin with spaces contain commands for copying, so these lines are not wrapped.
  const wrapped = (line: string) => (output.terminal && !line.startsWith(' ') ? wrapWords(line, style.width) : line)
  const said = verdict(summary, style).split('\n').map(wrapped).join('\n')
  return [renderExecutors(summary, style), said, wrapped(systemChoice.best), ...more].join('\n\n')
}

export function renderExecutors(
  { findings, rules, executor }: Pick<Summary, 'findings' | 'executor'> & Partial<Summary>,
  style: Style,
): string {
  const lines = mergeRoots(findings).map((finding) => {
    const { roots } = finding
    const several = findings.some((other) => other.executor === finding.executor && !roots.includes(other.at))
    const name = several ? `${finding.executor} at ${roots.join(', ')}` : finding.executor
    const passed = rules?.passedOver.some((one) => one.executor === finding.executor) === true
    return [name, ...stateOf(finding, { used: finding.executor === executor, passed, style })]
  })
  const nameWidth = Math.max(...lines.map(([name = '']) => name.length)) + 2
  const widths = [nameWidth, 11, Math.max(20, style.width - nameWidth - 11 - 5)]
  return renderTable(lines, { widths })
}

interface StateOptions {
  readonly used: boolean
  /** True if this workspace cannot use the executor; the text below the table gives the reason. */
  readonly passed: boolean
  readonly style: Style
}

function stateOf(finding: Finding, { used, passed, style }: StateOptions): [string, string] {
  const { executor, available, missing, guarantees, unmet } = finding
  if (!available) return [style.bad('missing'), missing.join('; ')]
  if (unmet.length > 0) return [style.bad('too weak'), `does not hold what is required: ${unmet.join(', ')}`]
  if (passed) return [style.bad('not here'), 'cannot run the commands of this workspace']
  const held = `${holds(guarantees)}${isSlow(finding) ? '; slow with many files' : ''}`
  if (used) return [style.good('chosen'), held]
  return executor === lastResort
    ? [style.note('if named'), `${held}; for trusted commands`]
    : [style.good('ready'), held]
}

/** Function rules are not a boundary of commands: only the file API enforces these rules. */
const boundaries = guaranteeFields.filter((field) => field !== 'apiRules')

function holds(guarantees: Guarantees): string {
  const partly = boundaries.filter((field) => guarantees[field] === 'translated').length
  const none = boundaries.filter((field) => guarantees[field] === 'none').length
  const fully = boundaries.length - partly - none
  if (fully === boundaries.length) return 'holds every boundary'
  const some = partly === 0 ? '' : `, ${partly} more in part`
  return `holds ${fully} of ${boundaries.length} boundaries${some}`
}

function verdict({ ok, findings, rules, executor }: Summary, style: Style): string {
  const named = findings.filter(({ executor: name }) => name !== lastResort || name === executor)
  const preferred = ok
    ? named.slice(
        0,
        named.findIndex((one) => one.executor === executor),
      )
    : named
  const fixes = [...new Set(preferred.flatMap(({ available, howToFix }) => (available ? [] : howToFix)))]
  const reasons = [
    ...reasonsOf(rules, findings, style),
    ...asSteps(ok ? 'To get what would be preferred' : 'To change that', fixes),
  ]
  if (ok) {
    const every = rules === undefined ? '' : ' Every rule of this workspace holds in them.'
    return [`${style.good('Commands would run with')} ${executor}.${every}`, ...reasons].join('\n')
  }
  const without = rules === undefined || (rules.executor === undefined && rules.problem === undefined)
  const resort = findings.some((one) => one.executor === lastResort && one.available && one.unmet.length === 0)
  return [
    style.bad(`${without ? 'No executor here will do: commands' : 'Commands'} would be refused.`),
    ...(rules?.problem === undefined ? [] : [rules.problem]),
    ...(rules?.unenforceable ?? []).flatMap(({ rule, reason, remedy }) => [
      `${style.strong(rule)}: ${reason}`,
      `  ${style.note('do')} ${remedy}`,
    ]),
    ...reasons,
    ...(without && resort && executor !== lastResort ? ['Trusted commands can run with ws --executor sanitize.'] : []),
  ].join('\n')
}

/** Reasons why executors cannot be used here, each reason once. The steps below explain the installation. */
function reasonsOf(rules: Rules | undefined, findings: readonly Finding[], style: Style): string[] {
  const byReason = Map.groupBy(rules?.passedOver ?? [], ({ reason }) => reason)
  return [...byReason].flatMap(([reason, all]) => {
    const works = all.find((one) => findings.some(({ executor, available }) => executor === one.executor && available))
    const line = `${all.map(({ executor }) => executor).join(', ')}: ${reason}`
    return works?.remedy === undefined ? [line] : [line, `  ${style.note('do')} ${works.remedy}`]
  })
}

function asSteps(title: string, fixes: readonly string[]): string[] {
  return fixes.length === 0 ? [] : [`${title}:`, ...fixes.map((fix) => `  ${fix}`)]
}
