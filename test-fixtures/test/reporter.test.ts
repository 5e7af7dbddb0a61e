import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { describe, expect, it } from 'vitest'

import { reportPath } from '../src/vitest/report.ts'

const sample = join(import.meta.dirname, 'skipping')
const vitest = resolve(import.meta.dirname, '../node_modules/.bin/vitest')

function runSample(requireAll: boolean): { exitCode: number | null; stderr: string } {
  const env = { ...process.env, WS_REQUIRE_ALL: requireAll ? '1' : '', NO_COLOR: '1' }
  const { status, stderr } = spawnSync(vitest, ['run', '--root', sample], { env, encoding: 'utf8' })
  return { exitCode: status, stderr }
}

describe('tests that need a missing component', () => {
  it('are skipped, counted and named at the end of the run', () => {
    const { exitCode, stderr } = runSample(false)
    expect(exitCode).toBe(0)
    expect(stderr).toContain('!! 2 TESTS WERE SKIPPED')
    expect(stderr).toContain('proot: 2 tests (proot: not here)')
    const missing = [{ component: 'proot', reason: 'proot: not here', tests: 2 }]
    const report: unknown = JSON.parse(readFileSync(join(sample, reportPath), 'utf8'))
    expect(report).toEqual({ passed: 1, failed: 0, skipped: 2, missing })
  })

  it('fail the run where everything is required', () => {
    expect(runSample(true).exitCode).toBe(1)
  })
})
