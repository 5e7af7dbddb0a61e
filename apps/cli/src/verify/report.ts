import type { Style } from '../terminal/style.ts'
import { renderTable } from '../terminal/table.ts'
import type { CheckResult, Report, Status } from './types.ts'

/** A table of checks by executor and place. Adds notes on cells other than `ok`. */
export function renderReport(report: Report, style: Style): string {
  const { results, unavailable } = report
  const columns = [...results, ...unavailable].map(columnOf)
  const shown = [...new Set(columns)].sort()
  const groups = [...new Set(results.map(({ check }) => check.group))]
  const blocks = groups.map((group) => renderGroup(group, shown, report, style))
  const notes = notesOf(report, style)
  return [...blocks, ...(notes.length === 0 ? [] : [notes.join('\n')]), summary(report, style)].join('\n\n')
}

function notesOf({ results, unavailable, roots }: Report, style: Style): string[] {
  const skipped = new Set(results.flatMap(({ status, note = '' }) => (status === 'skipped' ? [note] : [])))
  const stores = new Map(results.flatMap(({ store, executor }) => (store === undefined ? [] : [[store, executor]])))
  return [
    ...[...stores].map(([store, executor]) => style.dim(`${store}  over a bucket, with ${executor}`)),
    ...roots.map(({ executor, at, form }) => style.dim(`root     ${executor} at ${at}: ${form}`)),
    ...unavailable.map(
      ({ executor, at, missing, howToFix }) =>
        `${style.note('missing')}  ${executor} at ${at}: ${[...missing, ...howToFix].join('; ') || 'not available'}`,
    ),
    ...[...skipped].map((note) => `${style.note('skipped')}  ${note}`),
    ...results.flatMap((result) =>
      result.status === 'failed'
        ? [`${style.bad('FAILED')}   ${columnOf(result)}: ${nameOf(result)}\n         ${result.note ?? ''}`]
        : [],
    ),
  ]
}

function renderGroup(
  group: string,
  columns: readonly string[],
  { results, unavailable }: Report,
  style: Style,
): string {
  const inGroup = results.filter(({ check }) => check.group === group)
  const missing = new Set(unavailable.map(columnOf))
  const rows = [...new Set(inGroup.map(rowOf))].map((row) => [
    row,
    ...columns.map((column) => {
      const statuses = inGroup
        .filter((one) => rowOf(one) === row && columnOf(one) === column)
        .map(({ status }) => status)
      const worst = order.find((status) => statuses.includes(status))
      return cell(worst ?? (missing.has(column) ? 'missing' : undefined), style)
    }),
  ])
  const head = columns.map((name) =>
    style.dim(name.replace('@', ' ').replace('bubblewrap', 'bwrap').replace('workspace', 'ws')),
  )
  const title = style.strong(group.charAt(0).toUpperCase() + group.slice(1))
  return renderTable(rows, {
    head: [title, ...head],
    widths: [titleWidth(columns.length, style), ...columns.map(() => columnWidth)],
  })
}

const columnWidth = 9
const gap = 2
/** The width of titles, which take the rest of the screen. */
const titleWidth = (columns: number, { width }: Style): number =>
  Math.min(56, Math.max(24, width - columns * (columnWidth + gap)))

const columnOf = ({ executor, at, store }: Pick<CheckResult, 'executor' | 'at' | 'store'>): string =>
  `${store ?? executor}@${at}`

/** The row of a test. Tests with the same title share a row. */
const rowOf = ({ check }: CheckResult): string => check.title.split(' › ', 1)[0] ?? ''

/** Statuses, the most important first. A row shows the first status that one of its tests has. */
const order: readonly Status[] = ['failed', 'view', 'refused', 'ok', 'skipped']

const nameOf = ({ check }: CheckResult): string => `${check.group}: ${check.title}`

function cell(status: Status | 'missing' | undefined, style: Style): string {
  switch (status) {
    case 'ok':
      return style.good('ok')
    case 'refused':
      return style.note('refused')
    case 'view':
      return style.note('view')
    case 'skipped':
      return style.note('skipped')
    case 'failed':
      return style.bad('FAILED')
    case 'missing':
      return style.note('missing')
    case undefined:
      return style.dim('-')
  }
}

function summary({ results, unavailable }: Report, style: Style): string {
  const count = (status: Status) => results.filter((result) => result.status === status).length
  const parts = [
    style.good(`${count('ok')} ok`),
    ...(count('refused') > 0 ? [style.note(`${count('refused')} refused as declared (a correct refusal passes)`)] : []),
    ...(count('view') > 0 ? [style.note(`${count('view')} declared as a view, not a boundary`)] : []),
    ...(count('skipped') > 0 ? [style.note(`${count('skipped')} skipped`)] : []),
    ...(unavailable.length > 0 ? [style.note(`${unavailable.length} of the columns cannot run here`)] : []),
    ...(count('failed') > 0 ? [style.bad(`${count('failed')} FAILED`)] : []),
  ]
  return parts.join(', ')
}

export const hasFailed = ({ results }: Report): boolean => results.some(({ status }) => status === 'failed')
