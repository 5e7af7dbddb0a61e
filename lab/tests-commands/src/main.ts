import { parseArgs } from 'node:util'

import { component } from '@ws/test-fixtures'

import { runControls } from './controls.ts'
import { leaksIn, sumCounts } from './counts.ts'
import { tryEscapes } from './escapes/command.ts'
import { runRace } from './race.ts'
import { raceNames } from './racer.ts'
import { describeControls, describeRace, describeShared, describeStarts } from './report.ts'
import { runShared, sharedScenes } from './shared/run.ts'
import { runStarts, startedIn } from './starts.ts'

const usage = `npm run attack -- [options]
  --seconds N      seconds of each race, and of starting commands (default 10, or no limit with --operations)
  --operations N   operations under each race
  --starts N       commands that start while the sources of their binds are exchanged
  --race NAME      only this one: ${raceNames.join(', ')}
  --shared         only workspaces that share a directory and have different rules
  --seed S         which operations and pauses (default 1)
  --escapes        only try to get out of commands, and print the table of outcomes
Exit code 1 after any leak, 2 where the race could not be shown to be one, 3 for wrong options.`

function wholeNumber(name: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  const value = Number(given)
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new Error(`--${name} must be a whole number`)
}

function readOptions() {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const { values } = parseArgs({
    options: {
      ...{ seconds: text, operations: text, starts: text, race: text, seed: text },
      ...{ escapes: flag, shared: flag, help: flag },
    },
  })
  const races = raceNames.filter((name) => values.race === undefined || values.race === name)
  if (races.length === 0) throw new Error(`--race must be one of ${raceNames.join(', ')}`)
  const operations = wholeNumber('operations', values.operations)
  const starts = wholeNumber('starts', values.starts)
  const seconds = wholeNumber('seconds', values.seconds)
  return {
    ...{ ...values, races, operations, starts },
    seed: wholeNumber('seed', values.seed) ?? 1,
    duration: (seconds ?? (operations === undefined ? 10 : Infinity)) * 1_000,
  }
}

async function main(): Promise<number> {
  const options = readOptions()
  if (options.help === true) {
    console.log(usage)
    return 0
  }
  if (options.escapes === true) return await tryEscapes()
  if (options.shared === true) return await shareDirectories(options)
  const perl = component('perl')
  if (!perl.available) throw new Error(`the other process of the races is written in perl: ${perl.reason}`)
  const { seed, operations, duration } = options
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  const { signal } = stop
  let [leaks, shown] = [0, true]

  console.log(`seed ${seed}`)
  for (const race of options.races) {
    const controls = await runControls({ race, seed, operations: 1_000 })
    console.log(describeControls(race, controls))
    shown &&= controls.some(({ leaked }) => leaked > 0)
    const report = await runRace({ race, seed, operations, duration, signal })
    console.log(describeRace(report))
    leaks += leaksIn(sumCounts(report.counts.values()))
  }
  for (const executor of startedIn) {
    const needed = component(executor === 'bubblewrap' ? 'bubblewrap' : 'landlock')
    if (!needed.available) {
      console.log(`no commands were started in ${executor}: ${needed.reason}`)
      continue
    }
    const report = await runStarts({ executor, seed, starts: options.starts ?? 200, duration, signal })
    console.log(describeStarts(executor, report))
    leaks += report.cheated + report.untyped
  }
  leaks += await shareDirectories(options)
  console.log(leaks === 0 ? 'nothing leaked' : `LEAKED: ${leaks}`)
  if (!shown) console.log('the controls did not leak: this run shows nothing')
  return leaks > 0 ? 1 : shown ? 0 : 2
}

/** Returns the number of scenes that changed an outside entry, or failed without a typed error. */
async function shareDirectories({ seed, duration }: { seed: number; duration: number }): Promise<number> {
  const needed = component('bubblewrap')
  if (!needed.available) {
    console.log(`no workspaces shared a directory: ${needed.reason}`)
    return 0
  }
  let failed = 0
  for (const scene of sharedScenes()) {
    const report = await runShared(scene, { seed, duration: Number.isFinite(duration) ? duration : 10_000 })
    console.log(describeShared(report))
    if (report.changes > 0 || report.untyped.length > 0) failed += 1
  }
  return failed
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 3
}
