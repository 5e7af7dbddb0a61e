import { noGuarantees } from '@ws/core/executor'

import { type Attempt, attempts } from './attempts.ts'
import { type Outcome, outcomeOf, type Verdict } from './judge.ts'
import type { ColumnReport } from './run.ts'

const controlName = 'plain process'

/** True for an attempt that a plain process cannot make: rules mean nothing to it, and it has no tracer. */
function untriedInControl(attempt: string): boolean {
  const { field, name, fights } = attempts.find((candidate) => candidate.name === attempt) ?? {}
  const ofRules = field === 'readOnlyMounts' || field === 'subtrees' || field === 'deniedSubtrees'
  return ofRules || name === 'survives its command' || (fights === true && field !== 'processes')
}

/** Attempts that may fail even in a plain process of an ordinary user, because the kernel can prevent them. */
const privileged: ReadonlySet<string> = new Set([
  '/proc/1/root and cwd',
  'open_by_handle_at',
  'mount',
  'mknod',
  'whiteout',
  '/proc/sys',
  'TIOCSTI',
  'x32 calls',
  '32-bit calls (int 0x80)',
  'io_uring',
  'unshare',
  'clone into a namespace',
  'ptrace',
  'memory of another process',
  'hard link',
  'hard link made inside, read through the API',
  'vsock',
])

/** Attempts that should get out of a plain process on every machine, but did not. Such attempts would prove nothing. */
export function missedByControl(control: ReadonlySet<string>): string[] {
  return attempts
    .map(({ name }) => name)
    .filter((name) => !untriedInControl(name) && !privileged.has(name) && !control.has(name))
}

const cells: Readonly<Record<Outcome, string>> = {
  out: '**out**',
  blocked: 'blocked',
  'by luck': '**by luck**',
  'no fight': '',
  shared: 'shared',
}

export function cellOf(attempt: Attempt, verdict: Verdict): string {
  return cells[outcomeOf(attempt, verdict)]
}

/** The outcome of every attempt in each column, and the levels that the columns declare. */
export function renderEscapes(reports: readonly ColumnReport[], control: ReadonlySet<string>): string {
  const plain: Verdict = { guarantees: noGuarantees, reached: control, unfinished: [] }
  const rows = attempts.map((attempt) => [
    `\`${attempt.field}\``,
    labelOf(attempt),
    untriedInControl(attempt.name) ? '' : cellOf(attempt, plain),
    ...reports.map((report) => cellOf(attempt, report)),
  ])
  const declared = reports.map(({ name, guarantees }) => {
    const levels = Object.entries(guarantees).map(([field, level]) => `${field} \`${level}\``)
    return `- ${name}: ${levels.join(', ')}`
  })
  const head = ['field', 'attempt', controlName, ...reports.map(({ name }) => name)]
  return `${tableOf(head, rows)}\n\n## Declared\n\n${declared.join('\n')}\n`
}

/** The attempts of each field, which the site shows below docs/escapes.md. */
export function renderAttempts(): string {
  const fields = Map.groupBy(attempts, ({ field }) => field)
  const rows = [...fields].map(([field, tried]) => [`\`${field}\``, tried.map(labelOf).join('; ')])
  return `${tableOf(['field', 'attempts'], rows)}\n`
}

function labelOf({ name, fights }: Attempt): string {
  return fights === true ? `${name} *` : name
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}
