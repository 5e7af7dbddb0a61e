import { columns, unavailable } from './columns.ts'
import { misdeclared, unluckyIn } from './judge.ts'
import { type ColumnReport, runControl, runEscapes } from './run.ts'
import { missedByControl, renderEscapes } from './table.ts'

/** `npm run attack -- --escapes`. @returns 1: a declaration does not hold; 2: the control did not get out */
export async function tryEscapes(): Promise<number> {
  const control = await runControl()
  const problems = missedByControl(control).map((name) => `the control did not get out: ${name}`)
  const shown = problems.length === 0
  const reports: ColumnReport[] = []
  for (const column of columns) {
    const reason = unavailable(column)
    if (reason !== undefined) {
      console.error(`${column.name} was not tried: ${reason}`)
      continue
    }
    const report = await runEscapes(column, { raceTime: 5_000 })
    console.error(`${column.name}: ${report.reached.size} got out`)
    for (const name of unluckyIn(report)) console.error(`  not won here, though it may be: ${name}`)
    if (report.differs.length > 0) console.error(`  another machine than meant: here ${report.differs.join(', ')}`)
    problems.push(...misdeclared(report).map((problem) => `${column.name}: ${problem}`))
    reports.push(report)
  }
  console.log(renderEscapes(reports, control))
  for (const problem of problems) console.error(`! ${problem}`)
  return problems.length === 0 ? 0 : shown ? 1 : 2
}
