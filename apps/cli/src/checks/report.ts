import type { Style } from '../terminal/style.ts'
import { renderTable } from '../terminal/table.ts'
import type { Report } from './run.ts'
import type { CheckGroup, CheckResult, CheckTitle, Status } from './types.ts'

const groupTitles: Record<CheckGroup, string> = {
  consistency: 'Both doors see the same files at the same paths',
  tools: 'Real programs work in it',
  policy: 'The policy holds at both doors',
  isolation: 'Nothing outside can be reached, nothing is left behind',
}

/** The table of checks by executor and place, with what is behind every cell that is not `ok`. */
export function renderReport(report: Report, style: Style): string {
  const { results, unavailable, checks } = report
  const columns = [...results, ...unavailable].map(columnOf)
  const shown = [...new Set(columns)].sort()
  const blocks = (Object.keys(groupTitles) as CheckGroup[]).flatMap((group) => {
    const inGroup = checks.filter((check) => check.group === group)
    return inGroup.length === 0 ? [] : [renderGroup(inGroup, shown, report, style)]
  })
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
        ? [`${style.bad('FAILED')}   ${columnOf(result)}: ${result.check.title}\n         ${result.note ?? ''}`]
        : [],
    ),
  ]
}

function renderGroup(
  checks: readonly CheckTitle[],
  columns: readonly string[],
  { results }: Report,
  style: Style,
): string {
  const rows = checks.map(({ id, title, only }) => [
    `  ${title}`,
    ...columns.map((column) => {
      if (only !== undefined && !column.endsWith(`@${only}`)) return cell(undefined, style)
      return cell(results.find((one) => one.check.id === id && columnOf(one) === column)?.status ?? 'missing', style)
    }),
  ])
  const head = columns.map((name) =>
    style.dim(name.replace('@', ' ').replace('bubblewrap', 'bwrap').replace('workspace', 'ws')),
  )
  const [first] = checks
  const title = first === undefined ? '' : style.strong(groupTitles[first.group])
  return renderTable(rows, { head: [title, ...head], widths: [titleWidth, ...columns.map(() => columnWidth)] })
}

const titleWidth = 56
const columnWidth = 9

const columnOf = ({ executor, at, store }: Pick<CheckResult, 'executor' | 'at' | 'store'>): string =>
  `${store ?? executor}@${at}`

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
