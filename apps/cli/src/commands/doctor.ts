import {
  guaranteeFields,
  isWorkspaceError,
  satisfies,
  unmetFields,
  type Explanation,
  type Executor,
  type GuaranteeLevel,
  type LimitField,
  limitFields,
  type Owner,
  type ProbeReport,
} from '@ws/core'
import type { Command } from 'commander'

import { ordinaryOwner } from '../checks/owner.ts'
import { createExecutor, defaultExecutorNames, type ExecutorName } from '../config/executors.ts'
import { suggestTools, type SuggestedTool } from '../config/tools.ts'
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
  /** Why an executor that would be preferred cannot be used. */
  readonly passedOver?: readonly string[] | undefined
  readonly problem?: string | undefined
}

export function addDoctor(program: Command, start: Start): void {
  program
    .command('doctor')
    .summary('say what this machine can enforce, and how to get more')
    .description(
      'Runs each executor once and says, field by field, how it holds each boundary here, why not better, and the command ' +
        'that would change it. With --root or --config also what the rules of that workspace mean for commands: which cannot ' +
        'be enforced, and the directories across which rename and link are EXDEV. The last resort, sanitize, is shown too: it is ' +
        'for trusted commands, and used only when it is named. Ends with 1 when no executor will do.',
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
  for (const name of shownOf(settings.executors)) {
    const executor = await createExecutor(name, settings.executorOptions)
    for (const at of roots) {
      const root = at as NonNullable<Parameters<Executor['probe']>[0]>['root']
      findings.push({ executor: name, at, ...(await executor.probe({ root, owner, signal })) })
    }
  }
  const rules = settings.mounts.length === 0 ? undefined : await inspectRules(context)
  const fit = findings.filter(
    ({ executor, available, guarantees }) =>
      settings.executors.includes(executor) && available && unmetFields(guarantees, settings.require).length === 0,
  )
  const ok = fit.length > 0 && rules?.problem === undefined
  const tools = suggestTools(process.env, owner)
  if (output.json) await output.value({ ok, executors: findings, rules, tools })
  else
    await output.line(
      [
        renderFindings(findings, style),
        renderLimits(findings, style),
        ...renderRules(rules, context),
        ...renderTools(tools, owner, context),
        verdict(rules === undefined ? fit[0]?.executor : rules.executor, findings, style),
      ].join('\n\n'),
    )
  return ok ? exitCodes.ok : exitCodes.failed
}

/** Where nobody chose, also the last resort, which nobody gets without naming it. */
function shownOf(names: readonly ExecutorName[]): readonly ExecutorName[] {
  return names === defaultExecutorNames ? [...names, lastResort] : names
}

const lastResort = 'sanitize'

async function inspectRules({ settings, open, signal }: Context): Promise<Rules> {
  const passedOver: string[] = []
  for (const name of settings.executors) {
    try {
      await using workspace = await open({ executors: [name] })
      const { unenforceable, renameBorders } = await workspace.explain({ operation: 'exec', path: workspace.root })
      return { executor: name, passedOver, unenforceable, renameBorders }
    } catch (error) {
      signal.throwIfAborted()
      if (!isWorkspaceError(error)) throw error
      if (error.code !== 'ENOEXECUTOR') return { problem: error.message }
      passedOver.push(error.message)
    }
  }
  return { problem: passedOver.join('; ') }
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
      ...(executor === lastResort
        ? [`${style.note('only')}    for trusted commands, where it is named: it has no view`]
        : []),
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

/** By what each limit is held, and over what. */
function renderLimits(findings: readonly Finding[], style: Style): string {
  const head = ['limit', ...findings.map(({ executor, at }) => `${executor} ${at}`)].map((text) => style.strong(text))
  const cell = ({ limits }: Finding, field: LimitField) => {
    const { heldBy = 'none', scope } = limits?.find((limit) => limit.field === field) ?? {}
    return heldBy === 'none' ? style.bad('none') : style.good(`${heldBy}, ${scope ?? ''}`)
  }
  const rows = limitFields.map((field) => [field, ...findings.map((finding) => cell(finding, field))])
  const notes = new Set(
    findings.flatMap(({ limits = [] }) => limits.flatMap(({ field, note }) => (note ? [`${field}: ${note}`] : []))),
  )
  return [renderTable(rows, { head }), ...[...notes].map((note) => style.dim(`  ${note}`))].join('\n')
}

/** What version managers have installed here is not in commands unless a config file says so. */
function renderTools(tools: readonly SuggestedTool[], owner: Owner, { settings, output, style }: Context): string[] {
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
      const barred = reachable ? '' : `  ${style.note(`closed to uid ${owner.uid}, whom commands run as`)}`
      return `  ${manager}  ${output.name(host)}${barred}`
    }),
    ...(usable.length === 0 ? [] : [`  ${style.note('do')}     in the config file: ${output.name(line)}`]),
  ]
  return [lines.join('\n')]
}

/** Where nothing is missing and an executor still holds less than another does here, that is its nature. */
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

function renderRules(rules: Rules | undefined, { output, style }: Context): string[] {
  if (rules === undefined) return []
  const lines = [
    ...(rules.problem === undefined ? [] : [`${style.bad('cannot run commands')}  ${rules.problem}`]),
    ...(rules.passedOver ?? []).map((reason) => `${style.note('passed over')}  ${reason}`),
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

function verdict(best: string | undefined, findings: readonly Finding[], style: Style): string {
  if (best === undefined) {
    const resort = findings.some(({ executor, available }) => executor === lastResort && available)
    const advice = ' Trusted commands can run with ws --executor sanitize, which holds what the table says.'
    return `${style.bad('No executor here will do.')}${resort ? advice : ''}`
  }
  return `${style.good('Commands would run with')} ${best}.`
}
