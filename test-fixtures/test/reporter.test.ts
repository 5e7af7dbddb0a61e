import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { describe, expect, it } from 'vitest'

import { component, describeWith } from '../src/index.ts'

import { formatFailures, pathOfReport, type TestReport } from '../src/vitest/report.ts'

const samples = join(import.meta.dirname, 'runs')
const vitest = resolve(import.meta.dirname, '../node_modules/.bin/vitest')

function runSample(name: string, requireAll = false): { exitCode: number | null; stderr: string; report: TestReport } {
  const env = {
    ...process.env,
    WS_REQUIRE_ALL: requireAll ? '1' : '',
    NO_COLOR: '1',
    WS_COMPONENTS: undefined,
    WS_TIER: undefined,
  }
  const { status, stderr } = spawnSync(vitest, ['run', '--root', samples, name], { env, encoding: 'utf8' })
  const report = JSON.parse(readFileSync(join(samples, pathOfReport('short')), 'utf8')) as TestReport
  return { exitCode: status, stderr, report }
}

describe('tests that need a missing component', () => {
  it('are skipped, counted and named at the end of the run', () => {
    const { exitCode, stderr, report } = runSample('missing')
    expect(exitCode).toBe(0)
    expect(stderr).toContain('!! 2 TESTS WERE SKIPPED')
    expect(stderr).toContain('proot: 2 tests (proot: not here)')
    const missing = [{ component: 'proot', reason: 'proot: not here', tests: 2 }]
    expect(report).toMatchObject({ passed: 1, failures: [], skipped: 2, missing })
  })

  it('fail the run where everything is required', () => {
    expect(runSample('missing', true).exitCode).toBe(1)
  })
})

describeWith([component('perl'), component('fuse')], 'mounts that a test leaves', () => {
  it.runIf(process.getuid?.() === 0)('are gone before its files are removed', () => {
    expect(runSample('mounted').exitCode).toBe(0)
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain('/left\\040behind')
  })
})

describe('failures', () => {
  it('of tests and hooks are reported with their file, their title and the first message', () => {
    const { exitCode, report } = runSample('failing')
    expect(exitCode).toBe(1)
    const failures = [
      { test: 'failing.sample.ts > a group', message: 'the hook does not work' },
      { test: 'failing.sample.ts > fails', message: expect.stringContaining('one is not two') as string },
    ]
    expect(report.failures).toEqual(failures)
  })

  it('are told in a block, each message cut', () => {
    const text = formatFailures([{ test: 'a.test.ts > fails', message: 'line\n'.repeat(100) }])
    expect(text).toMatch(/^\n!! 1 FAILED:\n!! a\.test\.ts > fails\n {5}line\n/u)
    expect(text.split('\n').length).toBeLessThan(40)
  })
})
