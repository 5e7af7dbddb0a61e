import { setTimeout as delay } from 'node:timers/promises'

import { failed, type Figures, type Measurement } from '../measure.ts'
import type { Program } from './programs.ts'
import type { Runner } from './runners.ts'

/** Times of one runner in milliseconds, a value for each round. */
interface Times {
  /** Times of `true`: the start and end of the sandbox. */
  readonly starts: number[]
  readonly wholes: number[]
  failure?: Figures
}

export interface Conditions {
  readonly place: string
  readonly plain: Runner
  readonly runners: readonly Runner[]
  /** Milliseconds for which the kernel trusts its knowledge of a file. Each run waits this long before. */
  readonly maxStaleness: number
  readonly settle?: (() => Promise<unknown>) | undefined
}

const leastRounds = 3
const mostRounds = 9
/** Milliseconds after which no new round begins. */
const budget = 20_000
/** A program that takes this many milliseconds is not repeated in every round. */
const patience = 1_000

let runs = 0

/** Measures all runners in turn, round by round. In each round, a runner's start is measured right before its program. */
export async function measureProgram(program: Program, conditions: Conditions): Promise<Measurement> {
  const { plain, runners, place } = conditions
  const able = runners.filter(({ name }) => program.virtual === true || !name.startsWith('virtual'))
  const all = [plain, ...able]
  const times = new Map(all.map((runner): [Runner, Times] => [runner, { starts: [], wholes: [] }]))
  const end = performance.now() + budget
  for (let round = 0; round < mostRounds && (round < leastRounds || performance.now() < end); round += 1) {
    for (const index of all.keys()) {
      // The order differs in each round, so that no runner always follows a heavy one.
      const runner = all[(index + round) % all.length]
      const taken = runner === undefined ? undefined : times.get(runner)
      if (runner === undefined || taken === undefined || taken.failure !== undefined) continue
      if (round >= leastRounds && runner !== plain && least(taken.wholes) > patience) continue
      try {
        const number = (runs += 1)
        if (program.before !== undefined) await plain.run(program.before(number))
        await conditions.settle?.()
        await delay(conditions.maxStaleness)
        taken.starts.push(await timed(() => runner.run('true')))
        taken.wholes.push(await timed(() => runner.run(program.command(number))))
      } catch (error) {
        taken.failure = failed(runner.name, error)
      }
    }
  }
  const base = times.get(plain) ?? { starts: [], wholes: [] }
  const figures = all.map((runner) => figuresOf(runner.name, times.get(runner) ?? base, base))
  const name = `${program.name}; ${place}`
  return { section: 'programs', name, against: plain.name, figures }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

const least = (values: readonly number[]): number => Math.min(...values)
const net = ({ starts, wholes }: Times): number => least(wholes) - least(starts)

/** The ratio of the shortest times without the starts, and the smallest and largest ratio of a round. */
function figuresOf(way: string, own: Times, base: Times): Figures {
  const { failure, starts, wholes } = own
  if (failure !== undefined) return failure
  const ratios = wholes.map((whole, round) => (whole - (starts[round] ?? 0)) / roundOf(base, round))
  const [min, max] = [least(ratios), Math.max(...ratios)]
  return { way, median: net(own) / net(base), min, max, samples: wholes.length, microseconds: net(own) * 1_000 }
}

function roundOf({ starts, wholes }: Times, round: number): number {
  return (wholes[round] ?? Number.NaN) - (starts[round] ?? Number.NaN)
}
