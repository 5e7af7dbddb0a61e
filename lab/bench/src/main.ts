// `npm run bench -- [section…]` prints one table and writes bench-results/*.json. `pages` writes docs/speed.md too.
import { fork } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'

import { type Measurement, own } from './measure.ts'
import { pageSections, writePages } from './pages.ts'
import { sectionLimits, sections } from './sections.ts'
import { table } from './table.ts'

/** Milliseconds for a section without its own limit. Measurements until then count. */
const usualLimit = 300_000
const given = process.argv.slice(2)
const asked = given[0] === 'pages' ? pageSections : given
const results = join(import.meta.dirname, '../../../bench-results')

const model = cpus()[0]?.model
const machine = { node: process.version, processors: availableParallelism(), model, memoryBytes: totalmem() }

const measurements: Measurement[] = []
for (const name of asked.length > 0 ? asked : Object.keys(sections)) {
  const start = performance.now()
  const load = loadavg()[0] ?? 0
  const { measured, failure } = await measureSection(name)
  measurements.push(...measured)
  const seconds = ((performance.now() - start) / 1_000).toFixed(0)
  console.log(`${name}: ${measured.length} measurements in ${seconds} s${failure === undefined ? '' : ` (${failure})`}`)
  mkdirSync(results, { recursive: true })
  const report = { section: name, time: new Date().toISOString(), machine, load, failure, measured }
  writeFileSync(join(results, `${name.replaceAll(' ', '-')}.json`), `${JSON.stringify(report, undefined, 2)}\n`)
  if (failure !== undefined) process.exitCode = 1
}
console.log(table(measurements))
if (asked === pageSections && (loadavg()[1] ?? 0) <= 2 * availableParallelism()) writePages(measurements)
else if (asked === pageSections) console.log('docs/speed.md is not changed: the machine was busy with other work.')
console.log(
  `${own}: through the whole workspace, with five rules and an audit listener. Figures: median (minimum–maximum) of ratios` +
    ` to the reference in the same round; without a reference, in the unit given. Load before the last section: ${(loadavg()[0] ?? 0).toFixed(1)}.`,
)

interface Outcome {
  readonly measured: readonly Measurement[]
  readonly failure?: string | undefined
}

function measureSection(name: string): Promise<Outcome> {
  const measured: Measurement[] = []
  const limit = sectionLimits[name] ?? usualLimit
  const execArgv = ['--expose-gc', '--conditions=@ws/source']
  const child = fork(join(import.meta.dirname, 'section.ts'), [name], { execArgv })
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), limit)
    child.on('message', (message) => measured.push(message as Measurement))
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (code === 0) resolve({ measured })
      else resolve({ measured, failure: signal === null ? `ended with ${code}` : `ended after ${limit / 1_000} s` })
    })
  })
}
