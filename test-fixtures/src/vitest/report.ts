import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { type Tier, tier } from '../tier.ts'

export { mayHold, parseTier, type Tier, tiers } from '../tier.ts'
export { tierAt } from './tier-at.ts'
import type { FileCost } from './cost.ts'

/** The results of one vitest run, for the summary at the end of `npm test`. */
export interface TestReport {
  readonly passed: number
  readonly failures: readonly TestFailure[]
  readonly skipped: number
  /** Tests that did not run because a component of the machine is missing. */
  readonly missing: readonly MissingComponent[]
  readonly files: readonly FileReport[]
  /** The passed tests of each suite of the conformance kit, by its title: `the storage contract: memory`. */
  readonly promises: Readonly<Record<string, number>>
}

export interface FileReport extends FileCost {
  /** Relative to the package. */
  readonly file: string
  /** Seconds from the start of the file's worker to the end of its last test. */
  readonly duration: number
  readonly tests: number
}

/** A test that failed, or a file, a hook or a run that did. */
export interface TestFailure {
  /** The file and the title, as vitest prints them. */
  readonly test: string
  readonly message: string
}

export interface MissingComponent {
  readonly component: string
  readonly reason: string
  readonly tests: number
}

/** The titles of the suites of `@ws/conformance`, whose tests are one promise each, end with the implementation. */
export const kitContracts = [
  'the storage contract',
  'the executor contract',
  'the two doors',
  'one policy at both doors',
  'coherence',
] as const

/** The folder of the package that a test file belongs to: the nearest one with a configuration of vitest. */
export function packageOf(file: string): string {
  let folder = dirname(file)
  while (!existsSync(join(folder, 'vitest.config.ts')) && folder !== dirname(folder)) folder = dirname(folder)
  return folder
}

/** A glob of the folders that can hold a package. */
export const packageFolders = '{packages/*,packages/*/*,apps/*,lab/*}'

/** Where the report of this tier lies, relative to the package. */
export const reportPath = pathOfReport(tier)

/** Where the report of a tier lies. */
export function pathOfReport(of: Tier): string {
  return `.test-report/${of}.json`
}

/** True when a test that is skipped since a component is missing is a failure, as in continuous integration. */
export const requireAll = (): boolean => process.env['WS_REQUIRE_ALL'] === '1'

/** A message may hold a whole difference of two values; the log above has it. */
const shownLines = 30

/** The failures as a block: the last thing of a long log that one reads. */
export function formatFailures(failures: readonly TestFailure[]): string {
  const lines = failures.flatMap(({ test, message }) => {
    const shown = message.split('\n', shownLines).map((line) => `     ${line}`)
    return [`!! ${test}`, ...shown]
  })
  return ['', `!! ${failures.length} FAILED:`, ...lines, ''].join('\n')
}

/** The skips as a block that cannot be overlooked. */
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
