import { noGuarantees } from '@ws/core/executor'

import { type Attempt, attempts } from './attempts.ts'
import { columns } from './columns.ts'
import { type Outcome, outcomeOf, type Verdict } from './judge.ts'
import type { ColumnReport } from './run.ts'

export type Row = readonly string[]

const title = `# Escapes

This table lists what programs try in order to get out of a command, and what becomes of it. **out**: the attempt got what it was after.
Each attempt belongs to a field of the guarantees. Tests make the attempts: \`npm test\` in one column of each executor, \`npm run
test:deep\` in all. They fail where a cell is not what this table says, and where the table is not what an executor declares,
better or worse:

- \`kernel\` and \`interpreter\`: nothing gets out.
- \`translated\`: attempts against the translation (marked *) get out, and nothing else.
- \`none\`: something gets out.

**by luck** means that a race or a fight may be won, as declared: the machine's timing decides in which run. No luck gets out of
a field that is \`kernel\` or \`interpreter\`. A cell is empty where there is nothing to fight. **shared** means that something was reached in the
workspace itself: no guarantee is about that.

The programs are in \`lab/attack/src/escapes/programs\`. This file is written by \`npm run attack -- --escapes --write\`.
\`plain process\` is the control: the same programs without any of this, as an ordinary user of the machine that wrote the table.
\`apiRules\` is not here: it is about rules that only the file API can judge, and those are refused to commands.
`

export interface RenderOptions {
  readonly reports: readonly ColumnReport[]
  readonly control?: ReadonlySet<string> | undefined
  /** A document whose cells are kept for columns without a report. */
  readonly before?: string | undefined
}

const controlName = 'plain process'

/** Rules mean nothing to a plain process, and there is no tracer to race with. */
function untriedInControl(attempt: string): boolean {
  const { field, name, fights } = attempts.find((candidate) => candidate.name === attempt) ?? {}
  const ofRules = field === 'readOnlyMounts' || field === 'subtrees' || field === 'deniedSubtrees'
  return ofRules || name === 'survives its command' || (fights === true && field !== 'processes')
}

/** Attempts that may give a plain process of an ordinary user nothing, since the kernel can be in the way. */
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

/** Attempts that must get out of a plain process, on every machine: else they try nothing. */
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

export function renderEscapes({ reports, control, before = '' }: RenderOptions): string {
  const known = parseEscapes(before)
  const cellsOf = (name: string): ((attempt: Attempt) => string) => {
    if (name === controlName && control !== undefined)
      return (attempt) =>
        untriedInControl(attempt.name)
          ? ''
          : cells[outcomeOf(attempt, { guarantees: noGuarantees, reached: control, unfinished: [] })]
    const report = reports.find((candidate) => candidate.name === name && candidate.differs.length === 0)
    if (report !== undefined) return (attempt) => cellOf(attempt, report)
    return (attempt) => known.get(name)?.get(attempt.name) ?? '?'
  }
  const names = [controlName, ...columns.map(({ name }) => name)]
  const told = names.map(cellsOf)
  const head = ['field', 'attempt', ...names]
  const rows = attempts.map(
    (attempt, index): Row => [
      attempts[index - 1]?.field === attempt.field ? '' : `\`${attempt.field}\``,
      attempt.fights === true ? `${attempt.name} *` : attempt.name,
      ...told.map((cell) => cell(attempt)),
    ],
  )
  const lines = [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`)
  return `${title}\n${lines.join('\n')}\n\n${declared(reports, before)}`
}

function declared(reports: readonly ColumnReport[], before: string): string {
  const names = columns.map(({ name }) => name)
  const lines = names.map((name) => {
    const report = reports.find((candidate) => candidate.name === name && candidate.differs.length === 0)
    const old = before.split('\n').find((line) => line.startsWith(`- ${name}: `))
    if (report === undefined) return old ?? `- ${name}: ?`
    return `- ${name}: ${Object.entries(report.guarantees)
      .map(([field, level]) => `${field} \`${level}\``)
      .join(', ')}`
  })
  return `## Declared\n\n${lines.join('\n')}\n`
}

/** The cells of a document: column, attempt, cell. */
export function parseEscapes(text: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(' | '))
  const [head = [], , ...body] = rows
  return new Map(
    head
      .slice(2)
      .map((name, index) => [
        name,
        new Map(body.map((row) => [(row[1] ?? '').replace(/ \*$/, ''), row[index + 2] ?? '?'])),
      ]),
  )
}
