// Runs every check of the repository; with --deep, the tests of the deep tier alone.
import { globSync, rmSync } from 'node:fs'
import { release } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { component, componentNames } from '@ws/test-fixtures'
import { pathOfReport } from '@ws/test-fixtures/report'

import { printTestSummary } from './lib/reports.ts'
import { repositoryRoot, run } from './lib/run.ts'

const { values } = parseArgs({ options: { deep: { type: 'boolean', default: false } } })

/** One after the other. The quick and likely failures come first, so that a mistake shows within half a minute. */
const phases = values.deep
  ? [['test']]
  : [
      ['lint', '@ws/core#test'],
      ['test', 'pack:check', 'knip', 'boundaries', 'requirements:check', 'mutate:check'],
    ]

for (const report of globSync(`{{packages,apps}/*,test-fixtures}/${pathOfReport(values.deep)}`, {
  cwd: repositoryRoot,
})) {
  rmSync(resolve(repositoryRoot, report))
}

const env = {
  ...process.env,
  TURBO_TELEMETRY_DISABLED: '1',
  WS_COMPONENTS: describeMachine(),
  ...(values.deep ? { WS_DEEP: '1' } : {}),
}
const passed = phases.map((tasks) => runTasks(tasks)).every(Boolean)
const testsPassed = printTestSummary({ deep: values.deep })
process.exitCode = passed && testsPassed ? 0 : 1

/** `--continue`: one failing check must not hide what the others would have said. */
function runTasks(tasks: readonly string[]): boolean {
  return run('turbo', ['run', ...tasks, '--continue', '--output-logs=new-only', '--log-order=grouped'], { env }) === 0
}

/**
 * The parts of the machine that a cached test result depends on, beside the files. The same tests pass, fail or are
 * skipped with its components, its kernel and the user.
 */
function describeMachine(): string {
  const available = componentNames.filter((name) => component(name).available)
  return [release(), `uid ${process.getuid?.() ?? 'unknown'}`, ...available].join(' ')
}
