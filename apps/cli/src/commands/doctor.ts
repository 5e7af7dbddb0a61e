import {
  guaranteeFields,
  isWorkspaceError,
  satisfies,
  unmetFields,
  type Explanation,
  type Executor,
  type GuaranteeLevel,
  type ProbeReport,
} from '@ws/core'
import type { Command } from 'commander'

import { ordinaryOwner } from '../checks/owner.ts'
import { createExecutor, type ExecutorName } from '../config/executors.ts'
import type { Context, Start } from '../context.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Style } from '../terminal/style.ts'
import { renderTable } from '../terminal/table.ts'

interface Finding extends ProbeReport {
  readonly executor: ExecutorName
  readonly at: string
}

/** What the named workspace's own rules mean for commands; `problem` where it cannot be opened for them. */
interface Rules extends Pick<Explanation, 'unenforceable' | 'renameBorders'> {
  readonly executor?: string | undefined
  readonly problem?: string | undefined
}

export function addDoctor(program: Command, start: Start): void {
  program
    .command('doctor')
    .summary('say what this machine can enforce, and how to get more')
    .description(
      'Runs each executor once and says, field by field, how it holds each boundary here, why not better, and the command ' +
        'that would change it. With --root or --config also what the rules of that workspace mean for commands: which cannot ' +
        'be enforced, and the directories across which rename and link are EXDEV. Ends with 1 when no executor will do.',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ ws doctor\n  $ ws --config ws.config.json doctor\n  $ ws --require untrusted doctor',
    )
    .action(() => {
      start((context) => doctor(context))
    })
}

async function doctor(context: Context): Promise<number> {
  const { settings, output, style, signal } = context
  const owner = settings.owner ?? ordinaryOwner()
  const roots = [...new Set(settings.mounts.length > 0 ? [settings.mounts[0]?.at ?? '/'] : ['/', '/workspace'])]
  const findings: Finding[] = []
  for (const name of settings.executors) {
    const executor = createExecutor(name)
    for (const at of roots) {
      const root = at as NonNullable<Parameters<Executor['probe']>[0]>['root']
      findings.push({ executor: name, at, ...(await executor.probe({ root, owner, signal })) })
    }
  }
  const rules = settings.mounts.length === 0 ? undefined : await inspectRules(context)
  const fit = findings.filter(
    ({ available, guarantees }) => available && unmetFields(guarantees, settings.require).length === 0,
  )
  const ok = fit.length > 0 && rules?.problem === undefined
  if (output.json) await output.value({ ok, executors: findings, rules })
  else
    await output.line(
      [renderFindings(findings, style), ...renderRules(rules, context), verdict(fit, style)].join('\n\n'),
    )
  return ok ? exitCodes.ok : exitCodes.failed
}

async function inspectRules({ open, signal }: Context): Promise<Rules> {
  try {
    await using workspace = await open({ executors: true })
    const { unenforceable, renameBorders } = await workspace.explain({ operation: 'exec', path: workspace.root })
    return { executor: workspace.executor?.name, unenforceable, renameBorders }
  } catch (error) {
    signal.throwIfAborted()
    if (!isWorkspaceError(error)) throw error
    return { problem: error.message }
  }
}

function renderFindings(findings: readonly Finding[], style: Style): string {
  const head = ['boundary', ...findings.map(({ executor, at }) => `${executor} ${at}`)].map((text) =>
    style.strong(text),
  )
  const level = (text: GuaranteeLevel) =>
    text === 'none' ? style.bad(text) : text === 'translated' ? style.note(text) : style.good(text)
  const rows = [
    ['available', ...findings.map(({ available }) => (available ? style.good('yes') : style.bad('no')))],
    ...guaranteeFields.map((field) => [field, ...findings.map(({ guarantees }) => level(guarantees[field]))]),
  ]
  const notes = findings.flatMap((finding) => {
    const { executor, at, missing, howToFix, details } = finding
    const facts = Object.entries(details).map(([name, value]) => `${name}: ${value}`)
    const lines = [
      ...missing.map((text) => `${style.note('lacks')}  ${text}`),
      ...strongerElsewhere(finding, findings).map((text) => `${style.note('weaker')} ${text}`),
      ...howToFix.map((text) => `${style.note('do')}     ${text}`),
      ...facts.map((text) => style.dim(text)),
    ]
    return lines.length === 0
      ? []
      : [`${style.strong(`${executor} at ${at}`)}\n${lines.map((line) => `  ${line}`).join('\n')}`]
  })
  return [renderTable(rows, { head }), ...notes].join('\n\n')
}

/** Where nothing is missing and an executor still holds less than another does here, that is its nature. */
function strongerElsewhere({ executor, at, available, guarantees }: Finding, findings: readonly Finding[]): string[] {
  if (!available) return []
  return findings.flatMap((other) => {
    if (!other.available || other.at !== at) return []
    const fields = guaranteeFields.filter((field) => !satisfies(guarantees[field], other.guarantees[field]))
    if (fields.length === 0) return []
    return [`${fields.join(', ')}: ${executor} holds less by its nature; use ws --executor ${other.executor}`]
  })
}

function renderRules(rules: Rules | undefined, { output, style }: Context): string[] {
  if (rules === undefined) return []
  const lines = [
    ...(rules.problem === undefined ? [] : [`${style.bad('cannot run commands')}  ${rules.problem}`]),
    ...(rules.unenforceable ?? []).map(
      (one) => `${style.bad('not enforceable')}  ${one.rule}: ${one.reason}; ${one.remedy}`,
    ),
    ...(rules.renameBorders ?? []).map((path) => `${style.note('EXDEV')}  rename and link across ${output.name(path)}`),
  ]
  const title = style.strong(`This workspace${rules.executor === undefined ? '' : `, with ${rules.executor}`}`)
  return [
    `${title}\n${(lines.length === 0 ? [style.good('every rule is enforced on commands, and no rename is cut off')] : lines).map((line) => `  ${line}`).join('\n')}`,
  ]
}

function verdict(fit: readonly Finding[], style: Style): string {
  const [best] = fit
  if (best === undefined) return style.bad('No executor here will do.')
  return `${style.good('Commands would run with')} ${best.executor}.`
}
