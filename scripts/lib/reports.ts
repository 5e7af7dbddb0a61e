import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { formatMissing, reportPath, requireAll, type MissingComponent, type TestReport } from '@ws/test-fixtures/report'

import { repositoryRoot } from './run.ts'

const testedFolders = ['{packages,apps}/*', 'test-fixtures']

/** Prints what all packages' test runs add up to; answers false when a test failed or a package left no report. */
export function printTestSummary(): boolean {
  const reports: TestReport[] = []
  let unreported = 0
  for (const folder of globSync(
    testedFolders.map((pattern) => `${pattern}/vitest.config.ts`),
    { cwd: repositoryRoot },
  )) {
    const report = readReport(join(repositoryRoot, dirname(folder), reportPath))
    if (report !== undefined) reports.push(report)
    else {
      unreported += 1
      console.error(`!! The tests of ${dirname(folder)} did not run to their end: there is no report of them.`)
    }
  }
  const sum = (count: (report: TestReport) => number) => reports.reduce((total, report) => total + count(report), 0)
  const skipped = sum((report) => report.skipped)
  const missing = mergeMissing(reports.flatMap((report) => report.missing))
  const notRun = requireAll() ? missing.reduce((total, { tests }) => total + tests, 0) : 0
  const failed = sum((report) => report.failed) + unreported + notRun

  if (missing.length > 0) console.error(formatMissing(missing))
  console.log(`tests: ${sum((report) => report.passed)} passed, ${failed} failed, ${skipped} skipped`)
  return failed === 0
}

function readReport(path: string): TestReport | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as TestReport
  } catch {
    return undefined
  }
}

function mergeMissing(all: readonly MissingComponent[]): MissingComponent[] {
  const merged = new Map<string, MissingComponent>()
  for (const entry of all) {
    const tests = (merged.get(entry.component)?.tests ?? 0) + entry.tests
    merged.set(entry.component, { ...entry, tests })
  }
  return [...merged.values()]
}
