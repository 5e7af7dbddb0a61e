import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { type Tier, tier } from '../tier.ts'

export { mayHold, parseTier, type Tier, tiers } from '../tier.ts'
export { tierAt } from './tier-at.ts'
import type { FileCost } from './cost.ts'

/** One vitest run's results for the summary of `npm test`. */
export interface TestReport {
  readonly passed: number
  readonly failures: readonly TestFailure[]
  readonly skipped: number
  /** Tests that were skipped for a missing component. */
  readonly missing: readonly MissingComponent[]
  readonly files: readonly FileReport[]
  /** Passed tests of each suite of the conformance kit, by title: `the storage contract: memory`. */
  readonly promises: Readonly<Record<string, number>>
}

export interface FileReport extends FileCost {
  /** Relative to the package. */
  readonly file: string
  /** Seconds from the start of the file's worker to the end of its last test. */
  readonly duration: number
  readonly tests: number
}

/** A failed test, or a failure of a file, a hook or a run. */
export interface TestFailure {
  readonly test: string
  readonly message: string
}

export interface MissingComponent {
  readonly component: string
  readonly reason: string
  readonly tests: number
}

/** Suite titles of `@ws/conformance`. The implementation's name follows the title. */
export const kitContracts = [
  'the storage contract',
  'the executor contract',
  'the two doors',
  'one policy at both doors',
  'coherence',
] as const

/** The nearest folder with a vitest configuration. */
export function packageOf(file: string): string {
  let folder = dirname(file)
  while (!existsSync(join(folder, 'vitest.config.ts')) && folder !== dirname(folder)) folder = dirname(folder)
  return folder
}

export const packageFolders = '{packages/*,packages/*/*,apps/*,lab/*}'

/** The path of this tier's report, relative to the package. */
export const reportPath = pathOfReport(tier)

export function pathOfReport(of: Tier): string {
  return `.test-report/${of}.json`
}

/** Whether a skip for a missing component is a failure, as in continuous integration. */
export const requireAll = (): boolean => process.env['WS_REQUIRE_ALL'] === '1'

/** Limit of lines shown for each failure. The log above contains the full message. */
const shownLines = 30

/** Failures, at the end of a long log. */
export function formatFailures(failures: readonly TestFailure[]): string {
  const lines = failures.flatMap(({ test, message }) => {
    const shown = message.split('\n', shownLines).map((line) => `     ${line}`)
    return [`!! ${test}`, ...shown]
  })
  return ['', `!! ${failures.length} FAILED:`, ...lines, ''].join('\n')
}

/** Formats the skips as a prominent block. */
export function formatMissing(missing: readonly MissingComponent[]): string {
  const total = missing.reduce((sum, { tests }) => sum + tests, 0)
  return [
    '',
    `!! ${total} TESTS WERE SKIPPED because components of this machine are missing:`,
    ...missing.map(({ component, reason, tests }) => `!!   ${component}: ${tests} tests (${reason})`),
    `!! ${requireAll() ? 'WS_REQUIRE_ALL=1 makes this a failure.' : `Install what is missing: npm run ${tier === 'short' ? 'setup:system' : 'setup:all'}`}`,
    '',
  ].join('\n')
}
