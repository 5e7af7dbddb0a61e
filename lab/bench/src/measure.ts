export interface Way {
  readonly name: string
  readonly run: (count: number) => Promise<unknown>
  /** Runs before each run, untimed. */
  readonly before?: (() => Promise<unknown>) | undefined
}

export interface Comparison {
  readonly name: string
  readonly reference: Way
  readonly ways: readonly Way[]
  readonly count: number
  /** The highest acceptable ratio for the way called {@link own}. */
  readonly target?: number | undefined
  /** Milliseconds after which no new round begins. Default 3,500. */
  readonly budget?: number | undefined
  readonly maxRounds?: number | undefined
}

/** Figures of one way: ratios in comparisons; otherwise microseconds, milliseconds or KB. */
export interface Figures {
  readonly way: string
  readonly median: number
  readonly min: number
  readonly max: number
  readonly samples: number
  /** Microseconds for one repetition of the work: the median. */
  readonly microseconds?: number | undefined
  /** Microseconds of the shortest run. */
  readonly shortest?: number | undefined
  readonly failure?: string | undefined
}

export interface Measurement {
  readonly section: string
  readonly name: string
  /** The base of the figures if they are ratios, otherwise their unit. */
  readonly against: string
  readonly target?: number | undefined
  readonly figures: readonly Figures[]
}

export type Report = (measurement: Measurement) => void

export const own = '@ws'

const leastRounds = 3
const mostRounds = 25
/** A way whose round takes this many milliseconds does not run in every round. */
const patience = 1_500

/** Measures all ways in turn, round by round. Each ratio uses the reference of the same round. */
export async function compare(section: string, comparison: Comparison): Promise<Measurement> {
  const { name, reference, ways, count, target, budget = 3_500, maxRounds = mostRounds } = comparison
  const all = [reference, ...ways]
  const ratios = new Map<Way, number[]>(all.map((way) => [way, []]))
  const times = new Map<Way, number[]>(all.map((way) => [way, []]))
  const failures = new Map<Way, Figures>()
  const slow = new Set<Way>()
  for (const way of all) {
    const took = await attempt(way, Math.max(1, Math.ceil(count / 4)), failures)
    if (took !== undefined && took > patience) slow.add(way)
  }
  const end = performance.now() + budget
  for (let round = 0; round < maxRounds && (round < leastRounds || performance.now() < end); round += 1) {
    const base = await attempt(reference, count, failures)
    if (base === undefined) break
    times.get(reference)?.push(base)
    // The order differs in each round, so that no way always follows a heavy one.
    for (const index of ways.keys()) {
      const way = ways[(index + round) % ways.length]
      if (way === undefined || failures.has(way) || (slow.has(way) && round >= leastRounds)) continue
      const took = await attempt(way, count, failures)
      if (took === undefined) continue
      times.get(way)?.push(took)
      ratios.get(way)?.push(took / base)
    }
  }
  const micros = (milliseconds: number) => (milliseconds * 1_000) / count
  const figures = all.map((way): Figures => {
    const failure = failures.get(way)
    if (failure !== undefined) return failure
    const taken = times.get(way) ?? []
    const values = way === reference ? taken.map(() => 1) : (ratios.get(way) ?? [])
    return { ...summary(way.name, values), microseconds: micros(median(taken)), shortest: micros(Math.min(...taken)) }
  })
  return { section, name, against: reference.name, target, figures }
}

async function attempt(way: Way, count: number, failures: Map<Way, Figures>): Promise<number | undefined> {
  try {
    await way.before?.()
    const start = performance.now()
    await way.run(count)
    return performance.now() - start
  } catch (error) {
    failures.set(way, failed(way.name, error))
    return undefined
  }
}

export function summary(way: string, values: readonly number[]): Figures {
  return { way, median: median(values), min: Math.min(...values), max: Math.max(...values), samples: values.length }
}

export function failed(way: string, error: unknown): Figures {
  const failure = error instanceof Error ? error.message.split('\n', 1).join('') : String(error)
  return { way, median: Number.NaN, min: Number.NaN, max: Number.NaN, samples: 0, failure }
}

export function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN
}

export function repeat(work: (index: number) => Promise<unknown>): Way['run'] {
  return async (count) => {
    for (let index = 0; index < count; index += 1) await work(index)
  }
}

export function together(work: (index: number) => Promise<unknown>): Way['run'] {
  return (count) => Promise.all(Array.from({ length: count }, (_, index) => work(index)))
}

export async function drain(entries: AsyncIterable<unknown>): Promise<number> {
  let count = 0
  for await (const entry of entries) if (entry !== undefined) count += 1
  return count
}
