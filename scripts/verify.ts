// Runs the tests and static checks of one tier: `--tier short` (the default), `all` or `deep`. It skips unchanged packages.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { release } from 'node:os'
import { parseArgs } from 'node:util'

import { component, componentNames } from '@ws/test-fixtures'
import { parseTier, type Tier } from '@ws/test-fixtures/report'

import { hashPackages, keepReport, restoreReport } from './lib/kept-reports.ts'
import { printTestSummary, removeReports, testedPackages } from './lib/reports.ts'
import { repositoryRoot, run } from './lib/run.ts'

const checks: Readonly<Record<Tier, readonly string[]>> = {
  short: ['house:check', 'requirements:check', 'mutate:check'],
  all: ['lint:types', 'pack:check', 'knip'],
  deep: [],
}

const tier = parseTier(parseArgs({ options: { tier: { type: 'string', default: 'short' } } }).values.tier)
const env = {
  ...process.env,
  TURBO_TELEMETRY_DISABLED: '1',
  WS_COMPONENTS: describeMachine(),
  WS_TIER: tier,
}
const turbo = ['run', '--continue', '--output-logs=new-only', '--log-order=grouped']

// Quick checks that often fail come first, so that a mistake shows within half a minute.
const linted = tier !== 'short' || run('turbo', [...turbo, 'lint'], { env }) === 0
const others = checks[tier]
const [tested, checked] = await Promise.all([
  runTests(),
  others.length === 0 || start('turbo', [...turbo, '--concurrency=1', ...others], 'at its end'),
])
const passed = printTestSummary(tier)
if (!linted) console.log('failed: the lint, printed at the start')
if (!checked) console.log(`failed: one of ${others.join(', ')}, printed above the summary of the tests`)
process.exitCode = linted && tested && checked && passed ? 0 : 1

async function runTests(): Promise<boolean> {
  removeReports(tier)
  const packages = hashPackages(testedPackages(tier), env)
  const changed = packages.filter((one) => !restoreReport(one, tier))
  console.log(`tests of ${changed.length} packages; those of ${packages.length - changed.length} passed as they are`)
  if (changed.length === 0) return true
  const ok = await start('vitest', ['run', ...changed.map(({ of }) => `${of}/`)], 'as it comes')
  for (const one of changed) keepReport(one, tier)
  return ok
}

/** Runs a program. True if its exit code is 0. The output of parallel programs must not mix. */
async function start(program: string, args: readonly string[], print: 'as it comes' | 'at its end'): Promise<boolean> {
  const output = print === 'as it comes' ? 'inherit' : 'pipe'
  const child = spawn(program, args, { cwd: repositoryRoot, env, stdio: ['ignore', output, output] })
  const printed: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => printed.push(chunk))
  const [exitCode, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  process.stdout.write(Buffer.concat(printed))
  if (signal !== null) console.log(`failed: ${program} was ended by ${signal}`)
  return exitCode === 0
}

/** Components, kernel and user on which a kept test result depends, besides the files. */
function describeMachine(): string {
  const available = componentNames.filter((name) => component(name).available)
  return [release(), `uid ${process.getuid?.() ?? 'unknown'}`, ...available].join(' ')
}
