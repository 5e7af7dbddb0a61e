// Runs every check of the repository; with --deep, only the tests, with their large counts and without the cache.
import { globSync, rmSync } from 'node:fs'
import { release } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { component, componentNames } from '@ws/test-fixtures'
import { reportPath } from '@ws/test-fixtures/report'

import { printTestSummary } from './lib/reports.ts'
import { repositoryRoot, run } from './lib/run.ts'

const { values } = parseArgs({ options: { deep: { type: 'boolean', default: false } } })

const checks = ['build', 'typecheck', 'lint', 'test', 'boundaries', 'knip', 'requirements:check', 'mutate:check']
const tasks = values.deep ? ['test'] : checks

for (const report of globSync(`{{packages,apps}/*,test-fixtures}/${reportPath}`, { cwd: repositoryRoot })) {
  rmSync(resolve(repositoryRoot, report))
}

const env = {
  ...process.env,
  TURBO_TELEMETRY_DISABLED: '1',
  WS_COMPONENTS: describeMachine(),
  ...(values.deep ? { WS_DEEP: '1' } : {}),
}
// --continue: one failing check must not hide what the others would have said
const turbo = [
  'run',
  ...tasks,
  '--continue',
  '--output-logs=new-only',
  '--log-order=grouped',
  ...(values.deep ? ['--force'] : []),
]
const exitCode = run('turbo', turbo, { env })
// packing builds anew into the same dist folders, so nothing may run beside it
const packed = values.deep || run('node', ['scripts/check-packages.ts']) === 0
const testsPassed = printTestSummary()
process.exitCode = exitCode === 0 && packed && testsPassed ? 0 : 1

/**
 * The parts of the machine that a cached test result depends on, beside the files. The same tests pass, fail or are
 * skipped with its components, its kernel and the user.
 */
function describeMachine(): string {
  const available = componentNames.filter((name) => component(name).available)
  return [release(), `uid ${process.getuid?.() ?? 'unknown'}`, ...available].join(' ')
}
