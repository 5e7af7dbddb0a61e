import type { TestReport } from '@ws/test-fixtures/report'

export interface PackageReport {
  readonly of: string
  readonly report: TestReport
}

const shown = 10

/** The costs of a run: the packages, the ten slowest files, and the number of programs that the tests started. */
export function formatCosts(packages: readonly PackageReport[]): string {
  const files = packages.flatMap(({ of, report }) =>
    report.files.map((file) => ({ ...file, name: `${of}/${file.file}` })),
  )
  const total = (key: 'processor' | 'programs' | 'sandboxes' | 'servers') =>
    files.reduce((sum, file) => sum + file[key], 0)
  const runs = packages.map(({ of, report }) => ({
    name: of,
    processor: report.files.reduce((sum, { processor: used }) => sum + used, 0),
    duration: report.files.reduce((sum, { duration }) => sum + duration, 0),
    starts: report.files.reduce((sum, { programs }) => sum + programs, 0),
  }))
  return [
    '',
    ...table(`seconds of processor time, each package (sum ${total('processor').toFixed(0)} s)`, runs),
    '',
    ...table(
      `the ${shown} slowest files`,
      files
        .toSorted((a, b) => b.duration - a.duration)
        .slice(0, shown)
        .map(({ name, processor: used, duration, programs }) => ({
          name,
          processor: used,
          duration,
          starts: programs,
        })),
    ),
    '',
    `started by tests: ${total('programs')} programs, ${total('sandboxes')} of them sandboxes, ${total('servers')} servers`,
    '',
  ].join('\n')
}

interface Row {
  readonly name: string
  /** Seconds of processor time. */
  readonly processor: number
  /** Seconds, summed over files that ran in parallel. */
  readonly duration: number
  readonly starts: number
}

/** Formats a table of costs. Waiting time is for events, for programs, and for a busy processor. */
function table(title: string, rows: readonly Row[]): string[] {
  const line = (cells: readonly string[], name: string) => `${cells.map((cell) => cell.padStart(10)).join('')}  ${name}`
  return [
    title,
    line(['processor', 'duration', 'waiting', 'starts'], ''),
    ...rows
      .toSorted((a, b) => b.processor - a.processor)
      .map(({ name, processor, duration, starts }) => {
        const waiting = duration === 0 ? 0 : Math.max(0, 1 - processor / duration)
        const cells = [processor.toFixed(1), duration.toFixed(1), `${(waiting * 100).toFixed(0)} %`, String(starts)]
        return line(cells, name)
      }),
  ]
}
