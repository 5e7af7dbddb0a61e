/** The longest time, in milliseconds of this thread's processor time, without a turn for other work. */
export interface Turns {
  longest(): number
  stop(): void
}

/** Watches turns of the event loop, in processor time: wall time on a busy machine says nothing about the work. */
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

/** Milliseconds below which a turn is short: other work would hardly notice it. */
const shortTurn = 15
const mostRounds = 8

/**
 * The longest time that one turn of the event loop took while the work ran, as {@link watchTurns} measures it. It runs
 * again until its turns are short, eight times at most, and the least counts: a collection of garbage may fall into a
 * round, and beside others the same work takes more processor time. A bound that does not hold is exceeded each time.
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
    // The turn in which it ended counts too.
    await new Promise((resolve) => setImmediate(resolve))
    return { result, longest: turns.longest() }
  } finally {
    turns.stop()
  }
}

/** Milliseconds of this thread's processor time of an action: the least of five, without pauses of the machine. */
export function processorTimeOf(action: () => unknown): number {
  const times = Array.from({ length: 5 }, () => {
    const started = process.threadCpuUsage()
    action()
    const { user, system } = process.threadCpuUsage(started)
    return (user + system) / 1000
  })
  return Math.min(...times)
}
