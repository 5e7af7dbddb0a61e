import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node'

/** What one vitest run leaves behind for `scripts/test-summary.ts`. */
export interface TestReport {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** Tests that did not run because a component of the machine is missing. */
  readonly missing: readonly MissingComponent[]
}

export interface MissingComponent {
  readonly component: string
  readonly reason: string
  readonly tests: number
}

/** Where the report lies, relative to the package. */
export const reportPath = '.test-report/report.json'

/** True when a test that is skipped for want of a component is a failure, as in continuous integration. */
export const requireAll = (): boolean => process.env['WS_REQUIRE_ALL'] === '1'

const note = /⟨needs ([^:⟩]+): (.*?)⟩/su

/** Counts tests, and says loudly which were skipped since a component is missing. */
export class ComponentReporter implements Reporter {
  #path = reportPath

  onInit(vitest: Vitest): void {
    this.#path = join(vitest.config.root, reportPath)
    // a report of an earlier run must not stand for one that crashed
    rmSync(this.#path, { force: true })
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    const broken = modules.filter((module) => module.state() === 'failed' && module.errors().length > 0).length
    const missing = countMissing(tests)
    const report: TestReport = {
      passed: count('passed'),
      failed: count('failed') + broken + errors.length,
      skipped: count('skipped'),
      missing,
    }
    mkdirSync(dirname(this.#path), { recursive: true })
    writeFileSync(this.#path, `${JSON.stringify(report, undefined, 2)}\n`)
    if (missing.length === 0) return
    console.error(formatMissing(missing))
    if (requireAll()) process.exitCode = 1
  }
}

function countMissing(tests: readonly TestCase[]): MissingComponent[] {
  const byComponent = new Map<string, MissingComponent>()
  for (const test of tests) {
    const result = test.result()
    if (result.state !== 'skipped') continue
    const [, component, reason] = note.exec(`${test.fullName} ${result.note ?? ''}`) ?? []
    if (component === undefined || reason === undefined) continue
    const tests = (byComponent.get(component)?.tests ?? 0) + 1
    byComponent.set(component, { component, reason, tests })
  }
  return [...byComponent.values()]
}

/** The skips as a block that cannot be overlooked. */
export function formatMissing(missing: readonly MissingComponent[]): string {
  const lines = missing.map(({ component, reason, tests }) => `!!   ${component}: ${tests} tests (${reason})`)
  const total = missing.reduce((sum, { tests }) => sum + tests, 0)
  const consequence = requireAll() ? 'WS_REQUIRE_ALL=1 makes this a failure.' : 'Install what is missing: npm run setup:system'
  return ['', `!! ${total} TESTS WERE SKIPPED because components of this machine are missing:`, ...lines, `!! ${consequence}`, ''].join('\n')
}
