import { globSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

import {
  formatFailures,
  formatMissing,
  mayHold,
  packageFolders,
  pathOfReport,
  requireAll,
  type MissingComponent,
  type TestFailure,
  type TestReport,
  type Tier,
} from '@ws/test-fixtures/report'

import { formatCosts, type PackageReport } from './costs.ts'
import { repositoryRoot } from './run.ts'

const testedFolders = [packageFolders, 'test-fixtures']

export function testedPackages(tier: Tier): string[] {
  const configurations = testedFolders.map((pattern) => `${pattern}/vitest.config.ts`)
  return globSync(configurations, { cwd: repositoryRoot })
    .map((path) => dirname(path))
    .filter((of) => {
      const files = globSync(`${of}/test/**/*.test.ts`, { cwd: repositoryRoot })
      return files.some((file) => mayHold(tier, readFileSync(join(repositoryRoot, file), 'utf8')))
    })
}

/** Removes reports: an earlier report must not count for a run that did not finish. */
export function removeReports(tier: Tier): void {
  for (const of of testedPackages(tier)) rmSync(join(repositoryRoot, of, pathOfReport(tier)), { force: true })
}

/** Prints the sums of all packages' test runs. False if a test failed or a package left no report. */
export function printTestSummary(tier: Tier): boolean {
  const packages: PackageReport[] = []
  const failures: TestFailure[] = []
  for (const of of testedPackages(tier)) {
    const report = readReport(of, tier)
    if (report === undefined) failures.push({ test: of, message: 'There is no report: the run did not reach its end.' })
    else {
      packages.push({ of, report })
      failures.push(...report.failures.map(({ test, message }) => ({ test: `${of}/${test}`, message })))
    }
  }
  const reports = packages.map(({ report }) => report)
  const sum = (count: (report: TestReport) => number) => reports.reduce((total, report) => total + count(report), 0)
  const skipped = sum((report) => report.skipped)
  const missing = mergeMissing(reports.flatMap((report) => report.missing))
  const notRun = requireAll() ? missing.reduce((total, { tests }) => total + tests, 0) : 0
  const failed = failures.length + notRun

  console.log(formatCosts(packages))
  if (missing.length > 0) console.error(formatMissing(missing))
  if (failures.length > 0) console.error(formatFailures(failures))
  console.log(`tests: ${sum((report) => report.passed)} passed, ${failed} failed, ${skipped} skipped`)
  return failed === 0
}

export function readReport(of: string, tier: Tier): TestReport | undefined {
  try {
    return JSON.parse(readFileSync(join(repositoryRoot, of, pathOfReport(tier)), 'utf8')) as TestReport
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
