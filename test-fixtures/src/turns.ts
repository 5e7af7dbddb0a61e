/** Measures the longest processor time in milliseconds without a turn for other work. */
export interface Turns {
  longest(): number
  stop(): void
}

/** Watches turns of the event loop in processor time. On a busy machine, wall time is meaningless. */
export function watchTurns(): Turns {
  let longest = 0
  let last = process.threadCpuUsage()
  let immediate: NodeJS.Immediate
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(last)
    longest = Math.max(longest, (user + system) / 1000)
    last = process.threadCpuUsage()
    immediate = setImmediate(look)
  }
  immediate = setImmediate(look)
  return { longest: () => longest, stop: () => clearImmediate(immediate) }
}

/** Milliseconds of a turn that barely delays other work. */
const shortTurn = 15
const mostRounds = 8

/**
 * The longest turn during the work. The work repeats up to eight times until turns are short, and the least value counts:
 * garbage collection and other load add processor time. A real excess appears in each round.
 */
export async function longestTurn<Result>(work: () => Promise<Result>): Promise<{ result: Result; longest: number }> {
  const first = await measure(work)
  let { longest } = first
  for (let round = 1; round < mostRounds && longest > shortTurn; round++)
    longest = Math.min(longest, (await measure(work)).longest)
  return { result: first.result, longest }
}

async function measure<Result>(work: () => Promise<Result>): Promise<{ result: Result; longest: number }> {
  const turns = watchTurns()
  try {
    const result = await work()
    // The turn in which the work ended counts too.
    await new Promise((resolve) => setImmediate(resolve))
    return { result, longest: turns.longest() }
  } finally {
    turns.stop()
  }
}

/** Milliseconds of processor time of an action in this thread: the least of five runs. */
export function processorTimeOf(action: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const started = process.threadCpuUsage()
    action()
    const { user, system } = process.threadCpuUsage(started)
    return (user + system) / 1000
  })
  return Math.min(...times)
}
